// GCS fault tolerance, token authentication and TLS of Ray pods.
// Source: spec ray-cluster 6.10, 6.11, 6.12.
#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/ray/builders/json_edit.h"
#include "pkg/ray/builders/mtls.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/pod_draft.h"

namespace hekla::ray::builders {

using apis::json::Value;
using apis::ray::GcsFaultToleranceOptions;
using apis::ray::RedisCredential;

namespace {

constexpr absl::string_view kTokenVolume = "ray-token";
constexpr absl::string_view kTokenPath = "/var/run/secrets/ray.io/serviceaccount";

void AddCredential(absl::string_view name, const RedisCredential& credential, Value& container) {
  Value entry = Value::MakeObject({{"name", name}});
  if (!credential.value.empty()) entry.Set("value", credential.value);
  if (credential.value_from.is_object()) entry.Set("valueFrom", credential.value_from);
  AddEnv(container, std::move(entry));
}

void ApplyEmbeddedStorage(PodDraft& draft) {
  Value& ray = draft.ray();
  AddEnv(ray, EnvValue(apis::ray::kEnvGcsStorage, "rocksdb"));
  AddEnv(ray, EnvValue(apis::ray::kEnvGcsStoragePath, apis::ray::kGcsStoragePath));
  AddMount(ray, apis::ray::kGcsStorageVolume, apis::ray::kGcsStoragePath);
  const auto& storage = draft.cluster.spec.gcs_fault_tolerance->storage;
  if (storage && !storage->sub_path.empty()) {
    ray["volumeMounts"].as_array().back().Set("subPath", storage->sub_path);
  }
  draft.spec["volumes"].Append(
      Value::MakeObject({{"name", apis::ray::kGcsStorageVolume},
                         {"persistentVolumeClaim",
                          Value::MakeObject({{"claimName", GcsClaimName(draft.cluster)}})}}));
}

std::string StorageNamespace(const apis::ray::RayCluster& cluster) {
  const auto& options = cluster.spec.gcs_fault_tolerance;
  if (options && !options->external_storage_namespace.empty()) {
    return options->external_storage_namespace;
  }
  const std::string* annotation =
      cluster.metadata.annotations.Find(apis::ray::kExternalStorageNamespaceAnnotation);
  return annotation != nullptr ? *annotation : cluster.metadata.uid;
}

void ApplyRedisOptions(const GcsFaultToleranceOptions& options, PodDraft& draft) {
  Value& ray = draft.ray();
  AddEnv(ray, EnvValue(apis::ray::kEnvRedisAddress, options.redis_address));
  if (options.redis_username) {
    AddCredential(apis::ray::kEnvRedisUsername, *options.redis_username, ray);
    draft.params.Set("redis-username", "$REDIS_USERNAME");
  }
  if (options.redis_password) {
    AddCredential(apis::ray::kEnvRedisPassword, *options.redis_password, ray);
    draft.params.Set("redis-password", "$REDIS_PASSWORD");
  }
}

Value TokenVolume() {
  const Value token =
      Value::MakeObject({{"serviceAccountToken", Value::MakeObject({{"path", "token"}})}});
  return Value::MakeObject(
      {{"name", kTokenVolume},
       {"projected", Value::MakeObject({{"sources", Value::MakeArray({token})}})}});
}

bool K8sTokenAuth(const PodDraft& draft) {
  return apis::ray::TokenAuthEnabled(draft.cluster) &&
         draft.cluster.spec.auth_options->enable_k8s_token_auth;
}

Value* WaitForGcs(PodDraft& draft) {
  Value* list = draft.spec.Find("initContainers");
  return list == nullptr ? nullptr : FindNamed(*list, apis::ray::kWaitGcsContainer);
}

}  // namespace

void ApplyHeadFaultTolerance(PodDraft& draft) {
  if (!apis::ray::GcsFaultToleranceEnabled(draft.cluster)) return;
  if (apis::ray::EmbeddedGcsStorage(draft.cluster)) return ApplyEmbeddedStorage(draft);
  const std::string storage_namespace = StorageNamespace(draft.cluster);
  draft.annotations.Set(apis::ray::kExternalStorageNamespaceAnnotation, storage_namespace);
  AddEnvIfAbsent(draft.ray(), EnvValue(apis::ray::kEnvExternalStorageNamespace, storage_namespace));
  if (const auto& options = draft.cluster.spec.gcs_fault_tolerance) {
    return ApplyRedisOptions(*options, draft);
  }
  if (const std::string* password = draft.params.Find("redis-password")) {
    AddEnvIfAbsent(draft.ray(), EnvValue(apis::ray::kEnvRedisPassword, *password));
  }
}

void ApplyWorkerFaultTolerance(PodDraft& draft) {
  if (!apis::ray::GcsFaultToleranceEnabled(draft.cluster)) return;
  AddEnvIfAbsent(draft.ray(), EnvValue("RAY_gcs_rpc_server_reconnect_timeout_s", "600"));
}

void AddAuthTo(const PodDraft& draft, Value& container) {
  if (!apis::ray::TokenAuthEnabled(draft.cluster)) return;
  AddEnvIfAbsent(container, EnvValue(apis::ray::kEnvAuthMode, "token"));
  if (K8sTokenAuth(draft)) {
    AddEnvIfAbsent(container, EnvValue(apis::ray::kEnvK8sTokenAuth, "true"));
    if (FindNamed(container.At("volumeMounts"), kTokenVolume) == nullptr) {
      AddMount(container, kTokenVolume, kTokenPath, true);
    }
    return;
  }
  const Value key = Value::MakeObject(
      {{"name", AuthSecretName(draft.cluster)}, {"key", apis::ray::kAuthTokenKey}});
  AddEnvIfAbsent(container,
                 Value::MakeObject({{"name", apis::ray::kEnvAuthToken},
                                    {"valueFrom", Value::MakeObject({{"secretKeyRef", key}})}}));
}

void AddTlsTo(const PodDraft& draft, Value& container) {
  if (!apis::ray::TlsEnabled(draft.cluster)) return;
  AddEnv(container, EnvValue(apis::ray::kEnvUseTls, "1"));
  for (const auto& [name, file] :
       {std::pair(apis::ray::kEnvTlsCert, "tls.crt"), std::pair(apis::ray::kEnvTlsKey, "tls.key"),
        std::pair(apis::ray::kEnvTlsCa, "ca.crt")}) {
    AddEnv(container, EnvValue(name, absl::StrCat(apis::ray::kTlsPath, "/", file)));
  }
  AddMount(container, apis::ray::kTlsVolume, apis::ray::kTlsPath, true);
}

void ApplyAuth(PodDraft& draft) {
  if (!apis::ray::TokenAuthEnabled(draft.cluster)) return;
  AddAuthTo(draft, draft.ray());
  if (Value* wait = WaitForGcs(draft)) AddAuthTo(draft, *wait);
  if (K8sTokenAuth(draft)) AddVolumeIfAbsent(TokenVolume(), draft.spec);
}

void ApplyTls(PodDraft& draft) {
  if (!apis::ray::TlsEnabled(draft.cluster)) return;
  const absl::string_view type = draft.head() ? apis::ray::kHeadNode : apis::ray::kWorkerNode;
  AddVolumeIfAbsent(
      Value::MakeObject(
          {{"name", apis::ray::kTlsVolume},
           {"secret",
            Value::MakeObject({{"secretName", LeafSecretName(draft.cluster.name(), type)}})}}),
      draft.spec);
  AddTlsTo(draft, draft.ray());
  if (Value* wait = WaitForGcs(draft)) AddTlsTo(draft, *wait);
  AddWaitForTls(draft);
}

}  // namespace hekla::ray::builders
