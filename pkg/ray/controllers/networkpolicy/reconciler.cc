#include "pkg/ray/controllers/networkpolicy/reconciler.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "pkg/apis/ray/event_reasons.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/kube/api_status.h"
#include "pkg/ray/builders/network_policy.h"
#include "pkg/ray/builders/owner.h"
#include "pkg/ray/controllers/common/kinds.h"
#include "pkg/util/status_macros.h"

namespace hekla::ray::controllers::networkpolicy {
namespace {

using apis::json::Value;
using apis::ray::RayCluster;
using controller::Result;

std::string FullName(const Value& policy) {
  return absl::StrCat(controller::NamespaceOf(policy), "/", controller::NameOf(policy));
}

// Says how a write went; hands its status on.
absl::Status Report(PassEvents& events, const absl::Status& status, const EventNote& done,
                    absl::string_view failed_reason, const std::string& failed_text) {
  if (status.ok()) {
    events.Add(done);
  } else {
    events.Add({apis::ray::kEventWarning, failed_reason, done.action,
                absl::StrCat(failed_text, ": ", absl::string_view(status.message()))});
  }
  return status;
}

}  // namespace

absl::StatusOr<Result> Reconciler::Reconcile(const controller::Request& request) {
  HEKLA_ASSIGN_OR_RETURN(const controller::ObjectPtr object,
                         deps_.client->GetIfThere(RayClusters(), request.ns, request.name));
  if (object == nullptr) return Result();
  // What cannot be read is reported by the RayCluster controller.
  const absl::StatusOr<RayCluster> cluster = apis::ray::DecodeRayCluster(*object);
  if (!cluster.ok() || cluster->metadata.terminating() || !apis::ray::ManagedByUs(*cluster)) {
    return Result();
  }
  const std::vector<Value> wanted = builders::BuildNetworkPolicies(*cluster);
  PassEvents events(deps_.events, object);
  for (const Value& policy : wanted) {
    HEKLA_RETURN_IF_ERROR(Keep(*cluster, policy, events));
  }
  HEKLA_RETURN_IF_ERROR(DeleteOthers(*cluster, wanted, events));
  return Result();
}

absl::Status Reconciler::Keep(const RayCluster& cluster, const Value& wanted, PassEvents& events) {
  const std::string name = FullName(wanted);
  // The cache spares the server a create that it would refuse.
  HEKLA_ASSIGN_OR_RETURN(
      controller::ObjectPtr live,
      deps_.client->GetIfThere(NetworkPolicies(), cluster.ns(), controller::NameOf(wanted)));
  if (live == nullptr) {
    const absl::Status created = deps_.client->Create(NetworkPolicies(), wanted).status();
    if (!kube::IsAlreadyExists(created)) {
      return Report(events, created,
                    {apis::ray::kEventNormal, apis::ray::kCreatedNetworkPolicy,
                     apis::ray::kActionCreate, absl::StrCat("Created NetworkPolicy ", name)},
                    apis::ray::kFailedToCreateNetworkPolicy,
                    absl::StrCat("Failed to create NetworkPolicy ", name));
    }
    HEKLA_ASSIGN_OR_RETURN(Value now, deps_.client->GetLive(NetworkPolicies(), cluster.ns(),
                                                            controller::NameOf(wanted)));
    live = std::make_shared<const Value>(std::move(now));
  }
  if (!builders::ControlledBy(cluster, *live)) {
    const std::string text =
        absl::StrCat("NetworkPolicy ", name,
                     " already exists and is not owned by this RayCluster, network isolation will "
                     "not be applied. Rename the existing NetworkPolicy or use a different "
                     "RayCluster name to avoid the collision");
    events.Add({apis::ray::kEventWarning, apis::ray::kNetworkPolicyNameCollision,
                apis::ray::kActionValidate, text});
    return absl::FailedPreconditionError(text);
  }
  const std::optional<Value> updated = builders::UpdatedNetworkPolicy(*live, wanted);
  if (!updated.has_value()) return absl::OkStatus();
  return Report(events, deps_.client->Update(NetworkPolicies(), *updated).status(),
                {apis::ray::kEventNormal, apis::ray::kUpdatedNetworkPolicy,
                 apis::ray::kActionUpdate, absl::StrCat("Updated NetworkPolicy ", name)},
                apis::ray::kFailedToUpdateNetworkPolicy,
                absl::StrCat("Failed to update NetworkPolicy ", name));
}

absl::Status Reconciler::DeleteOthers(const RayCluster& cluster, const std::vector<Value>& wanted,
                                      PassEvents& events) {
  controller::ListFilter filter;
  filter.ns = cluster.ns();
  filter.labels = {{std::string(apis::ray::kClusterLabel), cluster.name()}};
  filter.controller_uid = cluster.metadata.uid;
  HEKLA_ASSIGN_OR_RETURN(const std::vector<controller::ObjectPtr> live,
                         deps_.client->List(NetworkPolicies(), filter));
  for (const controller::ObjectPtr& policy : live) {
    const bool keep = std::any_of(wanted.begin(), wanted.end(), [&policy](const Value& other) {
      return controller::NameOf(other) == controller::NameOf(*policy);
    });
    if (keep || controller::IsTerminating(*policy)) continue;
    const absl::Status deleted =
        deps_.client->Delete(NetworkPolicies(), cluster.ns(), controller::NameOf(*policy));
    if (kube::IsNotFound(deleted)) continue;
    const std::string name = FullName(*policy);
    HEKLA_RETURN_IF_ERROR(
        Report(events, deleted,
               {apis::ray::kEventNormal, apis::ray::kDeletedNetworkPolicy, apis::ray::kActionDelete,
                absl::StrCat("Deleted NetworkPolicy ", name)},
               apis::ray::kFailedToDeleteNetworkPolicy,
               absl::StrCat("Failed to delete NetworkPolicy ", name)));
  }
  return absl::OkStatus();
}

std::vector<controller::Source> Sources() {
  controller::Source own;
  own.resource = RayClusters();
  own.handler = controller::EnqueueSelf();
  own.predicates = {controller::GenerationChanged()};
  controller::Source policies;
  policies.resource = NetworkPolicies();
  policies.handler = controller::EnqueueOwner(
      {.group = std::string(apis::ray::kGroup), .kind = std::string(apis::ray::kRayClusterKind)});
  return {std::move(own), std::move(policies)};
}

}  // namespace hekla::ray::controllers::networkpolicy
