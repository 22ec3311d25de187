#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apiserver/crd/custom_kind.h"
#include "pkg/apiserver/kinds/all.h"
#include "pkg/apiserver/kinds/pod_spec.h"

// Nodes, namespaces, priority classes, definitions of custom kinds.
namespace hekla::apiserver::kinds {
namespace {

using apis::json::Value;

constexpr int64_t kHighestUserPriority = 1000000000;

void NodeDefaults(Value& node) {
  if (Value* spec = node.Find("spec");
      spec != nullptr && !spec->GetString("podCIDR").empty() && spec->At("podCIDRs").size() == 0) {
    spec->Set("podCIDRs", Value::MakeArray({spec->At("podCIDR")}));
  }
  Value* status = node.Find("status");
  if (status == nullptr || !status->At("capacity").is_object()) return;
  if (!status->Has("allocatable")) status->Set("allocatable", status->At("capacity"));
}

void ValidateAmounts(const Value& node, FieldErrors& errors) {
  for (const char* list : {"capacity", "allocatable"}) {
    const Value& amounts = node.At("status").At(list);
    if (!amounts.is_object()) continue;
    for (const apis::json::Member& m : amounts.as_object()) {
      if (m.value.is_string() && absl::StartsWith(m.value.as_string(), "-")) {
        errors.Invalid(absl::StrCat("status.", list, ".", m.key), m.value,
                       "must be greater than or equal to 0");
      }
    }
  }
}

void NodeValidate(const Value& node, FieldErrors& errors) {
  ValidateAmounts(node, errors);
  ValidateTaints(node.At("spec").At("taints"), "metadata.taints", errors);
}

void NodeValidateUpdate(const Value& node, const Value& old, FieldErrors& errors) {
  for (const auto& [name, field] :
       {std::pair("podCIDR", "podCIDRs"), std::pair("providerID", "providerID")}) {
    const absl::string_view before = old.At("spec").GetString(name);
    if (before.empty() || before == node.At("spec").GetString(name)) continue;
    errors.Forbidden(Child("spec", field), absl::StrCat("node updates may not change ", name,
                                                        " except from \"\" to valid"));
  }
  // Real servers look at the taints twice.
  ValidateTaints(node.At("spec").At("taints"), "metadata.taints", errors);
}

void NamespaceDefaults(Value& ns) {
  const std::string name(ns.At("metadata").GetString("name"));
  if (name.empty()) return;
  Value& labels = ns["metadata"]["labels"];
  if (!labels.is_object()) labels = Value::MakeObject();
  labels.Set("kubernetes.io/metadata.name", name);
}

void NamespacePrepare(Value& ns, const WriteContext&) {
  NamespaceDefaults(ns);
  Value& finalizers = ns.Ensure({"spec"})["finalizers"];
  const Value kubernetes("kubernetes");
  const bool has =
      finalizers.is_array() && std::find(finalizers.as_array().begin(), finalizers.as_array().end(),
                                         kubernetes) != finalizers.as_array().end();
  if (!has) finalizers.Append(kubernetes);
  ns.Set("status", Value::MakeObject({{"phase", "Active"}}));
}

void NamespaceUpdate(Value& ns, const Value& old) {
  if (const Value* finalizers = old.At("spec").Find("finalizers")) {
    ns.Ensure({"spec"}).Set("finalizers", *finalizers);
  } else if (Value* spec = ns.Find("spec")) {
    spec->Remove("finalizers");
  }
}

void PriorityDefaults(Value& object) {
  if (!object.Has("preemptionPolicy")) object.Set("preemptionPolicy", "PreemptLowerPriority");
}

void PriorityValidate(const Value& object, FieldErrors& errors) {
  const absl::string_view name = object.At("metadata").GetString("name");
  if (name == "system-cluster-critical" || name == "system-node-critical") return;
  if (absl::StartsWith(name, "system-")) {
    errors.Forbidden("metadata.name",
                     absl::StrCat("priority class names with 'system-' prefix are reserved for "
                                  "system use only. error: ",
                                  name, " is not a known system priority class"));
  }
  if (object.GetInt("value") > kHighestUserPriority) {
    errors.Forbidden("value", absl::StrCat("maximum allowed value of a user defined priority is ",
                                           kHighestUserPriority));
  }
  const absl::string_view policy = object.GetString("preemptionPolicy");
  if (policy != "PreemptLowerPriority" && policy != "Never") {
    errors.NotSupported("preemptionPolicy", Value(policy), {"PreemptLowerPriority", "Never"});
  }
}

void PriorityUpdate(const Value& object, const Value& old, FieldErrors& errors) {
  if (object.At("value") != old.At("value")) {
    errors.Forbidden("value", "may not be changed in an update.");
  }
  if (object.At("preemptionPolicy") != old.At("preemptionPolicy")) {
    errors.Invalid("preemptionPolicy", object.At("preemptionPolicy"), "field is immutable");
  }
}

void DefinitionPrepare(Value& crd, const WriteContext&) {
  Value stored = Value::MakeArray();
  const Value& versions = crd.At("spec").At("versions");
  if (versions.is_array()) {
    for (const Value& v : versions.as_array()) {
      if (v.GetBool("storage")) stored.Append(v.At("name"));
    }
  }
  crd.Set("status",
          Value::MakeObject({{"conditions", Value()},
                             {"acceptedNames", Value::MakeObject({{"plural", ""}, {"kind", ""}})},
                             {"storedVersions", std::move(stored)}}));
}

void DefinitionUpdate(const Value& crd, const Value& old, FieldErrors& errors) {
  for (const char* name : {"group", "scope"}) {
    if (crd.At("spec").At(name) != old.At("spec").At(name)) {
      errors.Invalid(Child("spec", name), crd.At("spec").At(name), "field is immutable");
    }
  }
  for (const char* name : {"kind", "plural"}) {
    const Value& now = crd.At("spec").At("names").At(name);
    if (now != old.At("spec").At("names").At(name)) {
      errors.Invalid(Child("spec.names", name), now, "field is immutable");
    }
  }
}

}  // namespace

Strategy NodeStrategy() {
  Strategy s;
  s.set_defaults = NodeDefaults;
  s.validate = NodeValidate;
  s.validate_update = NodeValidateUpdate;
  s.validate_status = [](const Value& node, const Value&, FieldErrors& errors) {
    ValidateAmounts(node, errors);
  };
  return s;
}

Strategy NamespaceStrategy() {
  Strategy s;
  s.set_defaults = NamespaceDefaults;
  s.prepare_create = NamespacePrepare;
  s.prepare_update = NamespaceUpdate;
  s.validate_status = [](const Value& ns, const Value&, FieldErrors& errors) {
    const Value& phase = ns.At("status").At("phase");
    const bool ends = ns.At("metadata").Has("deletionTimestamp");
    if (phase == Value(ends ? "Terminating" : "Active")) return;
    errors.Invalid("status.Phase", phase,
                   ends ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
                        : "may only be 'Active' if `deletionTimestamp` is empty");
  };
  return s;
}

Strategy PriorityClassStrategy() {
  Strategy s;
  s.set_defaults = PriorityDefaults;
  s.validate = PriorityValidate;
  s.validate_update = PriorityUpdate;
  return s;
}

Strategy DefinitionStrategy() {
  Strategy s;
  s.set_defaults = crd::SetDefinitionDefaults;
  s.prepare_create = DefinitionPrepare;
  s.validate = crd::ValidateDefinition;
  s.validate_update = DefinitionUpdate;
  return s;
}

}  // namespace hekla::apiserver::kinds
