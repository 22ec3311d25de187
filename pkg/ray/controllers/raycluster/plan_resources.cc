#include "absl/strings/str_cat.h"
#include "pkg/apis/ray/event_reasons.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/owner.h"
#include "pkg/ray/builders/rbac.h"
#include "pkg/ray/builders/services.h"
#include "pkg/ray/builders/storage.h"
#include "pkg/ray/controllers/common/kinds.h"
#include "pkg/ray/controllers/raycluster/plan.h"

// Steps 1 to 9: everything that stands before the pods.
namespace hekla::ray::controllers::raycluster {
namespace {

using apis::json::Value;
using apis::ray::RayCluster;

// How the events of one kind of child read.
struct Wording {
  absl::string_view created;      // reason
  absl::string_view failed;       // reason
  absl::string_view done_text;    // "Created role "
  absl::string_view failed_text;  // "Failed creating role "
};

Write Create(const kube::Resource& resource, const RayCluster& cluster, Value object,
             const Wording& words) {
  Write write;
  write.verb = Write::Verb::kCreate;
  write.resource = &resource;
  if (!words.created.empty()) {
    write.done = {apis::ray::kEventNormal, words.created, apis::ray::kActionCreate,
                  std::string(words.done_text)};
    write.names_object = true;
    write.failed = {
        apis::ray::kEventWarning, words.failed, apis::ray::kActionCreate,
        absl::StrCat(words.failed_text, cluster.ns(), "/", controller::NameOf(object), ", ")};
  }
  write.object = std::move(object);
  return write;
}

Write Warn(absl::string_view reason, absl::string_view action, std::string note) {
  Write write;
  write.done = {apis::ray::kEventWarning, reason, action, std::move(note)};
  return write;
}

bool PlanAutoscaler(const Observed& observed, Plan& plan) {
  const RayCluster& cluster = observed.cluster;
  if (!cluster.spec.enable_in_tree_autoscaling) return true;
  if (observed.service_account == nullptr) {
    const absl::string_view given =
        cluster.spec.head.pod_template.At("spec").GetString("serviceAccountName");
    if (!given.empty()) {
      plan.writes.push_back(
          Warn(apis::ray::kAutoscalerServiceAccountNotFound, apis::ray::kActionValidate,
               absl::StrCat("Failed to reconcile RayCluster ", cluster.ns(), "/", cluster.name(),
                            ". If users specify ServiceAccountName for the head Pod, they need to "
                            "create a ServiceAccount themselves. However, ServiceAccount ",
                            given,
                            " is not found. Please create one. See the PR description of "
                            "https://github.com/ray-project/kuberay/pull/1128 for more details.")));
      plan.writes.push_back(
          Fail(absl::StrCat("service account ", cluster.ns(), "/", given, " does not exist")));
      return false;
    }
    plan.writes.push_back(
        Create(ServiceAccounts(), cluster, builders::BuildAutoscalerServiceAccount(cluster),
               {apis::ray::kCreatedServiceAccount, apis::ray::kFailedToCreateServiceAccount,
                "Created service account ", "Failed creating service account "}));
    plan.writes.back().exists_is_fine = true;
  }
  if (observed.role == nullptr) {
    plan.writes.push_back(Create(Roles(), cluster, builders::BuildAutoscalerRole(cluster),
                                 {apis::ray::kCreatedRole, apis::ray::kFailedToCreateRole,
                                  "Created role ", "Failed creating role "}));
    plan.writes.back().exists_is_fine = true;
  }
  if (observed.role_binding == nullptr) {
    plan.writes.push_back(
        Create(RoleBindings(), cluster, builders::BuildAutoscalerRoleBinding(cluster),
               {apis::ray::kCreatedRoleBinding, apis::ray::kFailedToCreateRoleBinding,
                "Created role binding ", "Failed creating role binding "}));
    plan.writes.back().exists_is_fine = true;
  }
  return true;
}

bool PlanRoute(const Observed& observed, Plan& plan) {
  if (!observed.routes.empty()) return true;
  absl::StatusOr<Value> route = builders::BuildRoute(observed.cluster);
  if (!route.ok()) {
    plan.writes.push_back(Fail(std::string(route.status().message())));
    return false;
  }
  plan.writes.push_back(Create(Routes(), observed.cluster, *std::move(route),
                               {apis::ray::kCreatedRoute, apis::ray::kFailedToCreateRoute,
                                "Created route ", "Failed creating route "}));
  plan.writes.back().exists_is_fine = true;
  return true;
}

bool PlanIngress(const Observed& observed, const PlanInput& input, Plan& plan) {
  const RayCluster& cluster = observed.cluster;
  if (!cluster.spec.head.enable_ingress) return true;
  if (input.options->routes) return PlanRoute(observed, plan);
  absl::StatusOr<Value> wanted = builders::BuildIngress(cluster);
  if (!wanted.ok()) {
    plan.writes.push_back(Fail(std::string(wanted.status().message())));
    return false;
  }
  const std::string name = absl::StrCat(cluster.ns(), "/", controller::NameOf(*wanted));
  if (observed.ingress == nullptr) {
    plan.writes.push_back(Create(Ingresses(), cluster, *std::move(wanted),
                                 {apis::ray::kCreatedIngress, apis::ray::kFailedToCreateIngress,
                                  "Created ingress ", "Failed creating ingress "}));
    plan.writes.back().exists_is_fine = true;
    return true;
  }
  if (!builders::ControlledBy(cluster, *observed.ingress)) {
    plan.writes.push_back(
        Warn(apis::ray::kFailedToCreateIngress, apis::ray::kActionCreate,
             absl::StrCat("Ingress ", name,
                          " already exists and is not owned by this RayCluster; not modifying "
                          "it")));
    return true;
  }
  std::optional<Value> updated = builders::UpdatedIngress(*observed.ingress, *wanted);
  if (!updated.has_value()) return true;
  Write write;
  write.verb = Write::Verb::kUpdate;
  write.resource = &Ingresses();
  write.object = *std::move(updated);
  write.done = {apis::ray::kEventNormal, apis::ray::kUpdatedIngress, apis::ray::kActionUpdate,
                absl::StrCat("Updated ingress ", name)};
  write.failed = {apis::ray::kEventWarning, apis::ray::kFailedToUpdateIngress,
                  apis::ray::kActionUpdate, absl::StrCat("Failed updating ingress ", name, ", ")};
  plan.writes.push_back(std::move(write));
  return true;
}

void PlanAuthSecret(const Observed& observed, const PlanInput& input, Plan& plan) {
  if (!builders::NeedsAuthSecret(observed.cluster) || observed.auth_secret != nullptr) return;
  const std::string bytes = input.secret_bytes(builders::kAuthTokenBytes);
  const std::span<const unsigned char> random(reinterpret_cast<const unsigned char*>(bytes.data()),
                                              bytes.size());
  plan.writes.push_back(Create(Secrets(), observed.cluster,
                               builders::BuildAuthSecret(observed.cluster, random), Wording{}));
}

bool PlanServices(const Observed& observed, const PlanInput& input, Plan& plan) {
  static constexpr Wording kWords = {apis::ray::kCreatedService, apis::ray::kFailedToCreateService,
                                     "Created service ", "Failed creating service "};
  const RayCluster& cluster = observed.cluster;
  if (observed.head_services.size() > 1) {
    plan.writes.push_back(
        Fail(absl::StrCat("RayCluster ", cluster.ns(), "/", cluster.name(), " has ",
                          observed.head_services.size(), " head services, expected 1")));
    return false;
  }
  if (observed.head_services.empty()) {
    absl::StatusOr<Value> head = builders::BuildHeadService(cluster, input.options->build);
    if (!head.ok()) {
      plan.writes.push_back(Fail(std::string(head.status().message())));
      return false;
    }
    plan.writes.push_back(Create(Services(), cluster, *std::move(head), kWords));
  }
  if (builders::NeedsHeadlessService(cluster) && observed.headless_services.empty()) {
    plan.writes.push_back(
        Create(Services(), cluster, builders::BuildHeadlessService(cluster), kWords));
  }
  if (!builders::WantsServeService(cluster) || observed.serve_service != nullptr) return true;
  absl::StatusOr<Value> serve = builders::BuildServeService(cluster);
  if (!serve.ok()) {
    plan.writes.push_back(Fail(std::string(serve.status().message())));
    return false;
  }
  plan.writes.push_back(Create(Services(), cluster, *std::move(serve), Wording{}));
  return true;
}

// The controller reference follows the deletion policy.
void PlanClaimOwner(const Observed& observed, Plan& plan) {
  const RayCluster& cluster = observed.cluster;
  const bool owned = builders::ControlledBy(cluster, *observed.gcs_claim);
  if (owned == builders::OwnsGcsClaim(cluster)) return;
  Write write;
  write.verb = Write::Verb::kUpdate;
  write.resource = &Claims();
  write.object = *observed.gcs_claim;
  if (owned) {
    Value::Array rest;
    for (const Value& owner : write.object.At("metadata").At("ownerReferences").as_array()) {
      if (owner.GetString("uid") != cluster.metadata.uid) rest.push_back(owner);
    }
    Value& metadata = write.object["metadata"];
    if (rest.empty()) {
      metadata.Remove("ownerReferences");
    } else {
      metadata.Set("ownerReferences", Value::MakeArray(std::move(rest)));
    }
  } else {
    const absl::Status owner =
        controller::SetControllerReference(*observed.object, RayClusters(), write.object);
    if (!owner.ok()) {
      plan.writes.push_back(Fail(std::string(owner.message())));
      return;
    }
  }
  plan.writes.push_back(std::move(write));
}

bool PlanClaim(const Observed& observed, Plan& plan) {
  const RayCluster& cluster = observed.cluster;
  if (!apis::ray::EmbeddedGcsStorage(cluster)) return true;
  const std::string name = absl::StrCat(cluster.ns(), "/", builders::GcsClaimName(cluster));
  if (!builders::NeedsGcsClaim(cluster)) {
    if (observed.gcs_claim == nullptr) {
      plan.writes.push_back(
          Warn(apis::ray::kFailedToCreatePvc, apis::ray::kActionValidate,
               absl::StrCat("GcsFaultToleranceOptions.Storage.ClaimName \"",
                            builders::GcsClaimName(cluster), "\" not found in namespace ",
                            cluster.ns(), "; the head Pod will not start until it exists")));
    }
    return true;
  }
  if (observed.gcs_claim == nullptr) {
    plan.writes.push_back(
        Create(Claims(), cluster, builders::BuildGcsClaim(cluster),
               {apis::ray::kCreatedPvc, apis::ray::kFailedToCreatePvc, "Created GCS storage PVC ",
                "Failed to create GCS storage PVC "}));
    plan.writes.back().exists_is_fine = true;
    return true;
  }
  const std::optional<std::string> drift = builders::GcsClaimDrift(cluster, *observed.gcs_claim);
  if (drift.has_value()) {
    plan.writes.push_back(
        Warn(apis::ray::kFailedToCreatePvc, apis::ray::kActionUpdate,
             absl::StrCat("GCS storage PVC ", name,
                          " already exists and cannot be reconfigured in place (", *drift,
                          "); delete the PVC to recreate it with the new settings")));
  }
  PlanClaimOwner(observed, plan);
  return plan.writes.empty() || plan.writes.back().verb != Write::Verb::kFail;
}

}  // namespace

bool PlanResources(const Observed& observed, const PlanInput& input, Plan& plan) {
  if (!PlanAutoscaler(observed, plan)) return false;
  if (!PlanIngress(observed, input, plan)) return false;
  PlanAuthSecret(observed, input, plan);
  if (!PlanServices(observed, input, plan)) return false;
  return PlanClaim(observed, plan);
}

}  // namespace hekla::ray::controllers::raycluster
