#include "pkg/ray/controllers/common/options.h"

namespace hekla::ray::controllers {

ClusterOptions MakeClusterOptions(const OperatorConfig& config, const FeatureGates& gates,
                                  const OperatorEnvironment& environment,
                                  const ServerFeatures& server) {
  ClusterOptions out;
  out.build.cluster_domain = environment.ClusterDomain();
  out.build.inject_init_container = environment.InitContainerInjection();
  out.build.inject_probes = environment.ProbesInjection();
  out.build.head_cluster_ip_service = environment.HeadClusterIpService();
  out.build.deterministic_head_name = environment.DeterministicHeadPodName();
  out.build.login_shell = environment.LoginShell();
  out.build.multi_host_indexing = gates.Enabled(Feature::kRayMultiHostIndexing);
  out.build.history_server = gates.Enabled(Feature::kRayClusterHistoryServer);
  out.build.head_sidecars = config.head_sidecar_containers;
  out.build.worker_sidecars = config.worker_sidecar_containers;
  out.build.default_envs = config.default_container_envs;
  out.build.default_pod_annotations = config.default_pod_annotations;
  out.build.default_pod_labels = config.default_pod_labels;
  out.gates.ray_job_deletion_policy = gates.Enabled(Feature::kRayJobDeletionPolicy);
  out.gates.network_policy = gates.Enabled(Feature::kRayClusterNetworkPolicy);
  out.gates.embedded_gcs_storage = gates.Enabled(Feature::kGcsFaultToleranceEmbeddedStorage);
  out.gates.mtls = gates.Enabled(Feature::kRayClusterMtls);
  out.gates.history_server = gates.Enabled(Feature::kRayClusterHistoryServer);
  out.status_conditions = gates.Enabled(Feature::kRayClusterStatusConditions);
  out.cert_manager_present = server.cert_manager;
  out.routes = server.openshift && !environment.UseIngressOnOpenShift();
  out.random_pod_delete = environment.RandomPodDelete();
  out.redis_cleanup = environment.RedisCleanup();
  out.periodic = environment.DefaultRequeue();
  return out;
}

}  // namespace hekla::ray::controllers
