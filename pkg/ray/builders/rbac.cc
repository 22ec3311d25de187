#include "pkg/ray/builders/rbac.h"

#include <utility>

#include "pkg/ray/builders/json_edit.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/owner.h"

namespace hekla::ray::builders {

using apis::json::Value;
using apis::ray::RayCluster;

namespace {

constexpr absl::string_view kRbac = "rbac.authorization.k8s.io";
constexpr absl::string_view kRbacVersion = "rbac.authorization.k8s.io/v1";

Value Owned(absl::string_view api_version, absl::string_view kind, absl::string_view name,
            const RayCluster& cluster) {
  Value object = NewObject(api_version, kind, CheckName(name), cluster.ns());
  apis::meta::StringMap labels = AllPodsSelector(cluster.name());
  labels.Set(apis::ray::kApplicationNameLabel, apis::ray::kApplicationName);
  labels.Set(apis::ray::kCreatedByLabel, apis::ray::kOperatorName);
  SetLabels(labels, object);
  SetController(cluster, object);
  return object;
}

Value Rule(absl::string_view group, absl::string_view resource,
           std::initializer_list<absl::string_view> verbs) {
  return Value::MakeObject({{"apiGroups", Strings({group})},
                            {"resources", Strings({resource})},
                            {"verbs", Strings(verbs)}});
}

}  // namespace

Value BuildAutoscalerServiceAccount(const RayCluster& cluster) {
  return Owned("v1", "ServiceAccount", AutoscalerServiceAccountName(cluster), cluster);
}

Value BuildAutoscalerRole(const RayCluster& cluster) {
  Value role = Owned(kRbacVersion, "Role", cluster.name(), cluster);
  Value& rules = role["rules"];
  rules.Append(Rule("", "pods", {"get", "list", "watch", "patch"}));
  rules.Append(Rule("", "pods/resize", {"patch"}));
  rules.Append(Rule(apis::ray::kGroup, "rayclusters", {"get", "patch"}));
  return role;
}

Value BuildAutoscalerRoleBinding(const RayCluster& cluster) {
  Value binding = Owned(kRbacVersion, "RoleBinding", cluster.name(), cluster);
  binding["subjects"].Append(
      Value::MakeObject({{"kind", "ServiceAccount"},
                         {"name", CheckName(AutoscalerServiceAccountName(cluster))},
                         {"namespace", cluster.ns()}}));
  binding.Set("roleRef",
              Value::MakeObject(
                  {{"apiGroup", kRbac}, {"kind", "Role"}, {"name", CheckName(cluster.name())}}));
  return binding;
}

}  // namespace hekla::ray::builders
