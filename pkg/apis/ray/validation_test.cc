#include "pkg/apis/ray/validation.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "pkg/ray/testing/cluster.h"

namespace hekla::apis::ray {
namespace {

using hekla::ray::testing::Cluster;

constexpr ValidationGates kAllGates{.ray_job_deletion_policy = true,
                                    .network_policy = true,
                                    .embedded_gcs_storage = true,
                                    .mtls = true,
                                    .history_server = true};

std::string ErrorOf(const std::string& changes, const ValidationGates& gates = kAllGates) {
  return SpecError(Cluster(changes), gates).value_or("");
}

// Head container with one environment entry.
std::string HeadEnv(const std::string& env, const std::string& more = "") {
  return "spec: {headGroupSpec: {template: {spec: {containers: [{name: h, env: [" + env + "]}]}}}" +
         more + "}";
}

// The worker group with some members more; bounds 0 and 3 where not given.
std::string Group(const std::string& members, const std::string& more = "") {
  std::string group = "groupName: w, template: {spec: {containers: [{name: r}]}}, " + members;
  if (!absl::StrContains(members, "minReplicas")) group += ", minReplicas: 0";
  if (!absl::StrContains(members, "maxReplicas")) group += ", maxReplicas: 3";
  return "spec: {workerGroupSpecs: [{" + group + "}]" + more + "}";
}

struct Row {
  const char* name;
  std::string changes;
  std::string error;  // "" = valid
};

class ValidationRowTest : public ::testing::TestWithParam<Row> {};

TEST_P(ValidationRowTest, GivesTheErrorOfTheFirstBrokenRule) {
  EXPECT_EQ(ErrorOf(GetParam().changes), GetParam().error);
}

std::string RowName(const ::testing::TestParamInfo<Row>& info) { return info.param.name; }

constexpr char kV2[] = ", enableInTreeAutoscaling: true, autoscalerOptions: {version: v2}";

INSTANTIATE_TEST_SUITE_P(
    Groups, ValidationRowTest,
    ::testing::Values(
        Row{"plain", "", ""},
        Row{"head_without_container", "spec: {headGroupSpec: {template: {spec: {containers: []}}}}",
            "headGroupSpec should have at least one container"},
        Row{"head_resources_twice",
            "spec: {headGroupSpec: {resources: {CPU: '1'}, rayStartParams: {num-cpus: '1'}}}",
            "resource fields should not be set in both rayStartParams and Resources for Head "
            "group; please use only one"},
        Row{"head_resources_once", "spec: {headGroupSpec: {resources: {CPU: '1'}}}", ""},
        Row{"empty_param_does_not_count",
            "spec: {headGroupSpec: {resources: {CPU: '1'}, rayStartParams: {num-cpus: ''}}}", ""},
        Row{"head_label_param", "spec: {headGroupSpec: {rayStartParams: {labels: ''}}}",
            "rayStartParams['labels'] is not supported for Head group; please use the top-level "
            "Labels field instead"},
        Row{"group_without_container",
            "spec: {workerGroupSpecs: [{groupName: w, template: {spec: {}}}]}",
            "workerGroupSpec should have at least one container"},
        Row{"group_without_minimum",
            "spec: {workerGroupSpecs: [{groupName: w, maxReplicas: 1, template: {spec: "
            "{containers: [{name: r}]}}}]}",
            "worker group w must set both minReplicas and maxReplicas when autoscaling is "
            "disabled"},
        Row{"group_without_minimum_autoscaled",
            "spec: {enableInTreeAutoscaling: true, workerGroupSpecs: [{groupName: w, maxReplicas: "
            "1, template: {spec: {containers: [{name: r}]}}}]}",
            ""},
        Row{"negative_minimum", Group("minReplicas: -1"),
            "worker group w has negative minReplicas -1"},
        Row{"negative_maximum", Group("maxReplicas: -1"),
            "worker group w has negative maxReplicas -1"},
        Row{"minimum_above_maximum", Group("minReplicas: 4"),
            "worker group w has minReplicas 4 greater than maxReplicas 3"},
        Row{"group_resources_twice", Group("resources: {CPU: '1'}, rayStartParams: {memory: '1'}"),
            "resource fields should not be set in both rayStartParams and Resources for w group; "
            "please use only one"},
        Row{"group_label_param", Group("rayStartParams: {labels: a=b}"),
            "rayStartParams['labels'] is not supported for w group; please use the top-level "
            "Labels field instead"}),
    RowName);

INSTANTIATE_TEST_SUITE_P(
    AutoscalerV2, ValidationRowTest,
    ::testing::Values(
        Row{"idle_timeout_negative", Group("idleTimeoutSeconds: -1", kV2),
            "worker group w: idleTimeoutSeconds must be non-negative, got -1"},
        Row{"idle_timeout_v1",
            Group("idleTimeoutSeconds: 30",
                  ", enableInTreeAutoscaling: true, autoscalerOptions: {version: v1}"),
            "worker group w: idleTimeoutSeconds is set, but autoscaler v2 is not enabled. Please "
            "set .spec.autoscalerOptions.version to 'v2' (or set RAY_enable_autoscaler_v2 "
            "environment variable to 'true' in the head pod if using KubeRay < 1.4.0)"},
        Row{"idle_timeout_v2", Group("idleTimeoutSeconds: 30", kV2), ""},
        Row{"idle_timeout_env",
            HeadEnv("{name: RAY_enable_autoscaler_v2, value: '1'}",
                    ", enableInTreeAutoscaling: true, workerGroupSpecs: [{groupName: w, "
                    "idleTimeoutSeconds: 3, template: {spec: {containers: [{name: r}]}}}]"),
            ""},
        Row{"priority_zero_v1",
            Group("priority: 0",
                  ", enableInTreeAutoscaling: true, autoscalerOptions: {version: v1}"),
            ""},
        Row{"priority_old_ray", Group("priority: 5", kV2 + std::string(", rayVersion: 2.55.9")),
            "worker group w: priority is set, but minimum Ray version is 2.56.0, got 2.55.9"},
        Row{"priority_new_ray", Group("priority: 5", kV2 + std::string(", rayVersion: 2.56.0")),
            ""},
        Row{"priority_without_version", Group("priority: 5", kV2 + std::string(", rayVersion: ''")),
            "worker group w: priority is set, but RayVersion was not specified. Ray version "
            "2.56.0 or later is required"},
        Row{"priority_bad_version",
            Group("priority: 5", kV2 + std::string(", rayVersion: nightly")),
            "worker group w: priority is set, but RayVersion format is invalid: nightly, could not "
            "parse \"nightly\" as version"},
        Row{"priority_v1",
            Group("priority: 5",
                  ", enableInTreeAutoscaling: true, autoscalerOptions: {version: v1}, rayVersion: "
                  "2.56.0"),
            "worker group w: priority is set to 5, but autoscaler v2 is not enabled. Priority is "
            "only supported with autoscaler v2 enabled"},
        Row{"v2_env_without_autoscaling", HeadEnv("{name: RAY_enable_autoscaler_v2, value: '1'}"),
            "environment variable RAY_enable_autoscaler_v2 cannot be set to '1' when "
            "enableInTreeAutoscaling is false. Please set enableInTreeAutoscaling: true to use "
            "autoscaler v2"},
        Row{"v2_env_false", HeadEnv("{name: RAY_enable_autoscaler_v2, value: 'false'}"), ""},
        Row{"suspended_group_autoscaled", Group("suspend: true", ", enableInTreeAutoscaling: true"),
            "worker group w cannot be suspended with Autoscaler enabled"},
        Row{"version_and_env", HeadEnv("{name: RAY_enable_autoscaler_v2, value: 'true'}", kV2),
            "both .spec.autoscalerOptions.version and head Pod env var RAY_enable_autoscaler_v2 "
            "are set, please only use the former"},
        Row{"v2_head_restarts",
            "spec: {headGroupSpec: {template: {spec: {restartPolicy: Always}}}" + std::string(kV2) +
                "}",
            "restartPolicy for head Pod should be Never or unset when using autoscaler V2"},
        Row{"v2_worker_restarts",
            "spec: {workerGroupSpecs: [{groupName: w, template: {spec: {restartPolicy: OnFailure, "
            "containers: [{name: r}]}}}]" +
                std::string(kV2) + "}",
            "restartPolicy for worker group w should be Never or unset when using autoscaler V2"},
        Row{"negative_idle_timeout_of_all", "spec: {autoscalerOptions: {idleTimeoutSeconds: -2}}",
            "autoscalerOptions.idleTimeoutSeconds must be non-negative, got -2"},
        Row{"start_command_env",
            "spec: {autoscalerOptions: {env: [{name: KUBERAY_GEN_AUTOSCALER_START_CMD}]}}",
            "autoscalerOptions.env must not contain KUBERAY_GEN_AUTOSCALER_START_CMD: it is "
            "managed by KubeRay and injected automatically into the autoscaler container"}),
    RowName);

constexpr char kFt[] = ", gcsFaultToleranceOptions: {redisAddress: r}";
constexpr char kRocks[] = ", gcsFaultToleranceOptions: {backend: rocksdb}";

INSTANTIATE_TEST_SUITE_P(
    FaultTolerance, ValidationRowTest,
    ::testing::Values(
        Row{"annotation_and_options",
            "{metadata: {annotations: {ray.io/ft-enabled: 'false'}}, spec: "
            "{gcsFaultToleranceOptions: {redisAddress: r}}}",
            "ray.io/ft-enabled annotation and GcsFaultToleranceOptions are both set. Please use "
            "only GcsFaultToleranceOptions to configure GCS fault tolerance"},
        Row{"redis_env_alone", HeadEnv("{name: RAY_REDIS_ADDRESS, value: r}"),
            "RAY_REDIS_ADDRESS is set which implicitly enables GCS fault tolerance, but "
            "GcsFaultToleranceOptions is not set. Please set GcsFaultToleranceOptions to enable "
            "GCS fault tolerance"},
        Row{"redis_password_param",
            "spec: {headGroupSpec: {rayStartParams: {redis-password: x}}" + std::string(kFt) + "}",
            "cannot set `redis-password` in rayStartParams when GcsFaultToleranceOptions is "
            "enabled - use GcsFaultToleranceOptions.RedisPassword instead"},
        Row{"redis_password_env", HeadEnv("{name: REDIS_PASSWORD}", kFt),
            "cannot set `REDIS_PASSWORD` env var in head Pod when GcsFaultToleranceOptions is "
            "enabled - use GcsFaultToleranceOptions.RedisPassword instead"},
        Row{"redis_address_env", HeadEnv("{name: RAY_REDIS_ADDRESS}", kFt),
            "cannot set `RAY_REDIS_ADDRESS` env var in head Pod when GcsFaultToleranceOptions is "
            "enabled - use GcsFaultToleranceOptions.RedisAddress instead"},
        Row{"storage_namespace_annotation",
            "{metadata: {annotations: {ray.io/external-storage-namespace: store}}, spec: "
            "{gcsFaultToleranceOptions: {redisAddress: r}}}",
            "cannot set `ray.io/external-storage-namespace` annotation when "
            "GcsFaultToleranceOptions is enabled - use "
            "GcsFaultToleranceOptions.ExternalStorageNamespace instead"},
        Row{"redis_with_storage", "spec: {gcsFaultToleranceOptions: {storage: {size: 1Gi}}}",
            "cannot set GcsFaultToleranceOptions.Storage when backend is 'redis' - it only applies "
            "to the 'rocksdb' backend"},
        Row{"rocksdb", "spec: {gcsFaultToleranceOptions: {backend: rocksdb}}", ""},
        Row{"rocksdb_with_redis",
            "spec: {gcsFaultToleranceOptions: {backend: rocksdb, redisAddress: r}}",
            "cannot set GcsFaultToleranceOptions.RedisAddress when backend is 'rocksdb'"},
        Row{"rocksdb_with_redis_user",
            "spec: {gcsFaultToleranceOptions: {backend: rocksdb, redisUsername: {value: u}, "
            "externalStorageNamespace: store}}",
            "cannot set GcsFaultToleranceOptions.RedisUsername when backend is 'rocksdb'"},
        Row{"rocksdb_with_redis_password",
            "spec: {gcsFaultToleranceOptions: {backend: rocksdb, redisPassword: {value: p}}}",
            "cannot set GcsFaultToleranceOptions.RedisPassword when backend is 'rocksdb'"},
        Row{"rocksdb_with_storage_namespace",
            "spec: {gcsFaultToleranceOptions: {backend: rocksdb, externalStorageNamespace: store}}",
            "cannot set GcsFaultToleranceOptions.ExternalStorageNamespace when backend is "
            "'rocksdb'"},
        Row{"rocksdb_claim_and_size",
            "spec: {gcsFaultToleranceOptions: {backend: rocksdb, storage: {claimName: c, size: "
            "1Gi}}}",
            "GcsFaultToleranceOptions.Storage.ClaimName is mutually exclusive with size, "
            "storageClassName, and accessModes"},
        Row{"rocksdb_env", HeadEnv("{name: RAY_gcs_storage_path}", kRocks),
            "cannot set `RAY_gcs_storage` or `RAY_gcs_storage_path` env var in head Pod when the "
            "embedded GCS FT backend is used - these are managed by KubeRay"},
        Row{"rocksdb_mount",
            "spec: {headGroupSpec: {template: {spec: {containers: [{name: h, volumeMounts: [{name: "
            "x, mountPath: /data/gcs}]}]}}}" +
                std::string(kRocks) + "}",
            "cannot set a volume mount named \"gcs-storage\" or mounted at /data/gcs in the head "
            "container when the embedded GCS FT backend is used - it is managed by KubeRay"},
        Row{"rocksdb_volume",
            "spec: {headGroupSpec: {template: {spec: {volumes: [{name: gcs-storage}]}}}" +
                std::string(kRocks) + "}",
            "cannot set a volume named \"gcs-storage\" in the head Pod when the embedded GCS FT "
            "backend is used - it is managed by KubeRay"},
        Row{"redis_username_param", "spec: {headGroupSpec: {rayStartParams: {redis-username: u}}}",
            "cannot set redis username in rayStartParams or environment variables - use "
            "GcsFaultToleranceOptions.RedisUsername instead"},
        Row{"redis_username_env", HeadEnv("{name: REDIS_USERNAME}"),
            "cannot set redis username in rayStartParams or environment variables - use "
            "GcsFaultToleranceOptions.RedisUsername instead"}),
    RowName);

std::string Collector(const std::string& env) {
  return "spec: {historyServerOptions: {collectorOptions: {image: c, env: [" + env + "]}}}";
}

INSTANTIATE_TEST_SUITE_P(
    Options, ValidationRowTest,
    ::testing::Values(
        Row{"collector_missing", "spec: {historyServerOptions: {}}",
            "historyServerOptions.collectorOptions must be set"},
        Row{"collector_without_image", "spec: {historyServerOptions: {collectorOptions: {}}}",
            "historyServerOptions.collectorOptions.image must be set"},
        Row{"collector_reserved_env", Collector("{name: RAY_ROLE, value: x}"),
            "historyServerOptions.collectorOptions.env must not contain RAY_ROLE: it is managed by "
            "KubeRay and injected automatically into the collector container"},
        Row{"collector_without_backend", Collector("{name: STORAGE_BACKEND}"),
            "STORAGE_BACKEND environment variable must be set with a literal string value in "
            "historyServerOptions.collectorOptions.env"},
        Row{"collector_s3_without_region", Collector("{name: STORAGE_BACKEND, value: s3}"),
            "S3_REGION environment variable must be set when STORAGE_BACKEND is S3"},
        Row{"collector_gcs_from_secret",
            Collector("{name: STORAGE_BACKEND, value: gcs}, {name: GCS_BUCKET, valueFrom: "
                      "{secretKeyRef: {name: s, key: k}}}"),
            ""},
        Row{"collector_azure_workload",
            Collector("{name: STORAGE_BACKEND, value: AzureBlob}, {name: AZURE_STORAGE_AUTH_MODE, "
                      "value: ' Workload_Identity '}"),
            "AZURE_STORAGE_ACCOUNT_URL environment variable must be set when STORAGE_BACKEND is "
            "AZUREBLOB and AZURE_STORAGE_AUTH_MODE is workload_identity"},
        Row{"collector_azure_neither", Collector("{name: STORAGE_BACKEND, value: azureblob}"),
            "either AZURE_STORAGE_CONNECTION_STRING or AZURE_STORAGE_ACCOUNT_URL environment "
            "variable must be set when STORAGE_BACKEND is AZUREBLOB"},
        Row{"collector_azure_either",
            Collector("{name: STORAGE_BACKEND, value: azureblob}, {name: "
                      "AZURE_STORAGE_CONNECTION_STRING, value: x}"),
            ""},
        Row{"collector_oss",
            Collector("{name: STORAGE_BACKEND, value: aliyunoss}, {name: OSS_BUCKET, value: b}, "
                      "{name: OSS_ENDPOINT, value: e}"),
            "OSS_REGION environment variable must be set when STORAGE_BACKEND is ALIYUNOSS"},
        Row{"collector_other_backend", Collector("{name: STORAGE_BACKEND, value: tape}"), ""},
        Row{"collector_name_taken",
            "spec: {headGroupSpec: {template: {spec: {containers: [{name: h}, {name: "
            "ray-history-collector}]}}}, historyServerOptions: {collectorOptions: {image: c, env: "
            "[{name: STORAGE_BACKEND, value: x}]}}}",
            "head pod template must not define a container with name 'ray-history-collector' when "
            "history server collector options are enabled"},
        Row{"collector_name_taken_by_worker",
            "spec: {workerGroupSpecs: [{groupName: w, minReplicas: 0, maxReplicas: 3, template: "
            "{spec: {containers: [{name: r}, {name: ray-history-collector}]}}}], "
            "historyServerOptions: {collectorOptions: {image: c, env: [{name: STORAGE_BACKEND, "
            "value: x}]}}}",
            "worker group w pod template must not define a container with name "
            "'ray-history-collector' when history server collector options are enabled"},
        Row{"token_old_ray", "spec: {rayVersion: 2.51.3, authOptions: {mode: token}}",
            "authOptions.mode is 'token' but minimum Ray version is 2.52.0, got 2.51.3"},
        Row{"token_without_version", "spec: {rayVersion: '', authOptions: {mode: token}}",
            "authOptions.mode is 'token' but RayVersion was not specified. Ray version 2.52.0 or "
            "later is required"},
        Row{"token_version_without_minor", "spec: {rayVersion: '3', authOptions: {mode: token}}",
            "authOptions.mode is 'token' but RayVersion format is invalid: 3, illegal version "
            "string \"3\""},
        Row{"token_version_with_zero", "spec: {rayVersion: '02.53', authOptions: {mode: token}}",
            "authOptions.mode is 'token' but RayVersion format is invalid: 02.53, illegal "
            "zero-prefixed version component \"02\" in \"02.53\""},
        Row{"k8s_token_release_candidate",
            "spec: {rayVersion: 2.55.0rc2, authOptions: {mode: token, enableK8sTokenAuth: true}}",
            ""},
        Row{"k8s_token_old_ray",
            "spec: {rayVersion: 2.54.9, authOptions: {mode: token, enableK8sTokenAuth: true}}",
            "authOptions.enableK8sTokenAuth is enabled but minimum Ray version is 2.55.0, got "
            "2.54.9"},
        Row{"k8s_token_with_secret",
            "spec: {rayVersion: 2.55.0, authOptions: {mode: token, enableK8sTokenAuth: true, "
            "secretName: s}}",
            "authOptions.enableK8sTokenAuth is enabled and authOptions.secretName is also set"},
        Row{"k8s_token_without_mode", "spec: {authOptions: {enableK8sTokenAuth: true}}",
            "authOptions.enableK8sTokenAuth is enabled but authOptions.mode not set to 'token'"},
        Row{"empty_auth_options", "spec: {authOptions: {}}", ""},
        Row{"egress_mode_with_ingress_rules",
            "spec: {networkPolicy: {mode: DenyAllEgress, head: {ingressRules: [{}]}}}",
            "networkPolicy.head.ingressRules cannot be set when mode is \"DenyAllEgress\" (ingress "
            "is not restricted)"},
        Row{"ingress_mode_with_egress_rules",
            "spec: {networkPolicy: {mode: DenyAllIngress, worker: {egressRules: [{}]}}}",
            "networkPolicy.worker.egressRules cannot be set when mode is \"DenyAllIngress\" "
            "(egress "
            "is not restricted)"},
        Row{"rules_of_a_group",
            "spec: {networkPolicy: {mode: DenyAllEgress, workerGroups: [{groupName: nope, "
            "ingressRules: [{}]}]}}",
            "networkPolicy.workerGroups[\"nope\"].ingressRules cannot be set when mode is "
            "\"DenyAllEgress\" (ingress is not restricted)"},
        Row{"rules_of_unknown_group", "spec: {networkPolicy: {workerGroups: [{groupName: nope}]}}",
            "networkPolicy.workerGroups[\"nope\"] does not match any group name in "
            "workerGroupSpecs"},
        Row{"tls_disabled", "spec: {tlsOptions: {enabled: false}}", ""},
        Row{"tls_env", HeadEnv("{name: RAY_USE_TLS, value: '0'}", ", tlsOptions: {enabled: true}"),
            "cannot set RAY_USE_TLS environment variable in head Pod when tlsOptions is set - the "
            "operator manages TLS configuration automatically"},
        Row{"tls_mount_of_worker",
            "spec: {tlsOptions: {enabled: true}, workerGroupSpecs: [{groupName: w, minReplicas: 0, "
            "maxReplicas: 3, template: {spec: {containers: [{name: r, volumeMounts: [{name: "
            "ray-tls, mountPath: /x}]}]}}}]}",
            "cannot use volume mount named \"ray-tls\" in worker group \"w\" when tlsOptions is "
            "set "
            "- the operator manages TLS configuration automatically"},
        Row{"tls_env_of_autoscaler",
            "spec: {tlsOptions: {enabled: true}, autoscalerOptions: {env: [{name: "
            "RAY_TLS_CA_CERT}]}}",
            "cannot set RAY_TLS_CA_CERT environment variable in autoscalerOptions.env when "
            "tlsOptions is set - the operator manages TLS configuration for the autoscaler "
            "automatically"},
        Row{"tls_mount_of_autoscaler",
            "spec: {tlsOptions: {enabled: true}, autoscalerOptions: {volumeMounts: [{name: x, "
            "mountPath: /etc/ray/tls}]}}",
            "cannot use volume mount at path \"/etc/ray/tls\" in autoscalerOptions.volumeMounts "
            "when tlsOptions is set - the operator manages TLS configuration automatically"}),
    RowName);

TEST(ValidationTest, OptionsWaitForTheirGates) {
  const ValidationGates none{.ray_job_deletion_policy = false};
  EXPECT_EQ(ErrorOf("spec: {networkPolicy: {}}", none),
            "spec.networkPolicy requires the RayClusterNetworkPolicy feature gate to be enabled");
  EXPECT_EQ(ErrorOf("spec: {historyServerOptions: {}}", none),
            "RayClusterHistoryServer feature gate is not enabled");
  EXPECT_EQ(ErrorOf("spec: {gcsFaultToleranceOptions: {backend: rocksdb}}", none),
            "the embedded RocksDB GCS fault tolerance backend (GcsFaultToleranceOptions.Backend: "
            "'rocksdb') requires the GCSFaultToleranceEmbeddedStorage feature gate to be enabled");
  EXPECT_EQ(ErrorOf(Group("suspend: true"), none),
            "worker group w can be suspended only when the RayJobDeletionPolicy feature gate is "
            "enabled");
  // Quirk: also a cluster that switches TLS off explicitly is refused without the gate.
  EXPECT_EQ(ErrorOf("spec: {tlsOptions: {enabled: false}}", none),
            "spec.tlsOptions requires the RayClusterMTLS feature gate to be enabled");
}

TEST(ValidationTest, QuirkThreeBadLabelsGiveANoteTheServerRefuses) {
  const ValidationResult result = ValidateRayCluster(
      Cluster(Group("labels: {'a b': c, ok: 'bad value!', x/y/z: '1'}")), kAllGates, true);
  EXPECT_NE(result.failure->note.find("invalid label key for w group: 'a b', error: name part"),
            std::string::npos);
  EXPECT_GT(result.failure->note.size(), 1024u);
}

TEST(ValidationTest, NamesAreLabelsOfAtMost53Characters) {
  meta::ObjectMeta metadata;
  metadata.name = std::string(53, 'a');
  EXPECT_EQ(MetadataError(metadata), std::nullopt);
  metadata.name += "a";
  EXPECT_EQ(MetadataError(metadata), "RayCluster name should be no more than 53 characters");
  metadata.name = "1st";
  EXPECT_EQ(MetadataError(metadata)->substr(0, 51),
            "RayCluster name should be a valid DNS1035 label: [a");
}

TEST(ValidationTest, FindingsCarryTheWholeNoteOfTheEvent) {
  const ValidationResult metadata =
      ValidateRayCluster(Cluster("metadata: {name: my.cluster}"), kAllGates, true);
  EXPECT_EQ(metadata.failure->reason, "InvalidRayClusterMetadata");
  EXPECT_EQ(metadata.failure->note.substr(0, 54),
            "The RayCluster metadata is invalid ml/my.cluster: RayC");
  const ValidationResult spec =
      ValidateRayCluster(Cluster(Group("minReplicas: 7")), kAllGates, true);
  EXPECT_EQ(spec.failure->reason, "InvalidRayClusterSpec");
  EXPECT_EQ(
      spec.failure->note,
      "The RayCluster spec is invalid ml/alpha: worker group w has minReplicas 7 greater than "
      "maxReplicas 3");
  EXPECT_FALSE(spec.retry);
}

TEST(ValidationTest, UpgradeStrategyIsForClustersOfTheirOwn) {
  const ValidationResult made = ValidateRayCluster(
      Cluster("{metadata: {labels: {ray.io/originated-from-crd: RayService}}, spec: "
              "{upgradeStrategy: {type: None}}}"),
      kAllGates, true);
  EXPECT_EQ(
      made.failure->note,
      "The RayCluster UpgradeStrategy is invalid ml/alpha: upgradeStrategy cannot be set when "
      "RayCluster is created by RayService");
  EXPECT_EQ(
      UpgradeStrategyError(Cluster("spec: {upgradeStrategy: {type: Roll}}")),
      "The RayCluster spec is invalid: Spec.UpgradeStrategy.Type value Roll is invalid, valid "
      "options are Recreate or None");
  EXPECT_EQ(UpgradeStrategyError(Cluster("spec: {upgradeStrategy: {}}")), std::nullopt);
}

TEST(ValidationTest, WorkersThatRestartUnderAutoscalerV1AreAWarning) {
  const ValidationResult result = ValidateRayCluster(
      Cluster("spec: {enableInTreeAutoscaling: true, autoscalerOptions: {version: v1}, "
              "workerGroupSpecs: [{groupName: a, template: {spec: {restartPolicy: Always, "
              "containers: [{name: r}]}}}, {groupName: b, template: {spec: {restartPolicy: "
              "OnFailure, containers: [{name: r}]}}}]}"),
      kAllGates, true);
  EXPECT_FALSE(result.failure.has_value());
  EXPECT_EQ(result.warning->note,
            "RayCluster spec warning ml/alpha: restartPolicy for worker groups [a b] should be "
            "Never or unset when using autoscaler V1");
}

TEST(ValidationTest, TlsNeedsCertManager) {
  const RayCluster cluster = Cluster("spec: {tlsOptions: {enabled: true}}");
  EXPECT_FALSE(ValidateRayCluster(cluster, kAllGates, true).failure.has_value());
  EXPECT_EQ(ValidateRayCluster(cluster, kAllGates, false).failure->reason, "InvalidRayClusterSpec");
}

TEST(ValidationTest, BothSuspendConditionsAreAnErrorToRetry) {
  RayCluster cluster = Cluster();
  for (absl::string_view type : {kSuspending, kSuspended}) {
    meta::Condition condition;
    condition.type = std::string(type);
    condition.status = "True";
    cluster.status.conditions.push_back(condition);
  }
  const ValidationResult result = ValidateRayCluster(cluster, kAllGates, true);
  EXPECT_EQ(result.failure->reason, "InvalidRayClusterStatus");
  EXPECT_EQ(
      result.failure->note,
      "The RayCluster status is invalid ml/alpha, invalid RayCluster State: "
      "rayv1.RayClusterSuspending and rayv1.RayClusterSuspended conditions should not be both "
      "true");
  EXPECT_TRUE(result.retry);
}

}  // namespace
}  // namespace hekla::apis::ray
