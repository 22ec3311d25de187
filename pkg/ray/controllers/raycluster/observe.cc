#include "pkg/ray/controllers/raycluster/observe.h"

#include "pkg/controller/object_helpers.h"
#include "pkg/ray/batchscheduler/kubernetes_was/kubernetes_was.h"
#include "pkg/ray/builders/mtls.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/services.h"
#include "pkg/ray/builders/storage.h"
#include "pkg/ray/controllers/common/kinds.h"
#include "pkg/util/status_macros.h"

namespace hekla::ray::controllers::raycluster {
namespace {

using apis::ray::RayCluster;
using controller::Client;
using controller::ObjectPtr;

absl::Status ObserveAutoscaler(Client& client, Observed& out) {
  const std::string& ns = out.cluster.ns();
  HEKLA_ASSIGN_OR_RETURN(out.service_account,
                         client.GetIfThere(ServiceAccounts(), ns,
                                           builders::AutoscalerServiceAccountName(out.cluster)));
  HEKLA_ASSIGN_OR_RETURN(out.role, client.GetIfThere(Roles(), ns, out.cluster.name()));
  HEKLA_ASSIGN_OR_RETURN(out.role_binding,
                         client.GetIfThere(RoleBindings(), ns, out.cluster.name()));
  return absl::OkStatus();
}

absl::Status ObserveEntrance(Client& client, const ClusterOptions& options, Observed& out) {
  const std::string& ns = out.cluster.ns();
  if (!options.routes) {
    HEKLA_ASSIGN_OR_RETURN(
        out.ingress, client.GetIfThere(Ingresses(), ns, builders::IngressName(out.cluster.name())));
    return absl::OkStatus();
  }
  HEKLA_ASSIGN_OR_RETURN(
      out.routes, client.ListBy(Routes(), ns, builders::AllPodsSelector(out.cluster.name())));
  return absl::OkStatus();
}

absl::Status ObserveCertificates(Client& client, Observed& out) {
  out.certificates_ready = true;
  for (absl::string_view type : {apis::ray::kHeadNode, apis::ray::kWorkerNode}) {
    HEKLA_ASSIGN_OR_RETURN(
        const ObjectPtr certificate,
        client.GetIfThere(Certificates(), out.cluster.ns(),
                          builders::LeafCertificateName(out.cluster.name(), type)));
    HEKLA_ASSIGN_OR_RETURN(const ObjectPtr secret,
                           client.GetIfThere(Secrets(), out.cluster.ns(),
                                             builders::LeafSecretName(out.cluster.name(), type)));
    out.certificates_ready = out.certificates_ready && certificate != nullptr &&
                             builders::CertificateReady(*certificate) && secret != nullptr &&
                             builders::TlsSecretComplete(*secret);
  }
  return absl::OkStatus();
}

absl::Status ObservePodGroup(Client& client, const batchscheduler::BatchScheduler* batch,
                             Observed& out) {
  if (batch == nullptr) return absl::OkStatus();
  if (batch->name() == batchscheduler::KubernetesWasScheduler::kName) {
    HEKLA_ASSIGN_OR_RETURN(out.workload,
                           client.GetIfThere(Workloads(), out.cluster.ns(),
                                             batchscheduler::WorkloadName(out.cluster)));
    HEKLA_ASSIGN_OR_RETURN(out.workload_pod_group,
                           client.GetIfThere(WorkloadPodGroups(), out.cluster.ns(),
                                             batchscheduler::WorkloadPodGroupName(out.cluster)));
    return absl::OkStatus();
  }
  out.wanted_pod_group = batch->BuildPodGroup(out.cluster);
  const kube::Resource* kind = PodGroupsOf(batch->name());
  if (kind == nullptr || !out.wanted_pod_group.ok() || !out.wanted_pod_group->has_value()) {
    return absl::OkStatus();
  }
  HEKLA_ASSIGN_OR_RETURN(
      out.pod_group,
      client.GetIfThere(*kind, out.cluster.ns(), controller::NameOf(**out.wanted_pod_group)));
  return absl::OkStatus();
}

absl::Status ObserveChildren(Client& client, const ClusterOptions& options, Observed& out) {
  const RayCluster& cluster = out.cluster;
  const std::string& ns = cluster.ns();
  if (cluster.spec.enable_in_tree_autoscaling) {
    HEKLA_RETURN_IF_ERROR(ObserveAutoscaler(client, out));
  }
  if (cluster.spec.head.enable_ingress) {
    HEKLA_RETURN_IF_ERROR(ObserveEntrance(client, options, out));
  }
  if (builders::NeedsAuthSecret(cluster)) {
    HEKLA_ASSIGN_OR_RETURN(out.auth_secret,
                           client.GetIfThere(Secrets(), ns, builders::AuthSecretName(cluster)));
  }
  if (builders::NeedsHeadlessService(cluster)) {
    HEKLA_ASSIGN_OR_RETURN(
        out.headless_services,
        client.ListBy(Services(), ns, builders::HeadlessServiceSelector(cluster.name())));
  }
  if (builders::WantsServeService(cluster)) {
    HEKLA_ASSIGN_OR_RETURN(
        out.serve_service,
        client.GetIfThere(Services(), ns, builders::ServeServiceName(cluster.name())));
  }
  if (apis::ray::EmbeddedGcsStorage(cluster)) {
    HEKLA_ASSIGN_OR_RETURN(out.gcs_claim,
                           client.GetIfThere(Claims(), ns, builders::GcsClaimName(cluster)));
  }
  if (apis::ray::TlsEnabled(cluster)) HEKLA_RETURN_IF_ERROR(ObserveCertificates(client, out));
  return absl::OkStatus();
}

std::vector<ObjectPtr> WithLabel(const std::vector<ObjectPtr>& pods, absl::string_view key,
                                 absl::string_view value) {
  std::vector<ObjectPtr> out;
  for (const ObjectPtr& pod : pods) {
    if (controller::LabelOf(*pod, key) == value) out.push_back(pod);
  }
  return out;
}

}  // namespace

std::vector<ObjectPtr> Observed::Heads() const {
  return WithLabel(pods, apis::ray::kNodeTypeLabel, apis::ray::kHeadNode);
}

std::vector<ObjectPtr> Observed::GroupPods(absl::string_view group) const {
  return WithLabel(pods, apis::ray::kGroupLabel, group);
}

absl::Status ObserveAgain(Client& client, Observed& observed) {
  const RayCluster& cluster = observed.cluster;
  HEKLA_ASSIGN_OR_RETURN(observed.pods, client.ListBy(Pods(), cluster.ns(),
                                                      builders::AllPodsSelector(cluster.name())));
  HEKLA_ASSIGN_OR_RETURN(
      observed.head_services,
      client.ListBy(Services(), cluster.ns(), builders::HeadServiceSelector(cluster.name())));
  return absl::OkStatus();
}

absl::StatusOr<Observed> Observe(Client& client, const ClusterOptions& options,
                                 const batchscheduler::BatchScheduler* batch, ObjectPtr object,
                                 RayCluster cluster) {
  Observed out;
  out.object = std::move(object);
  out.cluster = std::move(cluster);
  HEKLA_RETURN_IF_ERROR(ObserveAgain(client, out));
  if (out.cluster.metadata.terminating()) {
    HEKLA_ASSIGN_OR_RETURN(out.cleanup_jobs,
                           client.ListBy(Jobs(), out.cluster.ns(),
                                         builders::NodeTypeSelector(out.cluster.name(),
                                                                    apis::ray::kRedisCleanupNode)));
    return out;
  }
  HEKLA_RETURN_IF_ERROR(ObserveChildren(client, options, out));
  HEKLA_RETURN_IF_ERROR(ObservePodGroup(client, batch, out));
  return out;
}

}  // namespace hekla::ray::controllers::raycluster
