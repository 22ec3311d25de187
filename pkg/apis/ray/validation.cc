#include "pkg/apis/ray/validation.h"

#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "pkg/apis/meta/names.h"
#include "pkg/apis/ray/validation_parts.h"

namespace hekla::apis::ray {
namespace {

using json::Value;

constexpr RayVersion kPriorityVersion{2, 56, 0};

// Rule 2: resources in one place only.
RuleError ResourcesError(absl::string_view group, const meta::StringMap& params,
                         const meta::StringMap& resources) {
  if (resources.empty()) return std::nullopt;
  for (absl::string_view key : {"num-cpus", "num-gpus", "memory", "resources"}) {
    if (!params.Get(key).empty()) {
      return absl::StrFormat(
          "resource fields should not be set in both rayStartParams and Resources for %s group; "
          "please use only one",
          group);
    }
  }
  return std::nullopt;
}

// Rule 3: labels have their own field and follow the syntax of pod labels.
RuleError LabelsError(absl::string_view group, const meta::StringMap& params,
                      const meta::StringMap& labels) {
  if (params.Has("labels")) {
    return absl::StrFormat(
        "rayStartParams['labels'] is not supported for %s group; please use the top-level Labels "
        "field instead",
        group);
  }
  std::vector<std::string> problems;
  for (const auto& [key, value] : labels) {
    for (const std::string& p : meta::QualifiedNameProblems(key)) {
      problems.push_back(
          absl::StrFormat("invalid label key for %s group: '%s', error: %s", group, key, p));
    }
    for (const std::string& p : meta::LabelValueProblems(value)) {
      problems.push_back(absl::StrFormat(
          "invalid label value for key '%s' in %s group: '%s', error: %s", key, group, value, p));
    }
  }
  if (problems.empty()) return std::nullopt;
  return absl::StrJoin(problems, "; ");
}

RuleError ReplicaBoundsError(const RayCluster& cluster, const WorkerGroupSpec& group) {
  if (!cluster.spec.enable_in_tree_autoscaling && (!group.min_replicas || !group.max_replicas)) {
    return absl::StrFormat(
        "worker group %s must set both minReplicas and maxReplicas when autoscaling is disabled",
        group.group_name);
  }
  const int32_t min = group.min_replicas.value_or(0);
  const int32_t max = group.max_replicas.value_or(INT32_MAX);
  if (min < 0) {
    return absl::StrFormat("worker group %s has negative minReplicas %d", group.group_name, min);
  }
  if (max < 0) {
    return absl::StrFormat("worker group %s has negative maxReplicas %d", group.group_name, max);
  }
  if (min > max) {
    return absl::StrFormat("worker group %s has minReplicas %d greater than maxReplicas %d",
                           group.group_name, min, max);
  }
  return std::nullopt;
}

RuleError IdleTimeoutError(const RayCluster& cluster, const WorkerGroupSpec& group) {
  if (!group.idle_timeout_seconds) return std::nullopt;
  if (*group.idle_timeout_seconds < 0) {
    return absl::StrFormat("worker group %s: idleTimeoutSeconds must be non-negative, got %d",
                           group.group_name, *group.idle_timeout_seconds);
  }
  if (AutoscalerV2Enabled(cluster)) return std::nullopt;
  return absl::StrFormat(
      "worker group %s: idleTimeoutSeconds is set, but autoscaler v2 is not enabled. Please set "
      ".spec.autoscalerOptions.version to 'v2' (or set RAY_enable_autoscaler_v2 environment "
      "variable to 'true' in the head pod if using KubeRay < 1.4.0)",
      group.group_name);
}

RuleError PriorityError(const RayCluster& cluster, const WorkerGroupSpec& group) {
  if (group.priority.value_or(0) == 0) return std::nullopt;
  const std::string& text = cluster.spec.ray_version;
  if (text.empty()) {
    return absl::StrFormat(
        "worker group %s: priority is set, but RayVersion was not specified. Ray version 2.56.0 or "
        "later is required",
        group.group_name);
  }
  const std::optional<RayVersion> version = ParseRayVersion(text);
  if (!version) {
    return absl::StrFormat(
        "worker group %s: priority is set, but RayVersion format is invalid: %s, %s",
        group.group_name, text, RayVersionProblem(text));
  }
  if (*version < kPriorityVersion) {
    return absl::StrFormat(
        "worker group %s: priority is set, but minimum Ray version is 2.56.0, got %s",
        group.group_name, text);
  }
  if (AutoscalerV2Enabled(cluster)) return std::nullopt;
  return absl::StrFormat(
      "worker group %s: priority is set to %d, but autoscaler v2 is not enabled. Priority is only "
      "supported with autoscaler v2 enabled",
      group.group_name, *group.priority);
}

RuleError WorkerGroupError(const RayCluster& cluster, const WorkerGroupSpec& group) {
  if (RayContainer(group.pod_template) == nullptr) {
    return "workerGroupSpec should have at least one container";
  }
  if (RuleError e = ReplicaBoundsError(cluster, group)) return e;
  if (RuleError e = ResourcesError(group.group_name, group.ray_start_params, group.resources)) {
    return e;
  }
  if (RuleError e = LabelsError(group.group_name, group.ray_start_params, group.labels)) return e;
  if (RuleError e = IdleTimeoutError(cluster, group)) return e;
  return PriorityError(cluster, group);
}

// Rules 1 to 4.
RuleError GroupsError(const RayCluster& cluster) {
  const HeadGroupSpec& head = cluster.spec.head;
  if (RayContainer(head.pod_template) == nullptr) {
    return "headGroupSpec should have at least one container";
  }
  if (RuleError e = ResourcesError("Head", head.ray_start_params, head.resources)) return e;
  if (RuleError e = LabelsError("Head", head.ray_start_params, head.labels)) return e;
  for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
    if (RuleError e = WorkerGroupError(cluster, group)) return e;
  }
  return std::nullopt;
}

// Rule 8: always, with fault tolerance or without.
RuleError RedisUsernameError(const RayCluster& cluster) {
  if (cluster.spec.head.ray_start_params.Get("redis-username").empty() &&
      !HeadHasEnv(cluster, kEnvRedisUsername)) {
    return std::nullopt;
  }
  return "cannot set redis username in rayStartParams or environment variables - use "
         "GcsFaultToleranceOptions.RedisUsername instead";
}

bool RestartsNever(const Value& pod_template) {
  const Value* policy = pod_template.FindPath({"spec", "restartPolicy"});
  if (policy == nullptr || !policy->is_string()) return true;
  return policy->as_string().empty() || policy->as_string() == "Never";
}

// Rules 9 to 11.
RuleError AutoscalingError(const RayCluster& cluster, const ValidationGates& gates) {
  const bool autoscaling = cluster.spec.enable_in_tree_autoscaling;
  const Value* env = FindRayContainerEnv(cluster.spec.head.pod_template, kEnvAutoscalerV2);
  if (!gates.ray_job_deletion_policy) {
    for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
      if (!group.suspended()) continue;
      return absl::StrFormat(
          "worker group %s can be suspended only when the RayJobDeletionPolicy feature gate is "
          "enabled",
          group.group_name);
    }
  }
  if (!autoscaling) {
    const absl::string_view value = env == nullptr ? "" : env->GetString("value");
    if (value != "1" && value != "true") return std::nullopt;
    return absl::StrFormat(
        "environment variable RAY_enable_autoscaler_v2 cannot be set to '%s' when "
        "enableInTreeAutoscaling is false. Please set enableInTreeAutoscaling: true to use "
        "autoscaler v2",
        value);
  }
  for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
    if (group.suspended()) {
      return absl::StrFormat("worker group %s cannot be suspended with Autoscaler enabled",
                             group.group_name);
    }
  }
  if (!cluster.spec.autoscaler_options || cluster.spec.autoscaler_options->version.empty()) {
    return std::nullopt;
  }
  if (env != nullptr) {
    return "both .spec.autoscalerOptions.version and head Pod env var RAY_enable_autoscaler_v2 are "
           "set, please only use the former";
  }
  if (!AutoscalerVersionIs(cluster, "v2")) return std::nullopt;
  if (!RestartsNever(cluster.spec.head.pod_template)) {
    return "restartPolicy for head Pod should be Never or unset when using autoscaler V2";
  }
  for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
    if (!RestartsNever(group.pod_template)) {
      return absl::StrFormat(
          "restartPolicy for worker group %s should be Never or unset when using autoscaler V2",
          group.group_name);
    }
  }
  return std::nullopt;
}

// Rules 12 and 13.
RuleError AutoscalerOptionsError(const RayCluster& cluster) {
  if (!cluster.spec.autoscaler_options) return std::nullopt;
  const AutoscalerOptions& options = *cluster.spec.autoscaler_options;
  if (options.idle_timeout_seconds.value_or(0) < 0) {
    return absl::StrFormat("autoscalerOptions.idleTimeoutSeconds must be non-negative, got %d",
                           *options.idle_timeout_seconds);
  }
  const Value& env = options.raw.At("env");
  if (!env.is_array()) return std::nullopt;
  for (const Value& entry : env.as_array()) {
    if (entry.GetString("name") == kEnvAutoscalerCommand) {
      return absl::StrFormat(
          "autoscalerOptions.env must not contain %s: it is managed by KubeRay and injected "
          "automatically into the autoscaler container",
          kEnvAutoscalerCommand);
    }
  }
  return std::nullopt;
}

Finding MakeFinding(absl::string_view reason, std::string note) {
  return Finding{reason, std::move(note)};
}

std::string Located(absl::string_view start, const RayCluster& cluster, absl::string_view end) {
  return absl::StrCat(start, " ", cluster.ns(), "/", cluster.name(), end);
}

}  // namespace

bool HeadHasEnv(const RayCluster& cluster, absl::string_view name) {
  return FindRayContainerEnv(cluster.spec.head.pod_template, name) != nullptr;
}

bool AutoscalerV2Enabled(const RayCluster& cluster) {
  if (cluster.spec.autoscaler_options && cluster.spec.autoscaler_options->version == "v2") {
    return true;
  }
  const Value* env = FindRayContainerEnv(cluster.spec.head.pod_template, kEnvAutoscalerV2);
  if (env == nullptr) return false;
  const absl::string_view value = env->GetString("value");
  return value == "1" || value == "true";
}

std::optional<std::string> MetadataError(const meta::ObjectMeta& metadata) {
  if (metadata.name.size() > kMaxRayClusterName) {
    return absl::StrFormat("RayCluster name should be no more than %d characters",
                           kMaxRayClusterName);
  }
  const std::vector<std::string> problems = meta::Dns1035LabelProblems(metadata.name);
  if (problems.empty()) return std::nullopt;
  return absl::StrFormat("RayCluster name should be a valid DNS1035 label: [%s]",
                         absl::StrJoin(problems, " "));
}

std::optional<std::string> SpecError(const RayCluster& cluster, const ValidationGates& gates) {
  if (RuleError e = GroupsError(cluster)) return e;
  if (RuleError e = FaultToleranceError(cluster, gates)) return e;
  if (RuleError e = RedisUsernameError(cluster)) return e;
  if (RuleError e = AutoscalingError(cluster, gates)) return e;
  if (RuleError e = AutoscalerOptionsError(cluster)) return e;
  if (RuleError e = HistoryServerError(cluster, gates)) return e;
  if (RuleError e = AuthError(cluster)) return e;
  if (RuleError e = NetworkPolicyError(cluster, gates)) return e;
  return TlsError(cluster, gates);
}

std::optional<std::string> UpgradeStrategyError(const RayCluster& cluster) {
  const std::optional<std::string>& type = cluster.spec.upgrade_strategy_type;
  if (!type) return std::nullopt;
  if (*type != "Recreate" && *type != "None") {
    return absl::StrFormat(
        "The RayCluster spec is invalid: Spec.UpgradeStrategy.Type value %s is invalid, valid "
        "options are Recreate or None",
        *type);
  }
  const absl::string_view creator = CreatorKind(cluster);
  if (creator == kRayClusterKind) return std::nullopt;
  return absl::StrFormat("upgradeStrategy cannot be set when RayCluster is created by %s", creator);
}

std::optional<std::string> StatusError(const RayClusterStatus& status) {
  if (!IsConditionTrue(status, kSuspending) || !IsConditionTrue(status, kSuspended)) {
    return std::nullopt;
  }
  return absl::StrFormat(
      "invalid RayCluster State: rayv1.%s and rayv1.%s conditions should not be both true",
      kSuspending, kSuspended);
}

std::optional<std::string> RestartPolicyWarning(const RayCluster& cluster) {
  if (!AutoscalerVersionIs(cluster, "v1")) return std::nullopt;
  std::vector<absl::string_view> groups;
  for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
    if (!RestartsNever(group.pod_template)) groups.push_back(group.group_name);
  }
  if (groups.empty()) return std::nullopt;
  return absl::StrFormat(
      "restartPolicy for worker groups [%s] should be Never or unset when using autoscaler V1",
      absl::StrJoin(groups, " "));
}

ValidationResult ValidateRayCluster(const RayCluster& cluster, const ValidationGates& gates,
                                    bool cert_manager_present) {
  ValidationResult result;
  if (const RuleError e = MetadataError(cluster.metadata)) {
    result.failure = MakeFinding(kInvalidMetadata, Located("The RayCluster metadata is invalid",
                                                           cluster, absl::StrCat(": ", *e)));
    return result;
  }
  if (const RuleError e = SpecError(cluster, gates)) {
    result.failure = MakeFinding(
        kInvalidSpec, Located("The RayCluster spec is invalid", cluster, absl::StrCat(": ", *e)));
    return result;
  }
  if (const RuleError e = RestartPolicyWarning(cluster)) {
    result.warning = MakeFinding(
        kInvalidSpec, Located("RayCluster spec warning", cluster, absl::StrCat(": ", *e)));
  }
  if (TlsEnabled(cluster) && !cert_manager_present) {
    result.failure = MakeFinding(
        kInvalidSpec,
        Located("The RayCluster spec is invalid", cluster,
                ": TLS is enabled but cert-manager was not found when the operator started"));
    return result;
  }
  if (const RuleError e = UpgradeStrategyError(cluster)) {
    result.failure = MakeFinding(kInvalidSpec, Located("The RayCluster UpgradeStrategy is invalid",
                                                       cluster, absl::StrCat(": ", *e)));
    return result;
  }
  if (const RuleError e = StatusError(cluster.status)) {
    result.failure = MakeFinding(kInvalidStatus, Located("The RayCluster status is invalid",
                                                         cluster, absl::StrCat(", ", *e)));
    result.retry = true;
  }
  return result;
}

}  // namespace hekla::apis::ray
