#include "pkg/apiserver/admission.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apiserver/deleter.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

constexpr absl::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";
constexpr int kTolerationSeconds = 300;

bool IsCore(const Resource& resource, absl::string_view plural) {
  return resource.group.empty() && resource.plural == plural;
}

absl::Status CheckNamespace(Core& core, const Resource& resource, absl::string_view ns,
                            const Value& object) {
  const ResourcePtr namespaces = core.registry.Find("", "v1", "namespaces");
  const storage::ObjectPtr found = core.store.Get(*namespaces->table, ns);
  if (found == nullptr) return NotFound(namespaces->group_resource(), ns);
  // The phase is the first selectable field of namespaces.
  if (found->Field(0) != "Terminating") return absl::OkStatus();
  const absl::string_view name = object.At("metadata").GetString("name");
  Value status = StatusObject(Forbidden(resource.group_resource(), name,
                                        absl::StrCat("unable to create new content in namespace ",
                                                     ns, " because it is being terminated")));
  status.Ensure({"details"})
      .Set("causes", Value::MakeArray({Value::MakeObject(
                         {{"reason", "NamespaceTerminating"},
                          {"message", absl::StrCat("namespace ", ns, " is being terminated")},
                          {"field", "metadata.namespace"}})}));
  return ApiError(std::move(status));
}

// How refusals name a new object: its name is not generated yet.
absl::string_view NameOf(const Value& object) {
  const Value& metadata = object.At("metadata");
  const absl::string_view name = metadata.GetString("name");
  return name.empty() ? metadata.GetString("generateName") : name;
}

bool Tolerates(const Value& tolerations, absl::string_view key) {
  if (!tolerations.is_array()) return false;
  return std::any_of(
      tolerations.as_array().begin(), tolerations.as_array().end(), [&](const Value& t) {
        const absl::string_view have = t.GetString("key");
        const absl::string_view effect = t.GetString("effect");
        return (have == key || have.empty()) && (effect == "NoExecute" || effect.empty());
      });
}

void AddDefaultTolerations(Value& pod) {
  Value& spec = pod["spec"];
  for (absl::string_view key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (Tolerates(spec.At("tolerations"), key)) continue;
    spec["tolerations"].Append(Value::MakeObject({{"key", key},
                                                  {"operator", "Exists"},
                                                  {"effect", "NoExecute"},
                                                  {"tolerationSeconds", kTolerationSeconds}}));
  }
}

struct ResolvedPriority {
  int64_t value = 0;
  std::string class_name;
  std::string preemption = "PreemptLowerPriority";
};

absl::StatusOr<ResolvedPriority> ResolvePriority(Core& core, const Value& pod) {
  const ResourcePtr classes = core.registry.Find("scheduling.k8s.io", "v1", "priorityclasses");
  const absl::string_view wanted = pod.At("spec").GetString("priorityClassName");
  ResolvedPriority out;
  if (!wanted.empty()) {
    const storage::ObjectPtr found = core.store.Get(*classes->table, wanted);
    if (found == nullptr) {
      return Forbidden(GroupResource{"", "pods"}, NameOf(pod),
                       absl::StrCat("no PriorityClass with name ", wanted, " was found"));
    }
    const Value content = found->Parse();
    out.value = content.GetInt("value");
    out.class_name = std::string(wanted);
    out.preemption = std::string(content.GetString("preemptionPolicy", out.preemption));
    return out;
  }
  const auto list = core.store.List(*classes->table, storage::ListQuery());
  if (!list.ok()) return list.status();
  bool found = false;
  for (const storage::ObjectPtr& object : list->objects) {
    if (!absl::StrContains(object->json(), "\"globalDefault\":true")) continue;
    const Value content = object->Parse();
    if (!content.GetBool("globalDefault")) continue;
    if (found && content.GetInt("value") >= out.value) continue;
    found = true;
    out.value = content.GetInt("value");
    out.class_name = std::string(object->name());
    out.preemption = std::string(content.GetString("preemptionPolicy", "PreemptLowerPriority"));
  }
  return out;
}

absl::Status AdmitPriority(Core& core, Value& pod) {
  HEKLA_ASSIGN_OR_RETURN(ResolvedPriority priority, ResolvePriority(core, pod));
  Value& spec = pod["spec"];
  const absl::string_view name = NameOf(pod);
  const Value* given = spec.Find("priority");
  if (given != nullptr && *given != Value(static_cast<long long>(priority.value))) {
    return Forbidden(GroupResource{"", "pods"}, name,
                     absl::StrCat("the integer value of priority (", given->as_int(),
                                  ") must not be provided in pod spec; priority admission "
                                  "controller computed ",
                                  priority.value, " from the given PriorityClass name"));
  }
  const Value* policy = spec.Find("preemptionPolicy");
  if (policy != nullptr && *policy != Value(priority.preemption)) {
    return Forbidden(GroupResource{"", "pods"}, name,
                     absl::StrCat("the string value of PreemptionPolicy (", policy->as_string(),
                                  ") must not be provided in pod spec; priority admission "
                                  "controller computed ",
                                  priority.preemption, " from the given PriorityClass name"));
  }
  if (!priority.class_name.empty()) spec.Set("priorityClassName", priority.class_name);
  spec.Set("priority", static_cast<long long>(priority.value));
  spec.Set("preemptionPolicy", priority.preemption);
  return absl::OkStatus();
}

absl::Status AdmitPriorityClass(Core& core, const Value& object) {
  if (!object.GetBool("globalDefault")) return absl::OkStatus();
  const ResourcePtr classes = core.registry.Find("scheduling.k8s.io", "v1", "priorityclasses");
  const auto list = core.store.List(*classes->table, storage::ListQuery());
  if (!list.ok()) return list.status();
  const absl::string_view name = object.At("metadata").GetString("name");
  for (const storage::ObjectPtr& other : list->objects) {
    if (other->name() == name || !other->Parse().GetBool("globalDefault")) continue;
    return Forbidden(classes->group_resource(), name,
                     absl::StrCat("PriorityClass ", other->name(),
                                  " is already marked as default. Only one default can exist"));
  }
  return absl::OkStatus();
}

absl::Status AdmitServiceAccount(Core& core, absl::string_view ns, Value& pod) {
  Value& spec = pod["spec"];
  if (spec.GetString("serviceAccountName").empty()) {
    spec.Set("serviceAccountName", "default");
    spec.Set("serviceAccount", "default");
  }
  const ResourcePtr accounts = core.registry.Find("", "v1", "serviceaccounts");
  const absl::string_view account = spec.GetString("serviceAccountName");
  if (core.store.Get(*accounts->table, absl::StrCat(ns, "/", account)) != nullptr) {
    return absl::OkStatus();
  }
  return Forbidden(GroupResource{"", "pods"}, NameOf(pod),
                   absl::StrCat("error looking up service account ", ns, "/", account,
                                ": serviceaccount \"", account, "\" not found"));
}

// Gives a service its addresses, 10.96.0.0/12 as in most clusters.
void AllocateAddress(Core& core, Value& service) {
  Value& spec = service["spec"];
  if (spec.GetString("type", "ClusterIP") == "ExternalName") return;
  if (spec.GetString("clusterIP").empty()) {
    const uint64_t host = 1 + core.RandomBelow((1u << 20) - 2);
    spec.Set("clusterIP",
             absl::StrCat("10.", 96 + (host >> 16), ".", (host >> 8) & 255, ".", host & 255));
  }
  spec.Set("clusterIPs", Value::MakeArray({spec.At("clusterIP")}));
  // A headless service without a selector: its endpoints are given by hand, of either family.
  if (spec.GetString("clusterIP") == "None" && spec.At("selector").size() == 0) {
    if (!spec.Has("ipFamilies")) {
      spec.Set("ipFamilies", Value::MakeArray({Value("IPv4"), Value("IPv6")}));
    }
    if (!spec.Has("ipFamilyPolicy")) spec.Set("ipFamilyPolicy", "RequireDualStack");
  }
  if (!spec.Has("ipFamilies")) spec.Set("ipFamilies", Value::MakeArray({Value("IPv4")}));
  if (!spec.Has("ipFamilyPolicy")) spec.Set("ipFamilyPolicy", "SingleStack");
  const absl::string_view type = spec.GetString("type");
  if ((type != "NodePort" && type != "LoadBalancer") || !spec.At("ports").is_array()) return;
  for (Value& port : spec["ports"].as_array()) {
    if (port.GetInt("nodePort") == 0) {
      port.Set("nodePort", static_cast<long long>(30000 + core.RandomBelow(2768)));
    }
  }
}

void AddNotReadyTaint(Value& node) {
  Value& spec = node["spec"];
  if (spec.is_null()) spec = Value::MakeObject();
  const Value& taints = spec.At("taints");
  const bool has = taints.is_array() &&
                   std::any_of(taints.as_array().begin(), taints.as_array().end(),
                               [](const Value& t) { return t.GetString("key") == kNotReadyTaint; });
  if (has) return;
  spec["taints"].Append(Value::MakeObject({{"key", kNotReadyTaint}, {"effect", "NoSchedule"}}));
}

void AddDefaultStorageClass(Core& core, Value& claim) {
  Value& spec = claim["spec"];
  if (spec.Has("storageClassName")) return;
  const ResourcePtr classes = core.registry.Find("storage.k8s.io", "v1", "storageclasses");
  const auto list = core.store.List(*classes->table, storage::ListQuery());
  if (!list.ok()) return;
  std::string newest;
  for (const storage::ObjectPtr& object : list->objects) {
    const Value content = object->Parse();
    const Value& metadata = content.At("metadata");
    if (metadata.At("annotations").GetString("storageclass.kubernetes.io/is-default-class") !=
        "true") {
      continue;
    }
    if (metadata.GetString("creationTimestamp") < newest) continue;
    newest = std::string(metadata.GetString("creationTimestamp"));
    spec.Set("storageClassName", object->name());
  }
}

}  // namespace

absl::Status AdmitCreate(Core& core, const Resource& resource, absl::string_view ns,
                         Value& object) {
  if (resource.namespaced) HEKLA_RETURN_IF_ERROR(CheckNamespace(core, resource, ns, object));
  if (resource.plural == "priorityclasses") return AdmitPriorityClass(core, object);
  if (!resource.group.empty()) return absl::OkStatus();
  if (resource.plural == "pods") {
    HEKLA_RETURN_IF_ERROR(AdmitPriority(core, object));
    AddDefaultTolerations(object);
    if (core.options.service_account_admission) return AdmitServiceAccount(core, ns, object);
  } else if (resource.plural == "nodes") {
    AddNotReadyTaint(object);
  } else if (resource.plural == "services") {
    AllocateAddress(core, object);
  } else if (resource.plural == "persistentvolumeclaims") {
    AddDefaultStorageClass(core, object);
    // Holds a claim that pods use; a controller takes it off.
    AddFinalizer(object, kClaimProtection);
  }
  return absl::OkStatus();
}

absl::Status AdmitUpdate(Core& core, const Resource& resource, const Value& old, Value& object) {
  if (resource.plural == "priorityclasses") return AdmitPriorityClass(core, object);
  if (IsCore(resource, "pods")) {
    Value& spec = object["spec"];
    for (const char* name : {"priority", "preemptionPolicy"}) {
      const Value* before = old.At("spec").Find(name);
      if (!spec.Has(name) && before != nullptr) spec.Set(name, *before);
    }
    AddDefaultTolerations(object);
  }
  return absl::OkStatus();
}

void FillImportedPod(Core& core, Value& pod) {
  Value& spec = pod["spec"];
  if (spec.Has("priority")) return;
  const absl::StatusOr<ResolvedPriority> priority = ResolvePriority(core, pod);
  spec.Set("priority", priority.ok() ? Value(static_cast<long long>(priority->value)) : Value(0));
  if (!spec.Has("preemptionPolicy") && priority.ok()) {
    spec.Set("preemptionPolicy", priority->preemption);
  }
}

}  // namespace hekla::apiserver
