#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

// Names that users, Ray itself and other controllers see: labels, annotations, environment, ports,
// event and condition reasons. Equal to upstream's byte for byte.
// Source: spec ray-cluster 2.4, 5, 6, 8, 9.
namespace hekla::apis::ray {

inline constexpr absl::string_view kGroup = "ray.io";
inline constexpr absl::string_view kApiVersion = "ray.io/v1";
inline constexpr absl::string_view kRayClusterKind = "RayCluster";
inline constexpr absl::string_view kRayJobKind = "RayJob";
inline constexpr absl::string_view kRayServiceKind = "RayService";
inline constexpr absl::string_view kOperatorName = "kuberay-operator";
inline constexpr absl::string_view kApplicationName = "kuberay";
// `spec.managedBy` of clusters that this operator looks after.
inline constexpr absl::string_view kManagedByOperator = "ray.io/kuberay-operator";

// Labels.
inline constexpr absl::string_view kClusterLabel = "ray.io/cluster";
inline constexpr absl::string_view kNodeTypeLabel = "ray.io/node-type";
inline constexpr absl::string_view kGroupLabel = "ray.io/group";
inline constexpr absl::string_view kIsRayNodeLabel = "ray.io/is-ray-node";
inline constexpr absl::string_view kIdentifierLabel = "ray.io/identifier";
inline constexpr absl::string_view kApplicationNameLabel = "app.kubernetes.io/name";
inline constexpr absl::string_view kCreatedByLabel = "app.kubernetes.io/created-by";
inline constexpr absl::string_view kComponentLabel = "app.kubernetes.io/component";
inline constexpr absl::string_view kOriginNameLabel = "ray.io/originated-from-cr-name";
inline constexpr absl::string_view kOriginKindLabel = "ray.io/originated-from-crd";
inline constexpr absl::string_view kServeLabel = "ray.io/serve";
inline constexpr absl::string_view kHeadlessServiceLabel = "ray.io/headless-worker-svc";
inline constexpr absl::string_view kReplicaIndexLabel = "ray.io/worker-group-replica-index";
inline constexpr absl::string_view kReplicaNameLabel = "ray.io/worker-group-replica-name";
inline constexpr absl::string_view kHostIndexLabel = "ray.io/replica-host-index";
inline constexpr absl::string_view kJobSubmissionModeLabel = "ray.io/job-submission-mode";
inline constexpr absl::string_view kPriorityClassLabel = "ray.io/priority-class-name";
inline constexpr absl::string_view kGangSchedulingLabel = "ray.io/gang-scheduling-enabled";

// Values of kNodeTypeLabel and of kGroupLabel on the head pod.
inline constexpr absl::string_view kHeadNode = "head";
inline constexpr absl::string_view kWorkerNode = "worker";
inline constexpr absl::string_view kRedisCleanupNode = "redis-cleanup";
inline constexpr absl::string_view kHeadGroup = "headgroup";

// Annotations.
inline constexpr absl::string_view kFtEnabledAnnotation = "ray.io/ft-enabled";
inline constexpr absl::string_view kExternalStorageNamespaceAnnotation =
    "ray.io/external-storage-namespace";
inline constexpr absl::string_view kFtDeletionTimeoutAnnotation = "ray.io/gcs-ft-deletion-timeout";
inline constexpr absl::string_view kOverwriteCommandAnnotation = "ray.io/overwrite-container-cmd";
inline constexpr absl::string_view kEnableServeServiceAnnotation = "ray.io/enable-serve-service";
inline constexpr absl::string_view kDisableHeadRestartAnnotation =
    "ray.io/disable-provisioned-head-restart";
inline constexpr absl::string_view kRecreateHashAnnotation =
    "ray.io/upgrade-strategy-recreate-hash";
inline constexpr absl::string_view kOperatorVersionAnnotation = "ray.io/kuberay-version";
inline constexpr absl::string_view kIngressClassAnnotation = "kubernetes.io/ingress.class";

inline constexpr absl::string_view kRedisCleanupFinalizer = "ray.io/gcs-ft-redis-cleanup-finalizer";

// Ports of a head whose Ray container declares none, and others.
inline constexpr int32_t kClientPort = 10001;
inline constexpr int32_t kGcsPort = 6379;
inline constexpr int32_t kDashboardPort = 8265;
inline constexpr int32_t kMetricsPort = 8080;
inline constexpr int32_t kServePort = 8000;
inline constexpr int32_t kDashboardAgentPort = 52365;
inline constexpr int32_t kCollectorEventsPort = 8084;
inline constexpr absl::string_view kClientPortName = "client";
inline constexpr absl::string_view kGcsPortName = "gcs-server";
inline constexpr absl::string_view kDashboardPortName = "dashboard";
inline constexpr absl::string_view kMetricsPortName = "metrics";
inline constexpr absl::string_view kServePortName = "serve";

// Longest accepted object names.
inline constexpr int kMaxRayClusterName = 53;
inline constexpr int kMaxRayServiceName = 47;
inline constexpr int kMaxRayJobName = 47;
inline constexpr int kMaxRayCronJobName = 36;

// Environment.
inline constexpr absl::string_view kEnvFqRayIp = "FQ_RAY_IP";
inline constexpr absl::string_view kEnvRayIp = "RAY_IP";
inline constexpr absl::string_view kEnvRayPort = "RAY_PORT";
inline constexpr absl::string_view kEnvRayAddress = "RAY_ADDRESS";
inline constexpr absl::string_view kEnvRedisAddress = "RAY_REDIS_ADDRESS";
inline constexpr absl::string_view kEnvRedisUsername = "REDIS_USERNAME";
inline constexpr absl::string_view kEnvRedisPassword = "REDIS_PASSWORD";
inline constexpr absl::string_view kEnvExternalStorageNamespace = "RAY_external_storage_namespace";
inline constexpr absl::string_view kEnvGcsStorage = "RAY_gcs_storage";
inline constexpr absl::string_view kEnvGcsStoragePath = "RAY_gcs_storage_path";
inline constexpr absl::string_view kEnvAutoscalerV2 = "RAY_enable_autoscaler_v2";
inline constexpr absl::string_view kEnvAutoscalerCommand = "KUBERAY_GEN_AUTOSCALER_START_CMD";
inline constexpr absl::string_view kEnvRayStartCommand = "KUBERAY_GEN_RAY_START_CMD";
inline constexpr absl::string_view kEnvAuthMode = "RAY_AUTH_MODE";
inline constexpr absl::string_view kEnvAuthToken = "RAY_AUTH_TOKEN";
inline constexpr absl::string_view kEnvK8sTokenAuth = "RAY_ENABLE_K8S_TOKEN_AUTH";
inline constexpr absl::string_view kEnvUseTls = "RAY_USE_TLS";
inline constexpr absl::string_view kEnvTlsCert = "RAY_TLS_SERVER_CERT";
inline constexpr absl::string_view kEnvTlsKey = "RAY_TLS_SERVER_KEY";
inline constexpr absl::string_view kEnvTlsCa = "RAY_TLS_CA_CERT";

// Containers, volumes, mount paths, keys.
inline constexpr absl::string_view kAutoscalerContainer = "autoscaler";
inline constexpr absl::string_view kCollectorContainer = "ray-history-collector";
inline constexpr absl::string_view kWaitGcsContainer = "wait-gcs-ready";
inline constexpr absl::string_view kWaitTlsContainer = "wait-for-tls-ip-san";
inline constexpr absl::string_view kGcsStorageVolume = "gcs-storage";
inline constexpr absl::string_view kGcsStoragePath = "/data/gcs";
inline constexpr absl::string_view kTlsVolume = "ray-tls";
inline constexpr absl::string_view kTlsPath = "/etc/ray/tls";
inline constexpr absl::string_view kAuthTokenKey = "auth_token";

// `status.state`.
inline constexpr absl::string_view kStateReady = "ready";
inline constexpr absl::string_view kStateSuspended = "suspended";

// Condition types and reasons.
inline constexpr absl::string_view kHeadPodReady = "HeadPodReady";
inline constexpr absl::string_view kProvisioned = "RayClusterProvisioned";
inline constexpr absl::string_view kReplicaFailure = "ReplicaFailure";
inline constexpr absl::string_view kSuspending = "RayClusterSuspending";
inline constexpr absl::string_view kSuspended = "RayClusterSuspended";
inline constexpr absl::string_view kAllPodsRunningFirstTime = "AllPodRunningAndReadyFirstTime";
inline constexpr absl::string_view kPodsProvisioning = "RayClusterPodsProvisioning";
inline constexpr absl::string_view kHeadPodNotFound = "HeadPodNotFound";
inline constexpr absl::string_view kHeadPodRunningAndReady = "HeadPodRunningAndReady";
inline constexpr absl::string_view kUnknownReason = "Unknown";

// Event reasons that validation gives. Those of the controllers stand in event_reasons.h.
inline constexpr absl::string_view kInvalidMetadata = "InvalidRayClusterMetadata";
inline constexpr absl::string_view kInvalidSpec = "InvalidRayClusterSpec";
inline constexpr absl::string_view kInvalidStatus = "InvalidRayClusterStatus";

}  // namespace hekla::apis::ray
