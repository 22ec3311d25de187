#pragma once

#include <string>
#include <vector>

#include "pkg/framework/arguments.h"

namespace hekla::framework {

// The enable flags of one plugin entry. YAML keys keep upstream's irregular prefixes (pkg/conf maps
// them). Source: spec scheduler-core 2.2.
struct EnableFlags {
  bool job_order = true;
  bool hierarchy = false;
  bool job_ready = true;
  bool job_pipelined = true;
  bool task_order = true;
  bool preemptable = true;
  bool reclaimable = true;
  bool preemptive = true;
  bool queue_order = true;
  bool cluster_order = false;
  bool predicate = true;
  bool best_node = true;
  bool node_order = true;
  bool reserved_nodes = true;
  bool job_enqueued = true;
  bool victim = true;
  bool job_starving = true;
  bool overused = true;
  bool allocatable = true;
  bool hyper_node_order = true;
  bool sub_job_ready = true;
  bool sub_job_pipelined = true;
  bool sub_job_order = true;
  bool hyper_node_gradient = true;
  bool target_job = true;
};

struct PluginOption {
  std::string name;
  EnableFlags enabled;
  Arguments arguments;
};

using Tier = std::vector<PluginOption>;

}  // namespace hekla::framework
