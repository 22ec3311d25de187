#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "glog/logging.h"
#include "pkg/apiserver/registry/registry.h"

namespace hekla::apiserver {
namespace {

using storage::SelectableField;
using validation::NameRule;

enum Flags : uint32_t {
  kCluster = 1 << 0,         // not namespaced
  kStatus = 1 << 1,          // has a status sub-resource
  kScale = 1 << 2,           // has a scale sub-resource
  kGeneration = 1 << 3,      // counts changes of its spec
  kNeedsVersion = 1 << 4,    // an update must name the version it read
  kCreateOnUpdate = 1 << 5,  // PUT creates
  kReturnsDeleted = 1 << 6,  // DELETE answers with the object
  kDnsLabelName = 1 << 7,    // namespaces
  kDns1035Name = 1 << 8,     // services
  kPathName = 1 << 9,        // RBAC kinds
  kGraceful = 1 << 10,       // pods
  kAction = 1 << 11,         // only POST, nothing is stored
};

struct Row {
  const char* group;
  const char* version;
  const char* plural;
  const char* kind;
  uint32_t flags;
  const char* short_names;
  const char* categories;
};

// In the order in which discovery lists groups and resources.
constexpr Row kRows[] = {
    {"", "v1", "bindings", "Binding", kAction, "", ""},
    {"", "v1", "configmaps", "ConfigMap", 0, "cm", ""},
    {"", "v1", "endpoints", "Endpoints", kCreateOnUpdate, "ep", ""},
    {"", "v1", "events", "Event", kCreateOnUpdate, "ev", ""},
    {"", "v1", "limitranges", "LimitRange", 0, "limits", ""},
    {"", "v1", "namespaces", "Namespace", kCluster | kStatus | kDnsLabelName, "ns", ""},
    {"", "v1", "nodes", "Node", kCluster | kStatus, "no", ""},
    {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", kStatus | kReturnsDeleted, "pvc",
     ""},
    {"", "v1", "persistentvolumes", "PersistentVolume", kCluster | kStatus | kReturnsDeleted, "pv",
     ""},
    {"", "v1", "pods", "Pod", kStatus | kGeneration | kReturnsDeleted | kGraceful, "po", "all"},
    {"", "v1", "podtemplates", "PodTemplate", kReturnsDeleted | kGeneration, "", ""},
    {"", "v1", "replicationcontrollers", "ReplicationController", kStatus | kScale | kGeneration,
     "rc", "all"},
    {"", "v1", "resourcequotas", "ResourceQuota", kStatus | kReturnsDeleted, "quota", ""},
    {"", "v1", "secrets", "Secret", 0, "", ""},
    {"", "v1", "serviceaccounts", "ServiceAccount", kReturnsDeleted, "sa", ""},
    {"", "v1", "services", "Service", kStatus | kReturnsDeleted | kDns1035Name, "svc", "all"},
    {"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition",
     kCluster | kStatus | kGeneration | kNeedsVersion, "crd crds", "api-extensions"},
    {"apps", "v1", "controllerrevisions", "ControllerRevision", 0, "", ""},
    {"apps", "v1", "daemonsets", "DaemonSet", kStatus | kGeneration, "ds", "all"},
    {"apps", "v1", "deployments", "Deployment", kStatus | kScale | kGeneration, "deploy", "all"},
    {"apps", "v1", "replicasets", "ReplicaSet", kStatus | kScale | kGeneration, "rs", "all"},
    {"apps", "v1", "statefulsets", "StatefulSet", kStatus | kScale | kGeneration, "sts", "all"},
    {"events.k8s.io", "v1", "events", "Event", kCreateOnUpdate, "ev", ""},
    {"authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview", kCluster | kAction,
     "", ""},
    {"authentication.k8s.io", "v1", "tokenreviews", "TokenReview", kCluster | kAction, "", ""},
    {"authorization.k8s.io", "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview", kAction,
     "", ""},
    {"authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview",
     kCluster | kAction, "", ""},
    {"authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview",
     kCluster | kAction, "", ""},
    {"authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview",
     kCluster | kAction, "", ""},
    {"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", kStatus, "hpa",
     "all"},
    {"batch", "v1", "cronjobs", "CronJob", kStatus | kGeneration, "cj", "all"},
    {"batch", "v1", "jobs", "Job", kStatus | kGeneration, "", "all"},
    {"networking.k8s.io", "v1", "ingressclasses", "IngressClass", kCluster | kGeneration, "", ""},
    {"networking.k8s.io", "v1", "ingresses", "Ingress", kStatus | kGeneration, "ing", ""},
    {"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", kGeneration, "netpol", ""},
    {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget",
     kStatus | kGeneration | kNeedsVersion, "pdb", ""},
    {"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding",
     kCluster | kCreateOnUpdate | kPathName, "", ""},
    {"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole",
     kCluster | kCreateOnUpdate | kPathName, "", ""},
    {"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", kCreateOnUpdate | kPathName,
     "", ""},
    {"rbac.authorization.k8s.io", "v1", "roles", "Role", kCreateOnUpdate | kPathName, "", ""},
    {"storage.k8s.io", "v1", "csidrivers", "CSIDriver", kCluster | kReturnsDeleted | kNeedsVersion,
     "", ""},
    {"storage.k8s.io", "v1", "csinodes", "CSINode", kCluster | kReturnsDeleted | kNeedsVersion, "",
     ""},
    {"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", kNeedsVersion, "", ""},
    {"storage.k8s.io", "v1", "storageclasses", "StorageClass", kCluster | kReturnsDeleted, "sc",
     ""},
    {"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment",
     kCluster | kStatus | kReturnsDeleted | kNeedsVersion, "", ""},
    {"storage.k8s.io", "v1", "volumeattributesclasses", "VolumeAttributesClass",
     kCluster | kReturnsDeleted, "vac", ""},
    {"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", kCluster | kGeneration, "pc",
     ""},
    {"coordination.k8s.io", "v1", "leases", "Lease", kCreateOnUpdate | kNeedsVersion, "", ""},
    {"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", kCluster, "", ""},
    {"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", kGeneration, "", ""},
    {"resource.k8s.io", "v1", "deviceclasses", "DeviceClass", kCluster | kGeneration, "", ""},
    {"resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", kStatus, "", ""},
    {"resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", 0, "", ""},
    {"resource.k8s.io", "v1", "resourceslices", "ResourceSlice", kCluster | kGeneration, "", ""},
};

std::vector<std::string> Words(absl::string_view text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

Subresource Sub(absl::string_view name, absl::string_view group, absl::string_view version,
                absl::string_view kind, absl::string_view verbs) {
  return Subresource{std::string(name), std::string(group), std::string(version), std::string(kind),
                     Words(verbs)};
}

// Sub-resources in alphabetical order, as discovery lists them.
std::vector<Subresource> SubresourcesOf(const Resource& r) {
  std::vector<Subresource> out;
  const bool pods = r.group.empty() && r.plural == "pods";
  if (pods) {
    out.push_back(Sub("binding", "", "v1", "Binding", "create"));
    out.push_back(Sub("eviction", "policy", "v1", "Eviction", "create"));
    out.push_back(Sub("log", "", "v1", "Pod", "get"));
    out.push_back(Sub("resize", "", "v1", "Pod", "get patch update"));
  }
  if (r.plural == "namespaces") out.push_back(Sub("finalize", "", "v1", "Namespace", "update"));
  if (r.has_scale) out.push_back(Sub("scale", "autoscaling", "v1", "Scale", "get patch update"));
  if (r.has_status) {
    out.push_back(Sub("status", r.group, r.version, r.kind, "get patch update"));
  }
  if (r.group.empty() && r.plural == "serviceaccounts") {
    out.push_back(Sub("token", "authentication.k8s.io", "v1", "TokenRequest", "create"));
  }
  return out;
}

SelectableField At(absl::string_view name, absl::string_view fallback = "",
                   absl::string_view path = "") {
  return SelectableField{std::string(name), absl::StrSplit(path.empty() ? name : path, '.'),
                         std::string(fallback)};
}

}  // namespace

std::vector<SelectableField> SelectableFieldsOf(absl::string_view group, absl::string_view plural) {
  if (!group.empty() && group != "batch" && group != "apiextensions.k8s.io") return {};
  if (plural == "pods") {
    return {At("spec.nodeName"),
            At("spec.restartPolicy"),
            At("spec.schedulerName"),
            At("spec.serviceAccountName"),
            At("spec.hostNetwork", "false"),
            At("status.phase"),
            At("status.podIP"),
            At("status.podIPs", "", "status.podIP"),
            At("status.nominatedNodeName")};
  }
  if (plural == "nodes") return {At("spec.unschedulable", "false")};
  if (plural == "namespaces") return {At("status.phase")};
  if (plural == "secrets") return {At("type")};
  if (plural == "services") return {At("spec.clusterIP"), At("spec.type")};
  if (plural == "jobs") return {At("status.successful", "0", "status.succeeded")};
  if (plural == "replicationcontrollers") return {At("status.replicas", "0")};
  if (plural == "events") {
    return {At("involvedObject.kind"),
            At("involvedObject.namespace"),
            At("involvedObject.name"),
            At("involvedObject.uid"),
            At("involvedObject.apiVersion"),
            At("involvedObject.resourceVersion"),
            At("involvedObject.fieldPath"),
            At("reason"),
            At("reportingComponent"),
            At("source", "", "source.component"),
            At("type")};
  }
  return {};
}

std::vector<std::shared_ptr<Resource>> BuiltinResources() {
  std::vector<std::shared_ptr<Resource>> out;
  for (const Row& row : kRows) {
    auto r = std::make_shared<Resource>();
    r->group = row.group;
    r->version = row.version;
    r->plural = row.plural;
    r->kind = row.kind;
    r->singular = absl::AsciiStrToLower(row.kind);
    r->list_kind = absl::StrCat(row.kind, "List");
    r->namespaced = (row.flags & kCluster) == 0;
    r->short_names = Words(row.short_names);
    r->categories = Words(row.categories);
    r->verbs = Words("create delete deletecollection get list patch update watch");
    r->is_action = row.flags & kAction;
    if (r->is_action) r->verbs = {"create"};
    r->has_status = row.flags & kStatus;
    r->has_scale = row.flags & kScale;
    r->has_generation = row.flags & kGeneration;
    r->unconditional_update = (row.flags & kNeedsVersion) == 0;
    r->create_on_update = row.flags & kCreateOnUpdate;
    r->returns_deleted = row.flags & kReturnsDeleted;
    r->graceful = row.flags & kGraceful;
    if (row.flags & kDnsLabelName) r->name_rule = NameRule::kDnsLabel;
    if (row.flags & kDns1035Name) r->name_rule = NameRule::kDns1035Label;
    if (row.flags & kPathName) r->name_rule = NameRule::kPathSegment;
    r->stored_api_version = r->api_version();
    if (r->group == "events.k8s.io") {
      r->view = View::kEventsV1;
      r->stored_api_version = "v1";
    }
    r->storage_hash =
        StorageVersionHash(r->view == View::kEventsV1 ? "" : r->group, r->version, r->kind);
    r->message = schema::FindKind(r->group, r->version, r->kind);
    CHECK(r->message != nullptr) << "no form of kind=" << r->kind;
    r->strategy = &kinds::StrategyOf(r->group, r->plural);
    r->subresources = SubresourcesOf(*r);
    out.push_back(std::move(r));
  }
  return out;
}

}  // namespace hekla::apiserver
