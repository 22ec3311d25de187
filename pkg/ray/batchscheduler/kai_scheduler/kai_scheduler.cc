#include "pkg/ray/batchscheduler/kai_scheduler/kai_scheduler.h"

#include "glog/logging.h"
#include "pkg/ray/batchscheduler/pod_edit.h"

namespace hekla::ray::batchscheduler {

using apis::json::Value;
using apis::ray::RayCluster;

absl::StatusOr<std::optional<Value>> KaiScheduler::BuildPodGroup(const RayCluster&) const {
  return std::nullopt;
}

std::optional<Value> KaiScheduler::UpdatedPodGroup(const Value&, const Value&) const {
  return std::nullopt;
}

void KaiScheduler::DecoratePod(const RayCluster& cluster, absl::string_view, Value& pod) const {
  constexpr absl::string_view kQueueLabel = "kai.scheduler/queue";
  SetSchedulerName(kName, pod);
  if (cluster.metadata.labels.Get(kQueueLabel).empty()) {
    LOG(WARNING) << "RayCluster without queue, its pods stay pending key=" << cluster.metadata.Key()
                 << " label=" << kQueueLabel;
  }
  CopyLabel(cluster, kQueueLabel, kQueueLabel, pod);
}

}  // namespace hekla::ray::batchscheduler
