#include "pkg/ray/batchscheduler/pod_edit.h"

namespace hekla::ray::batchscheduler {

using apis::json::Value;

void SetPodLabel(absl::string_view key, absl::string_view value, Value& pod) {
  pod.Ensure({"metadata", "labels"}).Set(key, value);
}

void SetPodAnnotation(absl::string_view key, absl::string_view value, Value& pod) {
  pod.Ensure({"metadata", "annotations"}).Set(key, value);
}

void SetSchedulerName(absl::string_view name, Value& pod) {
  pod.Ensure({"spec"}).Set("schedulerName", name);
}

void CopyLabel(const apis::ray::RayCluster& cluster, absl::string_view key, absl::string_view to,
               Value& pod) {
  const absl::string_view value = cluster.metadata.labels.Get(key);
  if (!value.empty()) SetPodLabel(to, value, pod);
}

}  // namespace hekla::ray::batchscheduler
