#pragma once

#include "pkg/ray/batchscheduler/batch_scheduler.h"

namespace hekla::ray::batchscheduler {

// Pods go to the default scheduler: nothing is added. Source: spec ray-cluster 11.1.
class NoScheduler : public BatchScheduler {
 public:
  static constexpr absl::string_view kName = "";
  absl::string_view name() const override { return kName; }
  absl::StatusOr<std::optional<apis::json::Value>> BuildPodGroup(
      const apis::ray::RayCluster& cluster) const override;
  std::optional<apis::json::Value> UpdatedPodGroup(const apis::json::Value& live,
                                                   const apis::json::Value& wanted) const override;
  void DecoratePod(const apis::ray::RayCluster& cluster, absl::string_view group,
                   apis::json::Value& pod) const override;
};

}  // namespace hekla::ray::batchscheduler
