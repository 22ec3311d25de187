#include "pkg/ray/controllers/mtls/reconciler.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "pkg/apis/meta/time.h"
#include "pkg/apis/ray/event_reasons.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/kube/api_status.h"
#include "pkg/ray/builders/mtls.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/controllers/common/kinds.h"
#include "pkg/util/status_macros.h"

namespace hekla::ray::controllers::mtls {
namespace {

using apis::json::Value;
using apis::ray::RayCluster;
using controller::ObjectPtr;
using controller::Result;

constexpr absl::string_view kNodeTypes[] = {apis::ray::kHeadNode, apis::ray::kWorkerNode};

absl::StatusOr<std::vector<std::string>> Addresses(controller::Client& client,
                                                   const RayCluster& cluster,
                                                   absl::string_view node_type) {
  HEKLA_ASSIGN_OR_RETURN(
      const std::vector<ObjectPtr> pods,
      client.ListBy(Pods(), cluster.ns(), builders::NodeTypeSelector(cluster.name(), node_type)));
  std::vector<const Value*> borrowed;
  for (const ObjectPtr& pod : pods) borrowed.push_back(pod.get());
  return builders::LeafIps(borrowed);
}

}  // namespace

absl::StatusOr<Result> Reconciler::Reconcile(const controller::Request& request) {
  HEKLA_ASSIGN_OR_RETURN(const ObjectPtr object,
                         deps_.client->GetIfThere(RayClusters(), request.ns, request.name));
  if (object == nullptr) return Result();
  const absl::StatusOr<RayCluster> cluster = apis::ray::DecodeRayCluster(*object);
  if (!cluster.ok() || cluster->metadata.terminating() || !apis::ray::ManagedByUs(*cluster) ||
      !apis::ray::TlsEnabled(*cluster)) {
    return Result();
  }
  std::string step;
  const absl::StatusOr<bool> settled = KeepAll(*object, *cluster, step);
  if (!settled.ok()) {
    const absl::Status& kept = settled.status();
    // A conflict only says that the cache lagged.
    if (!kube::IsConflict(kept)) {
      deps_.events->Emit(*object, {apis::ray::kEventWarning, apis::ray::kMtlsFailedToReconcile,
                                   apis::ray::kActionReconcile,
                                   absl::StrCat("Failed to reconcile mTLS ", step, ": ",
                                                absl::string_view(kept.message()))});
    }
    return kept;
  }
  // After a change the cache may still show the certificate as it was before.
  HEKLA_ASSIGN_OR_RETURN(const bool leaves_ready, LeavesReady(*cluster));
  const bool ready = *settled && leaves_ready;
  if (!ready) {
    deps_.events->Emit(*object, {apis::ray::kEventNormal, apis::ray::kMtlsCertsNotReady,
                                 apis::ray::kActionReconcile,
                                 "Waiting for cert-manager to issue mTLS certificates"});
    return Result::After(kNotReadyInterval);
  }
  deps_.events->Emit(
      *object, {apis::ray::kEventNormal, apis::ray::kMtlsPkiReady, apis::ray::kActionReconcile,
                "mTLS PKI is ready: CA, head, and worker certificates issued"});
  WarnOfExpiry(*object, *cluster);
  return Result::After(kReadyInterval);
}

absl::StatusOr<bool> Reconciler::KeepAll(const Value& object, const RayCluster& cluster,
                                         std::string& step) {
  step = "self-signed issuer";
  HEKLA_RETURN_IF_ERROR(CreateMissing(Issuers(), builders::BuildSelfSignedIssuer(cluster)));
  step = "CA certificate";
  HEKLA_RETURN_IF_ERROR(CreateMissing(Certificates(), builders::BuildCaCertificate(cluster)));
  HEKLA_RETURN_IF_ERROR(AdoptSecret(cluster, builders::CaSecretName(cluster),
                                    builders::CaCertificateName(cluster.name())));
  step = "CA issuer";
  HEKLA_RETURN_IF_ERROR(CreateMissing(Issuers(), builders::BuildCaIssuer(cluster)));
  bool changed = false;
  for (absl::string_view node_type : kNodeTypes) {
    step = absl::StrCat(node_type, " certificate");
    HEKLA_ASSIGN_OR_RETURN(const bool leaf_changed, KeepLeaf(object, cluster, node_type));
    changed = changed || leaf_changed;
    HEKLA_RETURN_IF_ERROR(AdoptSecret(cluster, builders::LeafSecretName(cluster.name(), node_type),
                                      builders::LeafCertificateName(cluster.name(), node_type)));
  }
  return !changed;
}

absl::Status Reconciler::CreateMissing(const kube::Resource& resource, const Value& wanted) {
  HEKLA_ASSIGN_OR_RETURN(const ObjectPtr live,
                         deps_.client->GetIfThere(resource, controller::NamespaceOf(wanted),
                                                  controller::NameOf(wanted)));
  if (live != nullptr) return absl::OkStatus();
  const absl::Status created = deps_.client->Create(resource, wanted).status();
  return kube::IsAlreadyExists(created) ? absl::OkStatus() : created;
}

absl::StatusOr<bool> Reconciler::KeepLeaf(const Value& object, const RayCluster& cluster,
                                          absl::string_view node_type) {
  HEKLA_ASSIGN_OR_RETURN(const std::vector<std::string> ips,
                         Addresses(*deps_.client, cluster, node_type));
  const Value wanted = builders::BuildLeafCertificate(cluster, node_type, ips, options_.build);
  HEKLA_ASSIGN_OR_RETURN(
      const ObjectPtr live,
      deps_.client->GetIfThere(Certificates(), cluster.ns(), controller::NameOf(wanted)));
  if (live == nullptr) {
    const absl::Status created = deps_.client->Create(Certificates(), wanted).status();
    if (!created.ok() && !kube::IsAlreadyExists(created)) return created;
    return true;
  }
  if (!builders::LeafNeedsUpdate(*live, wanted)) return false;
  HEKLA_RETURN_IF_ERROR(
      deps_.client->Update(Certificates(), builders::UpdatedLeaf(*live, wanted)).status());
  deps_.events->Emit(object, {apis::ray::kEventNormal, apis::ray::kMtlsCertificatesUpdated,
                              apis::ray::kActionUpdate,
                              absl::StrCat("Updated ", node_type, " certificate SANs (IPs: [",
                                           absl::StrJoin(ips, " "), "])")});
  return true;
}

// The secret goes with its certificate.
absl::Status Reconciler::AdoptSecret(const RayCluster& cluster, const std::string& secret,
                                     const std::string& certificate) {
  HEKLA_ASSIGN_OR_RETURN(const ObjectPtr cached,
                         deps_.client->GetIfThere(Secrets(), cluster.ns(), secret));
  HEKLA_ASSIGN_OR_RETURN(const ObjectPtr owner,
                         deps_.client->GetIfThere(Certificates(), cluster.ns(), certificate));
  if (cached == nullptr || owner == nullptr) return absl::OkStatus();
  Value owned = *cached;
  HEKLA_RETURN_IF_ERROR(controller::SetOwnerReference(*owner, Certificates(), owned));
  if (owned == *cached) return absl::OkStatus();
  // The cache does not keep what is secret.
  absl::StatusOr<Value> live = deps_.client->GetLive(Secrets(), cluster.ns(), secret);
  if (!live.ok()) return kube::IsNotFound(live.status()) ? absl::OkStatus() : live.status();
  HEKLA_RETURN_IF_ERROR(controller::SetOwnerReference(*owner, Certificates(), *live));
  return deps_.client->Update(Secrets(), *live).status();
}

absl::StatusOr<bool> Reconciler::LeavesReady(const RayCluster& cluster) {
  for (absl::string_view node_type : kNodeTypes) {
    HEKLA_ASSIGN_OR_RETURN(
        const ObjectPtr certificate,
        deps_.client->GetIfThere(Certificates(), cluster.ns(),
                                 builders::LeafCertificateName(cluster.name(), node_type)));
    if (certificate == nullptr || !builders::CertificateReady(*certificate)) return false;
  }
  return true;
}

void Reconciler::WarnOfExpiry(const Value& object, const RayCluster& cluster) {
  for (const std::string& name :
       {builders::LeafCertificateName(cluster.name(), apis::ray::kHeadNode),
        builders::LeafCertificateName(cluster.name(), apis::ray::kWorkerNode),
        builders::CaCertificateName(cluster.name())}) {
    const auto certificate = deps_.client->GetIfThere(Certificates(), cluster.ns(), name);
    if (!certificate.ok() || *certificate == nullptr) continue;
    const absl::Time expiry = builders::CertificateExpiry(**certificate);
    if (!apis::meta::IsSet(expiry)) continue;
    const absl::Duration left = expiry - deps_.clock->Now();
    if (left >= kExpiryWarning) continue;
    deps_.events->Emit(object,
                       {apis::ray::kEventWarning, apis::ray::kMtlsCertificateExpiringSoon,
                        apis::ray::kActionReconcile,
                        absl::StrFormat("TLS certificate %s expires in %.1f hours; Ray does not "
                                        "hot-reload certs so a pod restart will be needed after "
                                        "renewal",
                                        name, absl::ToDoubleHours(left))});
  }
}

std::vector<controller::Source> Sources() {
  controller::Source own;
  own.resource = RayClusters();
  own.handler = controller::EnqueueSelf();
  std::vector<controller::Source> sources = {std::move(own)};
  for (const kube::Resource* child : {&Issuers(), &Certificates()}) {
    controller::Source source;
    source.resource = *child;
    source.handler = controller::EnqueueOwner(
        {.group = std::string(apis::ray::kGroup), .kind = std::string(apis::ray::kRayClusterKind)});
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace hekla::ray::controllers::mtls
