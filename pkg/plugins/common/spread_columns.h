#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pkg/plugins/common/pod_counts.h"

namespace hekla::plugins {

// One topology spread constraint against counts.
struct SpreadColumn {
  ColumnId column;      // matching pods by domain, over the nodes that are eligible
  TopologyId topology;  // of the column, or of the label where each node counts for itself
  int32_t max_skew = 1;
  int32_t min_domains = 1;
  bool selects_itself = false;
};

// Pods of the task's namespace that the constraint counts: not being deleted; an empty selector
// counts nobody (and yet selects the pod itself). Source: spec scheduler-node-plugins 2.8.
PodQuery SpreadQuery(const model::Selector& selector, model::Symbol owner_namespace);

// True if a pod with these labels matches the selector.
bool SelectsItself(const model::Selector& selector, model::TaskId task,
                   const model::Cluster& cluster);

}  // namespace hekla::plugins
