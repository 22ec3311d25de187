#include "pkg/ray/controllers/common/kinds.h"

#include "absl/strings/str_cat.h"
#include "pkg/apis/ray/well_known.h"

namespace hekla::ray::controllers {
namespace {

using apis::json::Member;
using apis::json::Value;
using controller::Cache;

// Keeps of a pod what the controllers look at: a cluster of ten thousand pods must not hold their
// environments.
void TrimPod(Value& pod) {
  Value spec = Value::MakeObject();
  const Value& full = pod.At("spec");
  for (const char* key : {"restartPolicy", "nodeName"}) {
    if (const Value* value = full.Find(key)) spec.Set(key, *value);
  }
  if (full.At("containers").size() > 0) {
    const Value& ray = full.At("containers").as_array().front();
    spec.Set("containers", Value::MakeArray({Value::MakeObject({{"name", ray.At("name")}})}));
  }
  Value status = Value::MakeObject();
  for (const char* key : {"phase", "podIP", "conditions", "containerStatuses"}) {
    if (const Value* value = pod.At("status").Find(key)) status.Set(key, *value);
  }
  pod.Set("spec", std::move(spec));
  pod.Set("status", std::move(status));
}

// What is secret is not kept: only which keys there are.
void TrimSecret(Value& secret) {
  Value* data = secret.Find("data");
  if (data == nullptr || !data->is_object()) return;
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
  kinds.push_back(std::move(services));
  Cache::Kind secrets = Plain(Secrets());
  secrets.transform = TrimSecret;
  kinds.push_back(std::move(secrets));
  Cache::Kind jobs = ByCluster(Jobs());
  jobs.label_selector = absl::StrCat(apis::ray::kCreatedByLabel, "=", apis::ray::kOperatorName);
  kinds.push_back(std::move(jobs));
  for (const kube::Resource* resource :
       {&ServiceAccounts(), &Claims(), &Roles(), &RoleBindings(), &Ingresses()}) {
    kinds.push_back(Plain(*resource));
  }
  if (needs.routes) kinds.push_back(ByCluster(Routes()));
  if (needs.network_policies) kinds.push_back(ByCluster(NetworkPolicies()));
  if (needs.mtls) {
    kinds.push_back(Plain(Issuers()));
    kinds.push_back(Plain(Certificates()));
  }
  if (const kube::Resource* groups = PodGroupsOf(needs.batch_scheduler)) {
    kinds.push_back(Plain(*groups));
  }
  return kinds;
}

}  // namespace hekla::ray::controllers
