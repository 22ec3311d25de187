#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apis/ray/well_known.h"

// ray.io/v1 RayCluster, as far as the operator looks into it. Embedded Kubernetes objects (pod
// templates, services, rules) stay JSON as the server sent them, so that nothing in them is lost.
// Source: spec ray-cluster 2.2, 2.3.
namespace hekla::apis::ray {

struct HeadGroupSpec {
  json::Value pod_template;          // PodTemplateSpec
  meta::StringMap ray_start_params;  // absent = empty
  json::Value head_service;          // a Service; null where not given
  bool enable_ingress = false;
  json::Value ingress_options;  // null where not given
  meta::StringMap resources;
  meta::StringMap labels;
  std::string service_type;
};

struct WorkerGroupSpec {
  std::string group_name;
  std::optional<int32_t> replicas;
  std::optional<int32_t> min_replicas;
  std::optional<int32_t> max_replicas;
  int32_t num_of_hosts = 0;  // absent = 0: the schema's default of 1 is the server's work
  std::optional<int32_t> idle_timeout_seconds;
  std::optional<int32_t> priority;
  meta::StringMap resources;
  meta::StringMap labels;
  meta::StringMap ray_start_params;
  json::Value pod_template;
  std::vector<std::string> workers_to_delete;
  std::optional<bool> suspend;

  bool suspended() const { return suspend.value_or(false); }
  bool multi_host() const { return num_of_hosts > 1; }
};

struct AutoscalerOptions {
  std::string version;  // "" where not given
  std::optional<int32_t> idle_timeout_seconds;
  json::Value raw;  // the object itself: resources, image, env, command, ...
};

struct AuthOptions {
  std::string mode;
  std::string secret_name;
  bool enable_k8s_token_auth = false;
};

struct GcsStorageOptions {
  std::string claim_name;
  std::optional<std::string> size;  // as written
  std::optional<std::string> storage_class_name;
  std::vector<std::string> access_modes;
  std::string sub_path;
  std::string deletion_policy;  // "" = DeleteWithCluster
};

struct RedisCredential {
  std::string value;
  json::Value value_from;  // EnvVarSource; null where not given
};

struct GcsFaultToleranceOptions {
  std::string backend;  // "" = redis
  std::string redis_address;
  std::optional<RedisCredential> redis_username;
  std::optional<RedisCredential> redis_password;
  std::string external_storage_namespace;
  std::optional<GcsStorageOptions> storage;

  bool embedded() const { return backend == "rocksdb"; }
};

struct HistoryServerOptions {
  json::Value collector_options;  // null where not given
};

struct NetworkPolicyRules {
  json::Value ingress_rules;  // array or null
  json::Value egress_rules;
};

struct NetworkPolicyGroupRules {
  std::string group_name;
  NetworkPolicyRules rules;
};

struct NetworkPolicyOptions {
  std::string mode;  // "" = DenyAll
  std::optional<NetworkPolicyRules> head;
  std::optional<NetworkPolicyRules> worker;
  std::vector<NetworkPolicyGroupRules> worker_groups;
};

struct TlsOptions {
  bool enabled = false;
};

struct RayClusterSpec {
  HeadGroupSpec head;
  std::vector<WorkerGroupSpec> worker_groups;
  std::string ray_version;
  std::optional<bool> suspend;
  std::optional<std::string> managed_by;
  bool enable_in_tree_autoscaling = false;
  std::optional<AutoscalerOptions> autoscaler_options;
  meta::StringMap head_service_annotations;
  bool has_upgrade_strategy = false;
  std::optional<std::string> upgrade_strategy_type;
  std::optional<AuthOptions> auth_options;
  std::optional<GcsFaultToleranceOptions> gcs_fault_tolerance;
  std::optional<HistoryServerOptions> history_server;
  std::optional<NetworkPolicyOptions> network_policy;
  std::optional<TlsOptions> tls_options;
};

struct HeadInfo {
  std::string pod_ip;
  std::string pod_name;
  std::string service_ip;
  std::string service_name;
  friend bool operator==(const HeadInfo&, const HeadInfo&) = default;
};

struct RayClusterStatus {
  std::string state;
  std::string reason;
  std::vector<meta::Condition> conditions;
  int32_t ready_worker_replicas = 0;
  int32_t available_worker_replicas = 0;
  int32_t desired_worker_replicas = 0;
  int32_t min_worker_replicas = 0;
  int32_t max_worker_replicas = 0;
  meta::Quantity desired_cpu;
  meta::Quantity desired_memory;
  meta::Quantity desired_gpu;
  meta::Quantity desired_tpu;
  meta::StringMap endpoints;
  HeadInfo head;
  absl::Time last_update_time = meta::NoTime();
  std::vector<std::pair<std::string, absl::Time>> state_transition_times;  // sorted by state
  int64_t observed_generation = 0;
};

struct RayCluster {
  static constexpr absl::string_view kKind = kRayClusterKind;
  static constexpr absl::string_view kApiVersion = ray::kApiVersion;
  meta::ObjectMeta metadata;
  std::vector<std::string> finalizers;
  RayClusterSpec spec;
  RayClusterStatus status;

  const std::string& name() const { return metadata.name; }
  const std::string& ns() const { return metadata.ns; }
};

// Any served version: v1 and v1alpha1 have the same form here.
// Errors: kInvalidArgument with the path of the first wrong field.
absl::StatusOr<RayCluster> DecodeRayCluster(const json::Value& value);

// Replaces `status` of an object as the server sent it: what is empty or zero is left out, the four
// quantities and `head` always stand there. Conditions keep members this struct does not know, by
// type.
void WriteRayClusterStatus(const RayClusterStatus& status, json::Value& cluster);

// Whether `status.state`, `reason`, the counts, `endpoints`, `head` or `conditions` differ: only
// then is a status worth a write (spec 5.6).
bool StatusNeedsWrite(const RayClusterStatus& before, const RayClusterStatus& after);

// The condition of that type; nullptr where there is none.
const meta::Condition* FindCondition(const RayClusterStatus& status, absl::string_view type);
bool IsConditionTrue(const RayClusterStatus& status, absl::string_view type);
// Sets a condition in place or appends it. `lastTransitionTime` moves only when `status` changes.
void SetCondition(std::vector<meta::Condition>& conditions, meta::Condition condition);
// Returns whether there was one.
bool RemoveCondition(std::vector<meta::Condition>& conditions, absl::string_view type);

// The kind whose controller made this cluster: label ray.io/originated-from-crd if it names one of
// the three kinds, else RayCluster.
absl::string_view CreatorKind(const RayCluster& cluster);
// `managedBy` is absent or names this operator.
bool ManagedByUs(const RayCluster& cluster);
// Options given, or annotation ray.io/ft-enabled true in any case of letters.
bool GcsFaultToleranceEnabled(const RayCluster& cluster);
// Options with backend rocksdb.
bool EmbeddedGcsStorage(const RayCluster& cluster);
bool TlsEnabled(const RayCluster& cluster);
// Mode `token`: pods carry credentials.
bool TokenAuthEnabled(const RayCluster& cluster);
// Autoscaling on and `autoscalerOptions.version` equal to `version`.
bool AutoscalerVersionIs(const RayCluster& cluster, absl::string_view version);
// `text` in lower case equals "true".
bool IsTrueIgnoringCase(absl::string_view text);
// Environment entry of that name in container 0 of a pod template; nullptr where there is none.
const json::Value* FindRayContainerEnv(const json::Value& pod_template, absl::string_view name);
// Container 0 of a pod template; nullptr where there is none.
const json::Value* RayContainer(const json::Value& pod_template);

// `v`?, at least two numeric fields separated by dots; what follows is ignored (2.53.0rc1).
struct RayVersion {
  int64_t major = 0;
  int64_t minor = 0;
  int64_t patch = 0;
  friend auto operator<=>(const RayVersion&, const RayVersion&) = default;
};
std::optional<RayVersion> ParseRayVersion(absl::string_view text);
// Why `text` is none, in the words of upstream's parser.
std::string RayVersionProblem(absl::string_view text);

}  // namespace hekla::apis::ray
