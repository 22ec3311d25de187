#include "pkg/ray/builders/network_policy.h"

#include <utility>

#include "absl/strings/match.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/ray/builders/json_edit.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/owner.h"
#include "pkg/ray/builders/start_params.h"

namespace hekla::ray::builders {

using apis::json::Value;
using apis::meta::StringMap;
using apis::ray::NetworkPolicyOptions;
using apis::ray::NetworkPolicyRules;
using apis::ray::RayCluster;
using apis::ray::WorkerGroupSpec;

namespace {

Value MatchLabels(const StringMap& labels) {
  return Value::MakeObject({{"matchLabels", apis::meta::EncodeStringMap(labels)}});
}

Value PodPeer(const StringMap& labels) {
  return Value::MakeArray({Value::MakeObject({{"podSelector", MatchLabels(labels)}})});
}

// The RayJob that owns the cluster and submits to it through a pod of its own; "" without.
std::string SubmittingRayJob(const RayCluster& cluster) {
  if (cluster.metadata.labels.Get(apis::ray::kJobSubmissionModeLabel) != "K8sJobMode") return "";
  const apis::meta::OwnerReference* owner = cluster.metadata.ControllerRef();
  if (owner == nullptr || owner->kind != apis::ray::kRayJobKind ||
      !absl::StartsWith(owner->api_version, "ray.io/")) {
    return "";
  }
  return owner->name;
}

// Lets the pod that submits a RayJob reach the dashboard.
Value SubmitterRule(const RayCluster& cluster, absl::string_view ray_job) {
  StringMap labels;
  labels.Set(apis::ray::kOriginNameLabel, ray_job);
  labels.Set(apis::ray::kOriginKindLabel, apis::ray::kRayJobKind);
  const int32_t port =
      PortParam(cluster.spec.head.ray_start_params, "dashboard-port", apis::ray::kDashboardPort);
  return Value::MakeObject(
      {{"from", PodPeer(labels)},
       {"ports", Value::MakeArray({Value::MakeObject({{"protocol", "TCP"}, {"port", port}})})}});
}

Value BuildPolicy(const RayCluster& cluster, absl::string_view name, absl::string_view group,
                  const StringMap& selector, const NetworkPolicyRules* rules) {
  const NetworkPolicyOptions& options = *cluster.spec.network_policy;
  const bool head = group == apis::ray::kHeadGroup &&
                    selector.Get(apis::ray::kNodeTypeLabel) == apis::ray::kHeadNode;
  Value policy = NewObject("networking.k8s.io/v1", "NetworkPolicy", name, cluster.ns());
  StringMap labels = GroupSelector(cluster.name(), group);
  labels.Set(apis::ray::kApplicationNameLabel, apis::ray::kApplicationName);
  labels.Set(apis::ray::kCreatedByLabel, apis::ray::kOperatorName);
  SetLabels(labels, policy);
  SetController(cluster, policy);
  Value& spec = policy.Ensure({"spec"});
  spec.Set("podSelector", MatchLabels(selector));
  const Value members = PodPeer(AllPodsSelector(cluster.name()));
  Value types = Value::MakeArray();
  if (options.mode != "DenyAllEgress") {
    types.Append("Ingress");
    spec["ingress"].Append(Value::MakeObject({{"from", members}}));
    const std::string ray_job = head ? SubmittingRayJob(cluster) : "";
    if (!ray_job.empty()) spec["ingress"].Append(SubmitterRule(cluster, ray_job));
    if (rules != nullptr) AppendAll(rules->ingress_rules, spec["ingress"]);
  }
  if (options.mode != "DenyAllIngress") {
    types.Append("Egress");
    spec["egress"].Append(Value::MakeObject({{"to", members}}));
    if (rules != nullptr) AppendAll(rules->egress_rules, spec["egress"]);
  }
  spec.Set("policyTypes", std::move(types));
  return policy;
}

const NetworkPolicyRules* RulesOf(const NetworkPolicyOptions& options,
                                  const WorkerGroupSpec& group) {
  for (const apis::ray::NetworkPolicyGroupRules& entry : options.worker_groups) {
    if (entry.group_name == group.group_name) return &entry.rules;
  }
  return options.worker ? &*options.worker : nullptr;
}

// Port protocols as the server fills them in.
Value WithProtocols(Value spec) {
  for (absl::string_view direction : {"ingress", "egress"}) {
    Value* rules = spec.Find(direction);
    if (rules == nullptr || !rules->is_array()) continue;
    for (Value& rule : rules->as_array()) {
      Value* ports = rule.Find("ports");
      if (ports == nullptr || !ports->is_array()) continue;
      for (Value& port : ports->as_array()) {
        if (port.is_object() && port.At("protocol").is_null()) port.Set("protocol", "TCP");
      }
    }
  }
  return spec;
}

}  // namespace

std::vector<Value> BuildNetworkPolicies(const RayCluster& cluster) {
  std::vector<Value> out;
  if (!cluster.spec.network_policy) return out;
  const NetworkPolicyOptions& options = *cluster.spec.network_policy;
  const std::string& name = cluster.name();
  out.push_back(BuildPolicy(cluster, HeadNetworkPolicyName(name), apis::ray::kHeadGroup,
                            NodeTypeSelector(name, apis::ray::kHeadNode),
                            options.head ? &*options.head : nullptr));
  for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
    StringMap selector = NodeTypeSelector(name, apis::ray::kWorkerNode);
    selector.Set(apis::ray::kGroupLabel, group.group_name);
    out.push_back(BuildPolicy(cluster, WorkerNetworkPolicyName(name, group.group_name),
                              group.group_name, selector, RulesOf(options, group)));
  }
  return out;
}

std::optional<Value> UpdatedNetworkPolicy(const Value& live, const Value& wanted) {
  const Value& labels = wanted.At("metadata").At("labels");
  if (WithProtocols(live.At("spec")) == WithProtocols(wanted.At("spec")) &&
      ToStringMap(live.At("metadata").At("labels")) == ToStringMap(labels)) {
    return std::nullopt;
  }
  Value updated = live;
  updated["metadata"].Set("labels", labels);
  updated.Set("spec", wanted.At("spec"));
  return updated;
}

}  // namespace hekla::ray::builders
