#include "pkg/apis/ray/raycluster.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "pkg/apis/meta/lookup.h"

namespace hekla::apis::ray {
namespace {

using json::Value;
using meta::Reader;

// A member kept as JSON. Another kind than `kind` is a problem, as for a typed member.
void ReadRaw(const Reader& parent, absl::string_view key, Value::Kind kind, Value& out) {
  const Value& member = parent.value().At(key);
  if (member.is_null()) return;
  if (member.kind() != kind) {
    parent.Fail(key, kind == Value::Kind::kArray ? "expected array" : "expected object");
    return;
  }
  out = member;
}

void ReadText(const Reader& parent, absl::string_view key, std::optional<std::string>& out) {
  if (parent.value().At(key).is_null()) return;
  parent.String(key, out.emplace());
}

void ReadHead(const Reader& head, HeadGroupSpec& out) {
  ReadRaw(head, "template", Value::Kind::kObject, out.pod_template);
  head.Map("rayStartParams", out.ray_start_params);
  ReadRaw(head, "headService", Value::Kind::kObject, out.head_service);
  head.Bool("enableIngress", out.enable_ingress);
  ReadRaw(head, "ingressOptions", Value::Kind::kObject, out.ingress_options);
  head.Map("resources", out.resources);
  head.Map("labels", out.labels);
  head.String("serviceType", out.service_type);
}

void ReadWorkerGroup(const Reader& group, WorkerGroupSpec& out) {
  group.String("groupName", out.group_name);
  group.Int("replicas", out.replicas);
  group.Int("minReplicas", out.min_replicas);
  group.Int("maxReplicas", out.max_replicas);
  group.Int("numOfHosts", out.num_of_hosts);
  group.Int("idleTimeoutSeconds", out.idle_timeout_seconds);
  group.Int("priority", out.priority);
  group.Map("resources", out.resources);
  group.Map("labels", out.labels);
  group.Map("rayStartParams", out.ray_start_params);
  ReadRaw(group, "template", Value::Kind::kObject, out.pod_template);
  group.Object("scaleStrategy", [&](Reader& strategy) {
    strategy.Strings("workersToDelete", out.workers_to_delete);
  });
  group.Bool("suspend", out.suspend);
}

void ReadCredential(const Reader& parent, absl::string_view key,
                    std::optional<RedisCredential>& out) {
  parent.Object(key, [&](Reader& credential) {
    credential.String("value", out.emplace().value);
    ReadRaw(credential, "valueFrom", Value::Kind::kObject, out->value_from);
  });
}

void ReadGcsStorage(const Reader& storage, GcsStorageOptions& out) {
  storage.String("claimName", out.claim_name);
  const Value& size = storage.value().At("size");
  if (size.is_number()) {
    out.size = json::Dump(size);
  } else {
    ReadText(storage, "size", out.size);
  }
  ReadText(storage, "storageClassName", out.storage_class_name);
  storage.Strings("accessModes", out.access_modes);
  storage.String("subPath", out.sub_path);
  storage.String("deletionPolicy", out.deletion_policy);
}

void ReadFaultTolerance(const Reader& options, GcsFaultToleranceOptions& out) {
  options.String("backend", out.backend);
  options.String("redisAddress", out.redis_address);
  ReadCredential(options, "redisUsername", out.redis_username);
  ReadCredential(options, "redisPassword", out.redis_password);
  options.String("externalStorageNamespace", out.external_storage_namespace);
  options.Object("storage",
                 [&](Reader& storage) { ReadGcsStorage(storage, out.storage.emplace()); });
}

void ReadRules(const Reader& rules, NetworkPolicyRules& out) {
  ReadRaw(rules, "ingressRules", Value::Kind::kArray, out.ingress_rules);
  ReadRaw(rules, "egressRules", Value::Kind::kArray, out.egress_rules);
}

void ReadNetworkPolicy(const Reader& policy, NetworkPolicyOptions& out) {
  policy.String("mode", out.mode);
  policy.Object("head", [&](Reader& rules) { ReadRules(rules, out.head.emplace()); });
  policy.Object("worker", [&](Reader& rules) { ReadRules(rules, out.worker.emplace()); });
  policy.List("workerGroups", [&](Reader& group) {
    NetworkPolicyGroupRules& entry = out.worker_groups.emplace_back();
    group.String("groupName", entry.group_name);
    ReadRules(group, entry.rules);
  });
}

void ReadOptions(const Reader& spec, RayClusterSpec& out) {
  spec.Object("autoscalerOptions", [&](Reader& options) {
    AutoscalerOptions& autoscaler = out.autoscaler_options.emplace();
    options.String("version", autoscaler.version);
    options.Int("idleTimeoutSeconds", autoscaler.idle_timeout_seconds);
    autoscaler.raw = options.value();
  });
  spec.Object("upgradeStrategy", [&](Reader& strategy) {
    out.has_upgrade_strategy = true;
    ReadText(strategy, "type", out.upgrade_strategy_type);
  });
  spec.Object("authOptions", [&](Reader& options) {
    AuthOptions& auth = out.auth_options.emplace();
    options.String("mode", auth.mode);
    options.String("secretName", auth.secret_name);
    options.Bool("enableK8sTokenAuth", auth.enable_k8s_token_auth);
  });
  spec.Object("gcsFaultToleranceOptions", [&](Reader& options) {
    ReadFaultTolerance(options, out.gcs_fault_tolerance.emplace());
  });
  spec.Object("historyServerOptions", [&](Reader& options) {
    ReadRaw(options, "collectorOptions", Value::Kind::kObject,
            out.history_server.emplace().collector_options);
  });
  spec.Object("networkPolicy",
              [&](Reader& policy) { ReadNetworkPolicy(policy, out.network_policy.emplace()); });
  spec.Object("tlsOptions",
              [&](Reader& options) { options.Bool("enabled", out.tls_options.emplace().enabled); });
}

void ReadSpec(const Reader& spec, RayClusterSpec& out) {
  spec.Object("headGroupSpec", [&](Reader& head) { ReadHead(head, out.head); });
  spec.List("workerGroupSpecs",
            [&](Reader& group) { ReadWorkerGroup(group, out.worker_groups.emplace_back()); });
  spec.String("rayVersion", out.ray_version);
  spec.Bool("suspend", out.suspend);
  ReadText(spec, "managedBy", out.managed_by);
  spec.Bool("enableInTreeAutoscaling", out.enable_in_tree_autoscaling);
  spec.Map("headServiceAnnotations", out.head_service_annotations);
  ReadOptions(spec, out);
}

void ReadStatus(const Reader& status, RayClusterStatus& out) {
  status.String("state", out.state);
  status.String("reason", out.reason);
  meta::ReadConditions(status, "conditions", out.conditions);
  status.Int("readyWorkerReplicas", out.ready_worker_replicas);
  status.Int("availableWorkerReplicas", out.available_worker_replicas);
  status.Int("desiredWorkerReplicas", out.desired_worker_replicas);
  status.Int("minWorkerReplicas", out.min_worker_replicas);
  status.Int("maxWorkerReplicas", out.max_worker_replicas);
  status.Amount("desiredCPU", out.desired_cpu);
  status.Amount("desiredMemory", out.desired_memory);
  status.Amount("desiredGPU", out.desired_gpu);
  status.Amount("desiredTPU", out.desired_tpu);
  status.Map("endpoints", out.endpoints);
  status.Object("head", [&](Reader& head) {
    head.String("podIP", out.head.pod_ip);
    head.String("podName", out.head.pod_name);
    head.String("serviceIP", out.head.service_ip);
    head.String("serviceName", out.head.service_name);
  });
  status.Time("lastUpdateTime", out.last_update_time);
  status.Object("stateTransitionTimes", [&](Reader& times) {
    for (const json::Member& m : times.value().as_object()) {
      absl::Time time = meta::NoTime();
      times.Time(m.key, time);
      out.state_transition_times.emplace_back(m.key, time);
    }
    std::sort(out.state_transition_times.begin(), out.state_transition_times.end());
  });
  status.Int("observedGeneration", out.observed_generation);
}

void SetCount(Value& object, absl::string_view key, int64_t count) {
  if (count == 0) {
    object.Remove(key);
  } else {
    object.Set(key, count);
  }
}

void WriteConditions(const std::vector<meta::Condition>& conditions, Value& status) {
  const Value old = status.At("conditions");
  status.Remove("conditions");
  for (const meta::Condition& c : conditions) {
    Value item = Value::MakeObject();
    if (old.is_array()) {
      for (const Value& candidate : old.as_array()) {
        if (candidate.GetString("type") == c.type) item = candidate;
      }
    }
    item.Set("type", c.type);
    item.Set("status", c.status);
    item.Set("reason", c.reason);
    item.Set("message", c.message);
    item.Set("lastTransitionTime", meta::TimeToString(c.last_transition_time));
    status["conditions"].Append(std::move(item));
  }
}

bool SameConditions(const std::vector<meta::Condition>& a, const std::vector<meta::Condition>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const meta::Condition& x, const meta::Condition& y) {
                      return x.type == y.type && x.status == y.status && x.reason == y.reason &&
                             x.message == y.message &&
                             x.last_transition_time == y.last_transition_time;
                    });
}

}  // namespace

absl::StatusOr<RayCluster> DecodeRayCluster(const Value& value) {
  RayCluster cluster;
  const Reader root(value);
  meta::ReadObjectMeta(root, cluster.metadata);
  root.Object("metadata",
              [&](Reader& metadata) { metadata.Strings("finalizers", cluster.finalizers); });
  root.Object("spec", [&](Reader& spec) { ReadSpec(spec, cluster.spec); });
  root.Object("status", [&](Reader& status) { ReadStatus(status, cluster.status); });
  if (!root.status().ok()) return root.status();
  return cluster;
}

void WriteRayClusterStatus(const RayClusterStatus& status, Value& cluster) {
  Value& out = cluster.Ensure({"status"});
  meta::SetOrRemove(out, "state", status.state);
  meta::SetOrRemove(out, "reason", status.reason);
  WriteConditions(status.conditions, out);
  SetCount(out, "readyWorkerReplicas", status.ready_worker_replicas);
  SetCount(out, "availableWorkerReplicas", status.available_worker_replicas);
  SetCount(out, "desiredWorkerReplicas", status.desired_worker_replicas);
  SetCount(out, "minWorkerReplicas", status.min_worker_replicas);
  SetCount(out, "maxWorkerReplicas", status.max_worker_replicas);
  out.Set("desiredCPU", status.desired_cpu.ToString());
  out.Set("desiredMemory", status.desired_memory.ToString());
  out.Set("desiredGPU", status.desired_gpu.ToString());
  out.Set("desiredTPU", status.desired_tpu.ToString());
  if (status.endpoints.empty()) {
    out.Remove("endpoints");
  } else {
    out.Set("endpoints", meta::EncodeStringMap(status.endpoints));
  }
  Value head = out.At("head").is_object() ? out.At("head") : Value::MakeObject();
  meta::SetOrRemove(head, "podIP", status.head.pod_ip);
  meta::SetOrRemove(head, "podName", status.head.pod_name);
  meta::SetOrRemove(head, "serviceIP", status.head.service_ip);
  meta::SetOrRemove(head, "serviceName", status.head.service_name);
  out.Set("head", std::move(head));
  meta::SetOrRemove(out, "lastUpdateTime", meta::TimeToString(status.last_update_time));
  out.Remove("stateTransitionTimes");
  for (const auto& [state, time] : status.state_transition_times) {
    out.Ensure({"stateTransitionTimes"}).Set(state, meta::TimeToString(time));
  }
  SetCount(out, "observedGeneration", status.observed_generation);
}

bool StatusNeedsWrite(const RayClusterStatus& a, const RayClusterStatus& b) {
  return a.state != b.state || a.reason != b.reason ||
         a.ready_worker_replicas != b.ready_worker_replicas ||
         a.available_worker_replicas != b.available_worker_replicas ||
         a.desired_worker_replicas != b.desired_worker_replicas ||
         a.min_worker_replicas != b.min_worker_replicas ||
         a.max_worker_replicas != b.max_worker_replicas || !(a.endpoints == b.endpoints) ||
         !(a.head == b.head) || !SameConditions(a.conditions, b.conditions);
}

const meta::Condition* FindCondition(const RayClusterStatus& status, absl::string_view type) {
  for (const meta::Condition& c : status.conditions) {
    if (c.type == type) return &c;
  }
  return nullptr;
}

bool IsConditionTrue(const RayClusterStatus& status, absl::string_view type) {
  const meta::Condition* condition = FindCondition(status, type);
  return condition != nullptr && condition->status == "True";
}

void SetCondition(std::vector<meta::Condition>& conditions, meta::Condition condition) {
  for (meta::Condition& c : conditions) {
    if (c.type != condition.type) continue;
    if (c.status == condition.status) condition.last_transition_time = c.last_transition_time;
    c = std::move(condition);
    return;
  }
  conditions.push_back(std::move(condition));
}

bool RemoveCondition(std::vector<meta::Condition>& conditions, absl::string_view type) {
  return std::erase_if(conditions, [&](const meta::Condition& c) { return c.type == type; }) > 0;
}

absl::string_view CreatorKind(const RayCluster& cluster) {
  const absl::string_view kind = cluster.metadata.labels.Get(kOriginKindLabel);
  for (absl::string_view known : {kRayJobKind, kRayServiceKind}) {
    if (kind == known) return known;
  }
  return kRayClusterKind;
}

bool ManagedByUs(const RayCluster& cluster) {
  return !cluster.spec.managed_by || *cluster.spec.managed_by == kManagedByOperator;
}

bool GcsFaultToleranceEnabled(const RayCluster& cluster) {
  return cluster.spec.gcs_fault_tolerance.has_value() ||
         IsTrueIgnoringCase(cluster.metadata.annotations.Get(kFtEnabledAnnotation));
}

bool EmbeddedGcsStorage(const RayCluster& cluster) {
  return cluster.spec.gcs_fault_tolerance && cluster.spec.gcs_fault_tolerance->embedded();
}

bool TlsEnabled(const RayCluster& cluster) {
  return cluster.spec.tls_options && cluster.spec.tls_options->enabled;
}

bool TokenAuthEnabled(const RayCluster& cluster) {
  return cluster.spec.auth_options && cluster.spec.auth_options->mode == "token";
}

bool AutoscalerVersionIs(const RayCluster& cluster, absl::string_view version) {
  return cluster.spec.enable_in_tree_autoscaling && cluster.spec.autoscaler_options &&
         cluster.spec.autoscaler_options->version == version;
}

bool IsTrueIgnoringCase(absl::string_view text) { return absl::EqualsIgnoreCase(text, "true"); }

const Value* RayContainer(const Value& pod_template) {
  const Value* containers = pod_template.FindPath({"spec", "containers"});
  if (containers == nullptr || !containers->is_array() || containers->size() == 0) return nullptr;
  return &containers->as_array().front();
}

const Value* FindRayContainerEnv(const Value& pod_template, absl::string_view name) {
  const Value* container = RayContainer(pod_template);
  if (container == nullptr) return nullptr;
  return meta::FindNamed(container->At("env"), name);
}

std::optional<RayVersion> ParseRayVersion(absl::string_view text) {
  text = absl::StripLeadingAsciiWhitespace(text);
  if (!text.empty() && text.front() == 'v') text.remove_prefix(1);
  if (text.size() > 1 && text[0] == '0' && absl::ascii_isdigit(text[1])) return std::nullopt;
  int64_t fields[3] = {0, 0, 0};
  int count = 0;
  while (count < 3) {
    size_t digits = 0;
    while (digits < text.size() && absl::ascii_isdigit(text[digits])) ++digits;
    if (digits == 0 || !absl::SimpleAtoi(text.substr(0, digits), &fields[count])) break;
    ++count;
    text.remove_prefix(digits);
    if (text.empty() || text.front() != '.') break;
    text.remove_prefix(1);
  }
  if (count < 2) return std::nullopt;
  return RayVersion{fields[0], fields[1], fields[2]};
}

std::string RayVersionProblem(absl::string_view text) {
  absl::string_view rest = absl::StripLeadingAsciiWhitespace(text);
  if (!rest.empty() && rest.front() == 'v') rest.remove_prefix(1);
  const size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (end == 0) return absl::StrFormat("could not parse \"%s\" as version", text);
  const bool second =
      end + 1 < rest.size() && rest[end] == '.' && absl::ascii_isdigit(rest[end + 1]);
  if (!second) return absl::StrFormat("illegal version string \"%s\"", text);
  return absl::StrFormat("illegal zero-prefixed version component \"%s\" in \"%s\"",
                         rest.substr(0, end), text);
}

}  // namespace hekla::apis::ray
