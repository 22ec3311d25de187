#include "absl/strings/string_view.h"
#include "pkg/apiserver/kinds/all.h"

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
    if (rule.At("nonResourceURLs").size() > 0) continue;
    if (rule.At("apiGroups").size() == 0) {
      errors.Required(Child(path, "apiGroups"),
                      "resource rules must supply at least one api group");
    }
    if (rule.At("resources").size() == 0) {
      errors.Required(Child(path, "resources"), "resource rules must supply at least one resource");
    }
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
  return s;
}

}  // namespace hekla::apiserver::kinds
