#pragma once

#include <vector>

#include "absl/time/time.h"
#include "pkg/sim/auditor.h"
#include "pkg/sim/cluster_mirror.h"

namespace hekla::sim {

// What should have been bound by now and is not. To be asked when nothing has gone wrong for a
// while. Judged greedily, and only where no share of a queue can be in the way: everything asked
// for fits into the cluster.
std::vector<Violation> LeftPending(const ClusterMirror& mirror, absl::Time now);

// PodGroups whose status does not count their pods as they are. To be asked then, too.
std::vector<Violation> StaleStatuses(const ClusterMirror& mirror, absl::Time now);

}  // namespace hekla::sim
