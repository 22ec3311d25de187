#include "pkg/ray/batchscheduler/scheduler_plugins/scheduler_plugins.h"

#include "pkg/apis/meta/object_meta.h"
#include "pkg/ray/batchscheduler/pod_edit.h"
#include "pkg/ray/builders/owner.h"
#include "pkg/ray/builders/resources.h"

namespace hekla::ray::batchscheduler {

using apis::json::Value;
using apis::ray::RayCluster;

namespace {

// Quirk: the label counts with any value, `false` too.
bool IsGang(const RayCluster& cluster) {
  return cluster.metadata.labels.Has(apis::ray::kGangSchedulingLabel);
}

}  // namespace

absl::StatusOr<std::optional<Value>> PluginsScheduler::BuildPodGroup(
    const RayCluster& cluster) const {
  if (!IsGang(cluster)) return std::nullopt;
  Value owner = builders::ControllerReference(cluster);
  owner.Remove("controller");
  owner.Remove("blockOwnerDeletion");
  Value spec = Value::MakeObject({{"minMember", 1 + builders::DesiredWorkerReplicas(cluster)}});
  spec.Set("minResources", apis::meta::EncodeResources(builders::DesiredResources(cluster)));
  return Value::MakeObject(
      {{"apiVersion", "scheduling.x-k8s.io/v1alpha1"},
       {"kind", "PodGroup"},
       {"metadata", Value::MakeObject({{"name", cluster.name()},
                                       {"namespace", cluster.ns()},
                                       {"ownerReferences", Value::MakeArray({owner})}})},
       {"spec", spec}});
}

// Quirk: a PodGroup keeps the size it was made with.
std::optional<Value> PluginsScheduler::UpdatedPodGroup(const Value&, const Value&) const {
  return std::nullopt;
}

void PluginsScheduler::DecoratePod(const RayCluster& cluster, absl::string_view, Value& pod) const {
  if (IsGang(cluster)) SetPodLabel("scheduling.x-k8s.io/pod-group", cluster.name(), pod);
  SetSchedulerName("scheduler-plugins-scheduler", pod);
}

}  // namespace hekla::ray::batchscheduler
