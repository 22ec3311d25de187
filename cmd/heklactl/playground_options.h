#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/util/logging.h"

namespace hekla::cmd::heklactl {

struct PlaygroundOptions {
  int nodes = 20;
  std::string node_cpu = "32";
  std::string node_memory = "128Gi";
  int node_pods = 110;
  int gpus = 8;
  int port = 0;            // 0: any free one
  int debug_port = 11252;  // of the scheduler's explanations; any free one where it is taken
  std::string token;       // "": everyone on this machine is let in
  std::string data_dir;    // where objects are kept for the next start; "": nowhere
  absl::Duration data_sync = absl::Seconds(1);
  std::string kubeconfig;  // where to write it; "": a file of its own in the temporary folder
  std::string scheduler_conf;
  absl::Duration schedule_period = absl::Seconds(1);
  bool no_scheduler = false;  // only the API server and the nodes
  bool ray = false;           // run the Ray operator too
  int reconcile_concurrency = 1;
  std::string batch_scheduler;  // of the Ray operator
  std::string feature_gates;    // of the Ray operator
  std::string metrics_addr;     // of the Ray operator; "": not served
  int seed = 1;
  util::LogOptions log;
  bool help = false;
};

// Errors: kInvalidArgument.
absl::StatusOr<PlaygroundOptions> ParsePlaygroundOptions(const std::vector<std::string>& arguments);

std::string PlaygroundUsage();

}  // namespace hekla::cmd::heklactl
