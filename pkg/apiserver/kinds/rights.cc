#include "absl/strings/string_view.h"
#include "pkg/apiserver/kinds/all.h"
#include "pkg/apiserver/kinds/checks.h"

// Roles and what binds them.
namespace hekla::apiserver::kinds {
namespace {

using apis::json::Value;

constexpr char kGroup[] = "rbac.authorization.k8s.io";

void RoleValidate(const Value& role, FieldErrors& errors) {
  const Value& rules = role.At("rules");
  for (size_t i = 0; rules.is_array() && i < rules.size(); ++i) {
    const Value& rule = rules.as_array()[i];
    const std::string path = Index("rules", i);
    if (rule.At("verbs").size() == 0) {
      errors.Required(Child(path, "verbs"), "verbs must contain at least one value");
    }
    if (rule.At("nonResourceURLs").size() > 0) {
      if (role.At("metadata").Has("namespace")) {
        errors.Invalid(Child(path, "nonResourceURLs"), rule.At("nonResourceURLs"),
                       "namespaced rules cannot apply to non-resource URLs");
      }
      continue;
    }
    if (rule.At("apiGroups").size() == 0) {
      errors.Required(Child(path, "apiGroups"),
                      "resource rules must supply at least one api group");
    }
    if (rule.At("resources").size() == 0) {
      errors.Required(Child(path, "resources"), "resource rules must supply at least one resource");
    }
  }
}

void BindingValidate(const Value& binding, FieldErrors& errors) {
  const Value& ref = binding.At("roleRef");
  const bool namespaced = binding.At("metadata").Has("namespace");
  const std::vector<std::string> kinds = namespaced
                                             ? std::vector<std::string>{"Role", "ClusterRole"}
                                             : std::vector<std::string>{"ClusterRole"};
  if (ref.GetString("apiGroup") != kGroup) {
    errors.NotSupported("roleRef.apiGroup", Value(ref.GetString("apiGroup")), {kGroup});
  }
  if (!OneOf(ref.GetString("kind"), kinds)) {
    errors.NotSupported("roleRef.kind", Value(ref.GetString("kind")), kinds);
  }
  if (ref.GetString("name").empty()) errors.Required("roleRef.name");
  const Value& subjects = binding.At("subjects");
  for (size_t i = 0; subjects.is_array() && i < subjects.size(); ++i) {
    const Value& subject = subjects.as_array()[i];
    const std::string path = Index("subjects", i);
    CheckRequired(subject, "name", path, errors);
    const absl::string_view kind = subject.GetString("kind");
    if (kind == "ServiceAccount") {
      if (!namespaced) CheckRequired(subject, "namespace", path, errors);
    } else if (kind != "User" && kind != "Group") {
      errors.NotSupported(Child(path, "kind"), Value(kind), {"ServiceAccount", "User", "Group"});
    }
  }
}

void BindingUpdate(const Value& binding, const Value& old, FieldErrors& errors) {
  if (binding.At("roleRef") != old.At("roleRef")) {
    errors.Invalid("roleRef", binding.At("roleRef"), "cannot change roleRef");
  }
}

void BindingDefaults(Value& binding) {
  if (Value* ref = binding.Find("roleRef"); ref != nullptr && ref->is_object()) {
    if (ref->GetString("apiGroup").empty()) ref->Set("apiGroup", kGroup);
  }
  Value* subjects = binding.Find("subjects");
  if (subjects == nullptr || !subjects->is_array()) return;
  for (Value& subject : subjects->as_array()) {
    const absl::string_view kind = subject.GetString("kind");
    const bool person = kind == "User" || kind == "Group";
    if (person && subject.GetString("apiGroup").empty()) subject.Set("apiGroup", kGroup);
  }
}

}  // namespace

Strategy RoleStrategy() {
  Strategy s;
  s.validate = RoleValidate;
  s.validate_update = [](const Value& role, const Value&, FieldErrors& errors) {
    RoleValidate(role, errors);
  };
  return s;
}

Strategy RoleBindingStrategy() {
  Strategy s;
  s.set_defaults = BindingDefaults;
  s.validate = BindingValidate;
  s.validate_update = BindingUpdate;
  return s;
}

}  // namespace hekla::apiserver::kinds
