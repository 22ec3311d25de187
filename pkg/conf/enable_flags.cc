#include "pkg/conf/enable_flags.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace hekla::conf {
namespace {

using framework::EnableFlags;

struct Row {
  absl::string_view key;
  bool EnableFlags::*flag;
};

constexpr Row kRows[] = {
    {"enableJobOrder", &EnableFlags::job_order},
    {"enableHierarchy", &EnableFlags::hierarchy},
    {"enableJobReady", &EnableFlags::job_ready},
    {"enableJobPipelined", &EnableFlags::job_pipelined},
    {"enableTaskOrder", &EnableFlags::task_order},
    {"enablePreemptable", &EnableFlags::preemptable},
    {"enableReclaimable", &EnableFlags::reclaimable},
    {"enablePreemptive", &EnableFlags::preemptive},
    {"enableQueueOrder", &EnableFlags::queue_order},
    {"enabledClusterOrder", &EnableFlags::cluster_order},
    {"enablePredicate", &EnableFlags::predicate},
    {"enableBestNode", &EnableFlags::best_node},
    {"enableNodeOrder", &EnableFlags::node_order},
    {"enableReservedNodes", &EnableFlags::reserved_nodes},
    {"enableJobEnqueued", &EnableFlags::job_enqueued},
    {"enabledVictim", &EnableFlags::victim},
    {"enableJobStarving", &EnableFlags::job_starving},
    {"enabledOverused", &EnableFlags::overused},
    {"enabledAllocatable", &EnableFlags::allocatable},
    {"enabledHyperNodeOrder", &EnableFlags::hyper_node_order},
    {"enabledSubJobReady", &EnableFlags::sub_job_ready},
    {"enabledSubJobPipelined", &EnableFlags::sub_job_pipelined},
    {"enabledSubJobOrder", &EnableFlags::sub_job_order},
    {"enabledHyperNodeGradient", &EnableFlags::hyper_node_gradient},
    {"enableTargetJob", &EnableFlags::target_job},
};

}  // namespace

bool EnableFlags::*FindEnableFlag(absl::string_view key) {
  for (const Row& row : kRows) {
    if (row.key == key) return row.flag;
  }
  return nullptr;
}

std::string RightlyPrefixed(absl::string_view key) {
  if (!absl::ConsumePrefix(&key, "enable")) return "";
  const std::string other =
      absl::ConsumePrefix(&key, "d") ? absl::StrCat("enable", key) : absl::StrCat("enabled", key);
  return FindEnableFlag(other) == nullptr ? "" : other;
}

}  // namespace hekla::conf
