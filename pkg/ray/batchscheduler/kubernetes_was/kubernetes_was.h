#pragma once

#include <string>

#include "pkg/ray/batchscheduler/batch_scheduler.h"

namespace hekla::ray::batchscheduler {

// Workload-aware scheduling of Kubernetes itself (gate KubernetesWAS): a Workload and a PodGroup of
// scheduling.k8s.io/v1alpha2 per cluster. Both cannot be changed, so that the controller replaces
// them; it keeps them itself (PlanWorkload), not through BuildPodGroup.
// Source: spec ray-cluster 11.6.
class KubernetesWasScheduler : public BatchScheduler {
 public:
  // Of the plug-in; no value of --batch-scheduler.
  static constexpr absl::string_view kName = "kubernetes-was-v1alpha2";
  absl::string_view name() const override { return kName; }
  absl::StatusOr<std::optional<apis::json::Value>> BuildPodGroup(
      const apis::ray::RayCluster& cluster) const override;
  std::optional<apis::json::Value> UpdatedPodGroup(const apis::json::Value& live,
                                                   const apis::json::Value& wanted) const override;
  void DecoratePod(const apis::ray::RayCluster& cluster, absl::string_view group,
                   apis::json::Value& pod) const override;
};

inline constexpr absl::string_view kPodGroupProtectionFinalizer =
    "scheduling.k8s.io/podgroup-protection";

// Clusters whose gang label says `true`, in any case, and that do not scale by themselves.
bool WantsWorkload(const apis::ray::RayCluster& cluster);

std::string WorkloadName(const apis::ray::RayCluster& cluster);          // `<c>`
std::string WorkloadPodGroupName(const apis::ray::RayCluster& cluster);  // `<c>-cluster`
apis::json::Value BuildWorkload(const apis::ray::RayCluster& cluster);
apis::json::Value BuildWorkloadPodGroup(const apis::ray::RayCluster& cluster);

// Whether a live object may stay: the one template of ours, and the size the cluster has now.
bool WorkloadFits(const apis::json::Value& workload, const apis::ray::RayCluster& cluster);
bool WorkloadPodGroupFits(const apis::json::Value& group, const apis::ray::RayCluster& cluster);

}  // namespace hekla::ray::batchscheduler
