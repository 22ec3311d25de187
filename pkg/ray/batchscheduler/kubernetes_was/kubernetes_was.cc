#include "pkg/ray/batchscheduler/kubernetes_was/kubernetes_was.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "pkg/ray/batchscheduler/pod_edit.h"
#include "pkg/ray/builders/json_edit.h"
#include "pkg/ray/builders/owner.h"
#include "pkg/ray/builders/resources.h"

namespace hekla::ray::batchscheduler {

using apis::json::Value;
using apis::ray::RayCluster;

namespace {

constexpr absl::string_view kApiVersion = "scheduling.k8s.io/v1alpha2";
constexpr absl::string_view kTemplate = "cluster";

int64_t GangSize(const RayCluster& cluster) { return 1 + builders::DesiredWorkerReplicas(cluster); }

Value Policy(const RayCluster& cluster) {
  return Value::MakeObject(
      {{"gang", Value::MakeObject({{"minCount", static_cast<long>(GangSize(cluster))}})}});
}

bool HasSize(const Value& policy, const RayCluster& cluster) {
  const Value& size = policy.At("gang").At("minCount");
  return size.is_int() && size.as_int() == GangSize(cluster);
}

Value Child(const RayCluster& cluster, absl::string_view kind, const std::string& name,
            Value spec) {
  Value object = builders::NewObject(kApiVersion, kind, name, cluster.ns());
  object["metadata"]["labels"].Set(apis::ray::kClusterLabel, cluster.name());
  builders::SetController(cluster, object);
  object.Set("spec", std::move(spec));
  return object;
}

}  // namespace

bool WantsWorkload(const RayCluster& cluster) {
  return absl::AsciiStrToLower(cluster.metadata.labels.Get(apis::ray::kGangSchedulingLabel)) ==
             "true" &&
         !cluster.spec.enable_in_tree_autoscaling;
}

std::string WorkloadName(const RayCluster& cluster) { return cluster.name(); }
std::string WorkloadPodGroupName(const RayCluster& cluster) {
  return absl::StrCat(cluster.name(), "-", kTemplate);
}

Value BuildWorkload(const RayCluster& cluster) {
  Value spec = Value::MakeObject();
  spec.Set("controllerRef", Value::MakeObject({{"apiGroup", apis::ray::kGroup},
                                               {"kind", apis::ray::kRayClusterKind},
                                               {"name", cluster.name()}}));
  spec["podGroupTemplates"].Append(
      Value::MakeObject({{"name", kTemplate}, {"schedulingPolicy", Policy(cluster)}}));
  return Child(cluster, "Workload", WorkloadName(cluster), std::move(spec));
}

Value BuildWorkloadPodGroup(const RayCluster& cluster) {
  Value spec = Value::MakeObject();
  spec["podGroupTemplateRef"].Set("workload",
                                  Value::MakeObject({{"workloadName", WorkloadName(cluster)},
                                                     {"podGroupTemplateName", kTemplate}}));
  spec.Set("schedulingPolicy", Policy(cluster));
  return Child(cluster, "PodGroup", WorkloadPodGroupName(cluster), std::move(spec));
}

bool WorkloadFits(const Value& workload, const RayCluster& cluster) {
  const Value& templates = workload.At("spec").At("podGroupTemplates");
  if (!templates.is_array() || templates.size() != 1) return false;
  const Value& only = templates.as_array().front();
  return only.GetString("name") == kTemplate && HasSize(only.At("schedulingPolicy"), cluster);
}

bool WorkloadPodGroupFits(const Value& group, const RayCluster& cluster) {
  return HasSize(group.At("spec").At("schedulingPolicy"), cluster);
}

absl::StatusOr<std::optional<Value>> KubernetesWasScheduler::BuildPodGroup(
    const RayCluster&) const {
  return std::nullopt;
}

std::optional<Value> KubernetesWasScheduler::UpdatedPodGroup(const Value&, const Value&) const {
  return std::nullopt;
}

void KubernetesWasScheduler::DecoratePod(const RayCluster& cluster, absl::string_view,
                                         Value& pod) const {
  if (!WantsWorkload(cluster)) return;
  SetSchedulerName("default-scheduler", pod);
  pod.Ensure({"spec", "schedulingGroup"}).Set("podGroupName", WorkloadPodGroupName(cluster));
}

}  // namespace hekla::ray::batchscheduler
