#include "pkg/apis/ray/validation_parts.h"

#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "pkg/apis/meta/lookup.h"
#include "pkg/apis/meta/names.h"

namespace hekla::apis::ray {
namespace {

using json::Value;
using meta::FindNamed;

constexpr RayVersion kTokenAuthVersion{2, 52, 0};
constexpr RayVersion kK8sTokenAuthVersion{2, 55, 0};
constexpr absl::string_view kEnvStorageBackend = "STORAGE_BACKEND";

// A volume mount of that name or at that path.
bool HasMount(const Value& mounts, absl::string_view name, absl::string_view path) {
  if (!mounts.is_array()) return false;
  for (const Value& mount : mounts.as_array()) {
    if (mount.GetString("name") == name || mount.GetString("mountPath") == path) return true;
  }
  return false;
}

RuleError RocksDbError(const RayCluster& cluster, const ValidationGates& gates) {
  const GcsFaultToleranceOptions& options = *cluster.spec.gcs_fault_tolerance;
  if (!gates.embedded_gcs_storage) {
    return "the embedded RocksDB GCS fault tolerance backend (GcsFaultToleranceOptions.Backend: "
           "'rocksdb') requires the GCSFaultToleranceEmbeddedStorage feature gate to be enabled";
  }
  const std::pair<bool, absl::string_view> of_redis[] = {
      {!options.redis_address.empty(), "RedisAddress"},
      {options.redis_username.has_value(), "RedisUsername"},
      {options.redis_password.has_value(), "RedisPassword"},
      {!options.external_storage_namespace.empty(), "ExternalStorageNamespace"}};
  for (const auto& [set, field] : of_redis) {
    if (!set) continue;
    return absl::StrFormat("cannot set GcsFaultToleranceOptions.%s when backend is 'rocksdb'",
                           field);
  }
  if (options.storage && !options.storage->claim_name.empty() &&
      (options.storage->size || options.storage->storage_class_name ||
       !options.storage->access_modes.empty())) {
    return "GcsFaultToleranceOptions.Storage.ClaimName is mutually exclusive with size, "
           "storageClassName, and accessModes";
  }
  if (HeadHasEnv(cluster, kEnvGcsStorage) || HeadHasEnv(cluster, kEnvGcsStoragePath)) {
    return absl::StrFormat(
        "cannot set `%s` or `%s` env var in head Pod when the embedded GCS FT backend is used - "
        "these are managed by KubeRay",
        kEnvGcsStorage, kEnvGcsStoragePath);
  }
  const Value& pod = cluster.spec.head.pod_template.At("spec");
  const Value* ray = RayContainer(cluster.spec.head.pod_template);
  if (ray != nullptr && HasMount(ray->At("volumeMounts"), kGcsStorageVolume, kGcsStoragePath)) {
    return absl::StrFormat(
        "cannot set a volume mount named \"%s\" or mounted at %s in the head container when the "
        "embedded GCS FT backend is used - it is managed by KubeRay",
        kGcsStorageVolume, kGcsStoragePath);
  }
  if (FindNamed(pod.At("volumes"), kGcsStorageVolume) != nullptr) {
    return absl::StrFormat(
        "cannot set a volume named \"%s\" in the head Pod when the embedded GCS FT backend is used "
        "- it is managed by KubeRay",
        kGcsStorageVolume);
  }
  return std::nullopt;
}

// Rule 7.
RuleError FaultToleranceOptionsError(const RayCluster& cluster, const ValidationGates& gates) {
  constexpr absl::string_view kUse =
      "when GcsFaultToleranceOptions is enabled - use GcsFaultToleranceOptions.";
  if (!cluster.spec.head.ray_start_params.Get("redis-password").empty()) {
    return absl::StrCat("cannot set `redis-password` in rayStartParams ", kUse,
                        "RedisPassword instead");
  }
  if (HeadHasEnv(cluster, kEnvRedisPassword)) {
    return absl::StrCat("cannot set `REDIS_PASSWORD` env var in head Pod ", kUse,
                        "RedisPassword instead");
  }
  if (HeadHasEnv(cluster, kEnvRedisAddress)) {
    return absl::StrCat("cannot set `RAY_REDIS_ADDRESS` env var in head Pod ", kUse,
                        "RedisAddress instead");
  }
  if (!cluster.metadata.annotations.Get(kExternalStorageNamespaceAnnotation).empty()) {
    return absl::StrCat("cannot set `ray.io/external-storage-namespace` annotation ", kUse,
                        "ExternalStorageNamespace instead");
  }
  if (cluster.spec.gcs_fault_tolerance->embedded()) return RocksDbError(cluster, gates);
  if (cluster.spec.gcs_fault_tolerance->storage) {
    return "cannot set GcsFaultToleranceOptions.Storage when backend is 'redis' - it only applies "
           "to the 'rocksdb' backend";
  }
  return std::nullopt;
}

// --- history server

bool Given(const Value& env, absl::string_view name) {
  const Value* entry = FindNamed(env, name);
  return entry != nullptr &&
         (!entry->GetString("value").empty() || entry->At("valueFrom").is_object());
}

// `when`: what asks for them beside the variable that names the backend.
RuleError MissingEnv(const Value& env, absl::string_view when,
                     std::initializer_list<absl::string_view> names) {
  for (absl::string_view name : names) {
    if (Given(env, name)) continue;
    return absl::StrFormat("%s environment variable must be set when %s is %s", name,
                           kEnvStorageBackend, when);
  }
  return std::nullopt;
}

RuleError AzureError(const Value& env) {
  constexpr absl::string_view kMode = "AZURE_STORAGE_AUTH_MODE";
  constexpr absl::string_view kConnection = "AZURE_STORAGE_CONNECTION_STRING";
  constexpr absl::string_view kAccount = "AZURE_STORAGE_ACCOUNT_URL";
  std::string mode;
  if (const Value* entry = FindNamed(env, kMode)) {
    mode = absl::AsciiStrToLower(absl::StripAsciiWhitespace(entry->GetString("value")));
  }
  const std::string when = absl::StrCat("AZUREBLOB and ", kMode, " is ", mode);
  if (mode == "connection_string") return MissingEnv(env, when, {kConnection});
  if (mode == "workload_identity" || mode == "default") return MissingEnv(env, when, {kAccount});
  if (Given(env, kConnection) || Given(env, kAccount)) return std::nullopt;
  return absl::StrFormat("either %s or %s environment variable must be set when %s is AZUREBLOB",
                         kConnection, kAccount, kEnvStorageBackend);
}

RuleError CollectorError(const Value& options) {
  if (options.GetString("image").empty()) {
    return "historyServerOptions.collectorOptions.image must be set";
  }
  const Value& env = options.At("env");
  for (absl::string_view name : {"POD_IP", "FQ_RAY_IP", "RAY_CLUSTER_NAME", "RAY_CLUSTER_NAMESPACE",
                                 "RAY_ROLE", "OWNER_KIND", "OWNER_NAME", "EVENTS_PORT"}) {
    if (FindNamed(env, name) != nullptr) {
      return absl::StrFormat(
          "historyServerOptions.collectorOptions.env must not contain %s: it is managed by KubeRay "
          "and injected automatically into the collector container",
          name);
    }
  }
  const Value* storage = FindNamed(env, kEnvStorageBackend);
  if (storage == nullptr || storage->GetString("value").empty()) {
    return absl::StrFormat(
        "%s environment variable must be set with a literal string value in "
        "historyServerOptions.collectorOptions.env",
        kEnvStorageBackend);
  }
  const std::string backend = absl::AsciiStrToUpper(storage->GetString("value"));
  if (backend == "GCS") return MissingEnv(env, backend, {"GCS_BUCKET"});
  if (backend == "S3") return MissingEnv(env, backend, {"S3_REGION"});
  if (backend == "AZUREBLOB") return AzureError(env);
  if (backend == "ALIYUNOSS") {
    return MissingEnv(env, backend, {"OSS_BUCKET", "OSS_ENDPOINT", "OSS_REGION"});
  }
  return std::nullopt;
}

// `owner`: "head" or "worker group w".
RuleError CollectorNameError(absl::string_view owner, const Value& pod_template) {
  const Value* containers = pod_template.FindPath({"spec", "containers"});
  if (containers == nullptr || FindNamed(*containers, kCollectorContainer) == nullptr) {
    return std::nullopt;
  }
  return absl::StrFormat(
      "%s pod template must not define a container with name '%s' when history server collector "
      "options are enabled",
      owner, kCollectorContainer);
}

// --- network policy

RuleError RulesError(absl::string_view where, absl::string_view mode,
                     const NetworkPolicyRules& rules) {
  if (mode == "DenyAllEgress" && rules.ingress_rules.size() > 0) {
    return absl::StrFormat(
        "%s.ingressRules cannot be set when mode is \"%s\" (ingress is not restricted)", where,
        mode);
  }
  if (mode == "DenyAllIngress" && rules.egress_rules.size() > 0) {
    return absl::StrFormat(
        "%s.egressRules cannot be set when mode is \"%s\" (egress is not restricted)", where, mode);
  }
  return std::nullopt;
}

bool HasGroup(const RayCluster& cluster, absl::string_view name) {
  for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
    if (group.group_name == name) return true;
  }
  return false;
}

// --- TLS

// Where variables and mounts are looked for, and whose configuration the operator manages.
struct TlsPlace {
  std::string env;
  std::string mounts;
  absl::string_view managed = "TLS configuration";
};

RuleError TlsConflict(const TlsPlace& place, const Value& env, const Value& mounts) {
  for (absl::string_view name : {kEnvUseTls, kEnvTlsCert, kEnvTlsKey, kEnvTlsCa}) {
    if (FindNamed(env, name) == nullptr) continue;
    return absl::StrFormat(
        "cannot set %s environment variable in %s when tlsOptions is set - the operator manages %s "
        "automatically",
        name, place.env, place.managed);
  }
  if (!mounts.is_array()) return std::nullopt;
  for (const Value& mount : mounts.as_array()) {
    const bool named = mount.GetString("name") == kTlsVolume;
    if (!named && mount.GetString("mountPath") != kTlsPath) continue;
    return absl::StrFormat(
        "cannot use volume mount %s \"%s\" in %s when tlsOptions is set - the operator manages TLS "
        "configuration automatically",
        named ? "named" : "at path", named ? kTlsVolume : kTlsPath, place.mounts);
  }
  return std::nullopt;
}

}  // namespace

RuleError FaultToleranceError(const RayCluster& cluster, const ValidationGates& gates) {
  if (!cluster.metadata.annotations.Get(kFtEnabledAnnotation).empty() &&
      cluster.spec.gcs_fault_tolerance) {
    return "ray.io/ft-enabled annotation and GcsFaultToleranceOptions are both set. Please use "
           "only GcsFaultToleranceOptions to configure GCS fault tolerance";
  }
  if (!GcsFaultToleranceEnabled(cluster)) {
    if (!HeadHasEnv(cluster, kEnvRedisAddress)) return std::nullopt;
    return "RAY_REDIS_ADDRESS is set which implicitly enables GCS fault tolerance, but "
           "GcsFaultToleranceOptions is not set. Please set GcsFaultToleranceOptions to enable GCS "
           "fault tolerance";
  }
  if (!cluster.spec.gcs_fault_tolerance) return std::nullopt;
  return FaultToleranceOptionsError(cluster, gates);
}

RuleError HistoryServerError(const RayCluster& cluster, const ValidationGates& gates) {
  if (!cluster.spec.history_server) return std::nullopt;
  if (!gates.history_server) return "RayClusterHistoryServer feature gate is not enabled";
  const Value& options = cluster.spec.history_server->collector_options;
  if (options.is_null()) return "historyServerOptions.collectorOptions must be set";
  if (RuleError e = CollectorError(options)) return e;
  if (RuleError e = CollectorNameError("head", cluster.spec.head.pod_template)) return e;
  for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
    if (RuleError e = CollectorNameError(absl::StrCat("worker group ", group.group_name),
                                         group.pod_template)) {
      return e;
    }
  }
  return std::nullopt;
}

RuleError AuthError(const RayCluster& cluster) {
  if (!cluster.spec.auth_options) return std::nullopt;
  const AuthOptions& auth = *cluster.spec.auth_options;
  if (auth.mode != "token") {
    if (!auth.enable_k8s_token_auth) return std::nullopt;
    return "authOptions.enableK8sTokenAuth is enabled but authOptions.mode not set to 'token'";
  }
  const std::string& text = cluster.spec.ray_version;
  if (text.empty()) {
    return "authOptions.mode is 'token' but RayVersion was not specified. Ray version 2.52.0 or "
           "later is required";
  }
  const std::optional<RayVersion> version = ParseRayVersion(text);
  if (!version) {
    return absl::StrFormat("authOptions.mode is 'token' but RayVersion format is invalid: %s, %s",
                           text, RayVersionProblem(text));
  }
  if (*version < kTokenAuthVersion) {
    return absl::StrFormat("authOptions.mode is 'token' but minimum Ray version is 2.52.0, got %s",
                           text);
  }
  if (!auth.enable_k8s_token_auth) return std::nullopt;
  if (*version < kK8sTokenAuthVersion) {
    return absl::StrFormat(
        "authOptions.enableK8sTokenAuth is enabled but minimum Ray version is 2.55.0, got %s",
        text);
  }
  if (!auth.secret_name.empty()) {
    return "authOptions.enableK8sTokenAuth is enabled and authOptions.secretName is also set";
  }
  return std::nullopt;
}

RuleError NetworkPolicyError(const RayCluster& cluster, const ValidationGates& gates) {
  if (!cluster.spec.network_policy) return std::nullopt;
  if (!gates.network_policy) {
    return "spec.networkPolicy requires the RayClusterNetworkPolicy feature gate to be enabled";
  }
  const NetworkPolicyOptions& policy = *cluster.spec.network_policy;
  if (policy.head) {
    if (RuleError e = RulesError("networkPolicy.head", policy.mode, *policy.head)) return e;
  }
  if (policy.worker) {
    if (RuleError e = RulesError("networkPolicy.worker", policy.mode, *policy.worker)) return e;
  }
  for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
    const std::vector<std::string> problems = meta::DnsLabelProblems(group.group_name);
    if (problems.empty()) continue;
    return absl::StrFormat(
        "worker group name \"%s\" must be a valid DNS1123 label when networkPolicy is enabled (it "
        "is embedded in the NetworkPolicy name): [%s]",
        group.group_name, absl::StrJoin(problems, " "));
  }
  for (const NetworkPolicyGroupRules& entry : policy.worker_groups) {
    const std::string where =
        absl::StrFormat("networkPolicy.workerGroups[\"%s\"]", entry.group_name);
    if (RuleError e = RulesError(where, policy.mode, entry.rules)) return e;
    if (!HasGroup(cluster, entry.group_name)) {
      return absl::StrCat(where, " does not match any group name in workerGroupSpecs");
    }
  }
  return std::nullopt;
}

RuleError TlsError(const RayCluster& cluster, const ValidationGates& gates) {
  if (!cluster.spec.tls_options) return std::nullopt;
  if (!gates.mtls) return "spec.tlsOptions requires the RayClusterMTLS feature gate to be enabled";
  if (!cluster.spec.tls_options->enabled) return std::nullopt;
  if (const Value* ray = RayContainer(cluster.spec.head.pod_template)) {
    const TlsPlace place{"head Pod", "head Pod"};
    if (RuleError e = TlsConflict(place, ray->At("env"), ray->At("volumeMounts"))) return e;
  }
  for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
    const Value* ray = RayContainer(group.pod_template);
    if (ray == nullptr) continue;
    const std::string where = absl::StrFormat("worker group \"%s\"", group.group_name);
    const TlsPlace place{where, where};
    if (RuleError e = TlsConflict(place, ray->At("env"), ray->At("volumeMounts"))) return e;
  }
  if (!cluster.spec.autoscaler_options) return std::nullopt;
  const Value& options = cluster.spec.autoscaler_options->raw;
  const TlsPlace place{"autoscalerOptions.env", "autoscalerOptions.volumeMounts",
                       "TLS configuration for the autoscaler"};
  return TlsConflict(place, options.At("env"), options.At("volumeMounts"));
}

}  // namespace hekla::apis::ray
