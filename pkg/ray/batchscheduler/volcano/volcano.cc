#include "pkg/ray/batchscheduler/volcano/volcano.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apis/meta/well_known.h"
#include "pkg/ray/batchscheduler/pod_edit.h"
#include "pkg/ray/builders/owner.h"
#include "pkg/ray/builders/resources.h"

namespace hekla::ray::batchscheduler {

using apis::json::Member;
using apis::json::Value;
using apis::meta::ResourceList;
using apis::ray::RayCluster;

namespace {

constexpr absl::string_view kQueueLabel = "volcano.sh/queue-name";
constexpr absl::string_view kTopologyModeLabel = "volcano.sh/network-topology-mode";
constexpr absl::string_view kHighestTierLabel = "volcano.sh/network-topology-highest-tier-allowed";

bool MadeByRayJob(const RayCluster& cluster) {
  return apis::ray::CreatorKind(cluster) == apis::ray::kRayJobKind;
}

// The pods of a RayJob's cluster join the PodGroup of the RayJob.
std::string PodGroupName(const RayCluster& cluster) {
  const absl::string_view job = MadeByRayJob(cluster)
                                    ? cluster.metadata.labels.Get(apis::ray::kOriginNameLabel)
                                    : absl::string_view();
  return absl::StrCat("ray-", job.empty() ? absl::string_view(cluster.name()) : job, "-pg");
}

absl::StatusOr<Value> Topology(const RayCluster& cluster) {
  const apis::meta::StringMap& labels = cluster.metadata.labels;
  Value topology = Value::MakeObject({{"mode", labels.Get(kTopologyModeLabel)}});
  if (const std::string* tier = labels.Find(kHighestTierLabel)) {
    int32_t number = 0;
    if (!absl::SimpleAtoi(*tier, &number)) {
      return absl::InvalidArgumentError(absl::StrCat("label ", kHighestTierLabel, " of RayCluster ",
                                                     cluster.ns(), "/", cluster.name(),
                                                     " is no integer: ", *tier));
    }
    topology.Set("highestTierAllowed", number);
  }
  return topology;
}

ResourceList Amounts(const Value& object) {
  ResourceList out;
  if (!object.is_object()) return out;
  for (const Member& m : object.as_object()) {
    const auto amount = apis::meta::Quantity::Parse(
        m.value.is_string() ? m.value.as_string() : apis::json::Dump(m.value));
    if (amount.ok()) out.Set(m.key, *amount);
  }
  return out;
}

}  // namespace

absl::StatusOr<std::optional<Value>> VolcanoScheduler::BuildPodGroup(
    const RayCluster& cluster) const {
  if (MadeByRayJob(cluster)) return std::nullopt;
  const bool autoscaling = cluster.spec.enable_in_tree_autoscaling;
  const apis::meta::StringMap& labels = cluster.metadata.labels;
  Value group = Value::MakeObject({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                                   {"kind", "PodGroup"},
                                   {"metadata", Value::MakeObject({{"name", PodGroupName(cluster)},
                                                                   {"namespace", cluster.ns()}})}});
  if (!cluster.metadata.annotations.empty()) {
    group["metadata"].Set("annotations", apis::meta::EncodeStringMap(cluster.metadata.annotations));
  }
  builders::SetController(cluster, group);
  Value& spec = group.Ensure({"spec"});
  spec.Set("minMember", 1 + (autoscaling ? builders::MinWorkerReplicas(cluster)
                                         : builders::DesiredWorkerReplicas(cluster)));
  spec.Set("minResources",
           apis::meta::EncodeResources(autoscaling ? builders::MinResources(cluster)
                                                   : builders::DesiredResources(cluster)));
  if (labels.Has(kQueueLabel)) spec.Set("queue", labels.Get(kQueueLabel));
  if (labels.Has(apis::ray::kPriorityClassLabel)) {
    spec.Set("priorityClassName", labels.Get(apis::ray::kPriorityClassLabel));
  }
  if (labels.Has(kTopologyModeLabel)) {
    absl::StatusOr<Value> topology = Topology(cluster);
    if (!topology.ok()) return topology.status();
    spec.Set("networkTopology", *std::move(topology));
  }
  group.Set("status", Value::MakeObject({{"phase", "Pending"}}));
  return group;
}

std::optional<Value> VolcanoScheduler::UpdatedPodGroup(const Value& live,
                                                       const Value& wanted) const {
  const Value& have = live.At("spec");
  const Value& want = wanted.At("spec");
  if (have.GetInt("minMember") == want.GetInt("minMember") && have.At("minResources").is_object() &&
      Amounts(have.At("minResources")) == Amounts(want.At("minResources"))) {
    return std::nullopt;
  }
  Value updated = live;
  updated["spec"].Set("minMember", want.At("minMember"));
  updated["spec"].Set("minResources", want.At("minResources"));
  return updated;
}

void VolcanoScheduler::DecoratePod(const RayCluster& cluster, absl::string_view group,
                                   Value& pod) const {
  CopyLabel(cluster, kQueueLabel, kQueueLabel, pod);
  CopyLabel(cluster, apis::ray::kPriorityClassLabel, apis::ray::kPriorityClassLabel, pod);
  SetPodAnnotation(apis::meta::kGroupNameAnnotation, PodGroupName(cluster), pod);
  SetPodAnnotation(apis::meta::kTaskSpecKey, group, pod);
  SetSchedulerName(kName, pod);
}

}  // namespace hekla::ray::batchscheduler
