#include "pkg/ray/controllers/common/kinds.h"

#include <algorithm>
#include <functional>
#include <span>

#include "absl/strings/str_cat.h"
#include "pkg/apis/ray/well_known.h"

namespace hekla::ray::controllers {
namespace {

using apis::json::Member;
using apis::json::Value;
using controller::Cache;

// What is kept of the metadata of objects that are only looked at.
constexpr absl::string_view kReadMetadata[] = {"name",
                                               "namespace",
                                               "uid",
                                               "resourceVersion",
                                               "creationTimestamp",
                                               "deletionTimestamp",
                                               "labels",
                                               "annotations",
                                               "finalizers",
                                               "ownerReferences",
                                               "generation"};

// Drops all members but these.
void KeepOnly(Value& object, std::span<const absl::string_view> keys) {
  if (!object.is_object()) return;
  Value::Object& members = object.as_object();
  members.erase(std::remove_if(members.begin(), members.end(),
                               [keys](const Member& m) {
                                 return std::find(keys.begin(), keys.end(), m.key) == keys.end();
                               }),
                members.end());
}
void KeepOnly(Value* object, std::initializer_list<absl::string_view> keys) {
  if (object != nullptr) KeepOnly(*object, std::span(keys.begin(), keys.size()));
}

// Drops the items that `wanted` refuses.
void KeepItems(Value* list, const std::function<bool(Value&)>& wanted) {
  if (list == nullptr || !list->is_array()) return;
  Value::Array& items = list->as_array();
  items.erase(std::remove_if(items.begin(), items.end(), [&](Value& v) { return !wanted(v); }),
              items.end());
}

// Of objects that are not written back: without what only others read, and with the owner that is
// the controller alone.
void TrimMetadata(Value& object) {
  Value* const metadata = object.Find("metadata");
  if (metadata == nullptr) return;
  KeepOnly(*metadata, kReadMetadata);
  KeepItems(metadata->Find("ownerReferences"),
            [](Value& owner) { return owner.GetBool("controller"); });
}

// For kinds whose being there is all that counts.
void TrimToMetadata(Value& object) {
  KeepOnly(&object, {"apiVersion", "kind", "metadata"});
  TrimMetadata(object);
  if (Value* const metadata = object.Find("metadata")) metadata->Remove("annotations");
}

// The controllers look at containers that wait or have ended.
bool TrimContainerStatus(Value& status) {
  KeepOnly(&status, {"name", "state"});
  KeepOnly(status.Find("state"), {"waiting", "terminated"});
  return status.At("state").size() > 0;
}

// Keeps of a pod what the controllers look at: a cluster of ten thousand pods must not hold their
// environments.
void TrimPod(Value& pod) {
  TrimMetadata(pod);
  KeepOnly(pod.FindPath({"metadata", "annotations"}),
           {apis::ray::kRecreateHashAnnotation, apis::ray::kOperatorVersionAnnotation});
  KeepOnly(pod.Find("spec"), {"restartPolicy", "containers"});
  if (Value* const containers = pod.FindPath({"spec", "containers"});
      containers != nullptr && containers->size() > 0) {
    Value& ray = containers->as_array().front();
    *containers = Value::MakeArray({Value::MakeObject({{"name", ray.At("name")}})});
  }
  Value* const status = pod.Find("status");
  KeepOnly(status, {"phase", "podIP", "conditions", "containerStatuses"});
  if (status == nullptr) return;
  KeepItems(status->Find("conditions"), [](Value& condition) {
    KeepOnly(&condition, {"type", "status", "reason", "message"});
    return condition.GetString("type") == "Ready";
  });
  KeepItems(status->Find("containerStatuses"), TrimContainerStatus);
}

void TrimService(Value& service) {
  TrimMetadata(service);
  KeepOnly(&service, {"apiVersion", "kind", "metadata", "spec"});
  KeepOnly(service.Find("spec"), {"clusterIP", "ports", "type"});
}

void TrimJob(Value& job) {
  TrimMetadata(job);
  KeepOnly(&job, {"apiVersion", "kind", "metadata", "status"});
  KeepOnly(job.Find("status"), {"conditions"});
}

// What is secret is not kept: only which keys there are. `kubectl apply` leaves the data in an
// annotation, too.
void TrimSecret(Value& secret) {
  TrimMetadata(secret);
  KeepOnly(&secret, {"apiVersion", "kind", "metadata", "data"});
  if (Value* const metadata = secret.Find("metadata");
      metadata != nullptr && metadata->is_object()) {
    metadata->Remove("annotations");
  }
  Value* const data = secret.Find("data");
  if (data == nullptr) return;
  if (!data->is_object()) {
    *data = Value();
    return;
  }
  for (Member& m : data->as_object()) m.value = Value("");
}

Cache::Kind Plain(const kube::Resource& resource) {
  Cache::Kind kind;
  kind.resource = resource;
  return kind;
}

Cache::Kind ByCluster(const kube::Resource& resource) {
  Cache::Kind kind = Plain(resource);
  kind.index_labels = {std::string(apis::ray::kClusterLabel)};
  return kind;
}

}  // namespace

// A constant per kind: group, version, plural, kind.
#define HEKLA_RAY_KIND(function, ...)                  \
  const kube::Resource& function() {                   \
    static const kube::Resource resource{__VA_ARGS__}; \
    return resource;                                   \
  }
HEKLA_RAY_KIND(RayClusters, "ray.io", "v1", "rayclusters", "RayCluster")
HEKLA_RAY_KIND(Pods, "", "v1", "pods", "Pod")
HEKLA_RAY_KIND(Services, "", "v1", "services", "Service")
HEKLA_RAY_KIND(Secrets, "", "v1", "secrets", "Secret")
HEKLA_RAY_KIND(ServiceAccounts, "", "v1", "serviceaccounts", "ServiceAccount")
HEKLA_RAY_KIND(Claims, "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
HEKLA_RAY_KIND(Roles, "rbac.authorization.k8s.io", "v1", "roles", "Role")
HEKLA_RAY_KIND(RoleBindings, "rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding")
HEKLA_RAY_KIND(Ingresses, "networking.k8s.io", "v1", "ingresses", "Ingress")
HEKLA_RAY_KIND(Routes, "route.openshift.io", "v1", "routes", "Route")
HEKLA_RAY_KIND(Jobs, "batch", "v1", "jobs", "Job")
HEKLA_RAY_KIND(NetworkPolicies, "networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
HEKLA_RAY_KIND(Issuers, "cert-manager.io", "v1", "issuers", "Issuer")
HEKLA_RAY_KIND(Certificates, "cert-manager.io", "v1", "certificates", "Certificate")
HEKLA_RAY_KIND(VolcanoPodGroups, "scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup")
HEKLA_RAY_KIND(SchedulerPluginsPodGroups, "scheduling.x-k8s.io", "v1alpha1", "podgroups",
               "PodGroup")
HEKLA_RAY_KIND(Workloads, "scheduling.k8s.io", "v1alpha2", "workloads", "Workload")
HEKLA_RAY_KIND(WorkloadPodGroups, "scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup")
#undef HEKLA_RAY_KIND

const kube::Resource* PodGroupsOf(absl::string_view batch_scheduler) {
  if (batch_scheduler == "volcano") return &VolcanoPodGroups();
  if (batch_scheduler == "scheduler-plugins") return &SchedulerPluginsPodGroups();
  return nullptr;
}

std::vector<Cache::Kind> CacheKinds(const CacheNeeds& needs) {
  std::vector<Cache::Kind> kinds = {Plain(RayClusters())};
  Cache::Kind pods = ByCluster(Pods());
  pods.label_selector =
      absl::StrCat(apis::ray::kNodeTypeLabel, " in (", apis::ray::kHeadNode, ",",
                   apis::ray::kWorkerNode, ",", apis::ray::kRedisCleanupNode, ")");
  pods.transform = TrimPod;
  kinds.push_back(std::move(pods));
  Cache::Kind services = ByCluster(Services());
  services.index_labels.emplace_back(apis::ray::kHeadlessServiceLabel);
  services.transform = TrimService;
  kinds.push_back(std::move(services));
  Cache::Kind secrets = Plain(Secrets());
  secrets.transform = TrimSecret;
  kinds.push_back(std::move(secrets));
  Cache::Kind jobs = ByCluster(Jobs());
  jobs.label_selector = absl::StrCat(apis::ray::kCreatedByLabel, "=", apis::ray::kOperatorName);
  jobs.transform = TrimJob;
  kinds.push_back(std::move(jobs));
  for (const kube::Resource* resource : {&ServiceAccounts(), &Roles(), &RoleBindings()}) {
    kinds.push_back(Plain(*resource));
    kinds.back().transform = TrimToMetadata;
  }
  for (const kube::Resource* resource : {&Claims(), &Ingresses()}) {
    kinds.push_back(Plain(*resource));
  }
  if (needs.routes) {
    kinds.push_back(ByCluster(Routes()));
    kinds.back().transform = TrimToMetadata;
  }
  if (needs.network_policies) kinds.push_back(ByCluster(NetworkPolicies()));
  if (needs.mtls) {
    kinds.push_back(Plain(Issuers()));
    kinds.push_back(Plain(Certificates()));
  }
  if (const kube::Resource* groups = PodGroupsOf(needs.batch_scheduler)) {
    kinds.push_back(Plain(*groups));
  }
  if (needs.workloads) {
    kinds.push_back(Plain(Workloads()));
    kinds.push_back(Plain(WorkloadPodGroups()));
  }
  return kinds;
}

}  // namespace hekla::ray::controllers
