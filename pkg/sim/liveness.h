#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "pkg/sim/auditor.h"
#include "pkg/sim/cluster_mirror.h"

namespace hekla::sim {

// How the configuration divides the cluster among queues.
enum class Sharing : uint8_t {
  kByWeight,    // proportion: at least the part that follows from the weights
  kByCapacity,  // capacity: up to the capability
  kAsTree,      // capacity with enableHierarchy: up to the capability of every queue on the path
};

// What should have been bound by now and is not. To be asked when nothing has gone wrong for a
// while. Judged where no queue's share can be in the way:
//   - everything asked for fits into the cluster, and these pods below the capabilities; or
//   - by the sums of this mirror a gang's queue has room for as many members as it lacks, each as
//     large as the largest, and so have the nodes.
std::vector<Violation> LeftPending(const ClusterMirror& mirror, Sharing sharing, absl::Time now);

// PodGroups whose status does not count their pods as they are or has a phase that does not follow
// from them, and queues whose status does not sum up what runs in them and below. To be asked
// then, too. Source: spec scheduler-core 4.5, 4.7.
std::vector<Violation> StaleStatuses(const ClusterMirror& mirror, absl::Time now);

}  // namespace hekla::sim
