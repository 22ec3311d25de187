#include <cmath>

#include "test/harness/builders.h"
#include "test/reference/generate.h"

namespace hekla::reference {
namespace {

using apis::json::Value;

std::string Milli(double amount) { return std::to_string(std::llround(amount)) + "m"; }
std::string Whole(double amount) { return std::to_string(std::llround(amount)); }

harness::Pairs ToPairs(const Amounts& a, bool cpu, bool memory) {
  harness::Pairs pairs;
  if (cpu) pairs.emplace_back("cpu", Milli(a[kCpu]));
  if (memory) pairs.emplace_back("memory", Whole(a[kMemory]));
  if (a[kGpu] > 0) pairs.emplace_back("nvidia.com/gpu", Whole(a[kGpu] / 1000));
  return pairs;
}

harness::Pairs ToPairs(const StringMap& map) { return {map.begin(), map.end()}; }

Value Expressions(const std::vector<Expression>& term) {
  static constexpr const char* kOps[] = {"In", "NotIn", "Exists", "DoesNotExist"};
  Value list = Value::MakeArray();
  for (const Expression& e : term) {
    Value item = Value::MakeObject({{"key", e.key}, {"operator", kOps[e.op]}});
    for (const std::string& value : e.values) item["values"].Append(value);
    list.Append(item);
  }
  return list;
}

Value LabelSelector(const std::string& key, const std::string& value) {
  return Value::MakeObject({{"matchLabels", harness::MapOf({{key, value}})}});
}

void AddNodeAffinity(const Pod& pod, Value& spec) {
  for (const auto& term : pod.required) {
    spec.Ensure({"affinity", "nodeAffinity",
                 "requiredDuringSchedulingIgnoredDuringExecution"})["nodeSelectorTerms"]
        .Append(Value::MakeObject({{"matchExpressions", Expressions(term)}}));
  }
  for (const Preference& p : pod.preferred) {
    spec.Ensure({"affinity", "nodeAffinity"})["preferredDuringSchedulingIgnoredDuringExecution"]
        .Append(Value::MakeObject(
            {{"weight", p.weight},
             {"preference", Value::MakeObject({{"matchExpressions", Expressions(p.term)}})}}));
  }
}

void AddPodTerms(const Pod& pod, Value& spec) {
  for (const PodTerm& term : pod.terms) {
    const bool anti = term.kind == PodTerm::kAntiAffinity || term.kind == PodTerm::kPreferredAnti;
    const bool preferred = term.kind == PodTerm::kPreferred || term.kind == PodTerm::kPreferredAnti;
    Value wire = Value::MakeObject(
        {{"labelSelector", LabelSelector(term.key, term.value)}, {"topologyKey", term.topology}});
    if (preferred) {
      wire = Value::MakeObject({{"weight", term.weight}, {"podAffinityTerm", wire}});
    }
    spec.Ensure({"affinity",
                 anti
                     ? "podAntiAffinity"
                     : "podAffinity"})[preferred ? "preferredDuringSchedulingIgnoredDuringExecution"
                                                 : "requiredDuringSchedulingIgnoredDuringExecution"]
        .Append(wire);
  }
  for (const Spread& s : pod.spread) {
    spec["topologySpreadConstraints"].Append(
        Value::MakeObject({{"maxSkew", s.max_skew},
                           {"topologyKey", s.topology},
                           {"whenUnsatisfiable", s.hard ? "DoNotSchedule" : "ScheduleAnyway"},
                           {"labelSelector", LabelSelector(s.key, s.value)}}));
  }
}

}  // namespace

Value ToJson(const Node& node) {
  harness::Pairs amounts = ToPairs(node.allocatable, true, true);
  amounts.emplace_back("pods", Whole(node.allocatable[kPods]));
  Value object = harness::BuildNode(node.name, amounts, ToPairs(node.labels));
  Value& spec = object.Ensure({"spec"});
  for (const Taint& taint : node.taints) {
    spec["taints"].Append(
        Value::MakeObject({{"key", taint.key}, {"value", taint.value}, {"effect", taint.effect}}));
  }
  if (node.unschedulable) spec.Set("unschedulable", true);
  return object;
}

Value ToJson(const Queue& queue) {
  Value object = harness::BuildQueue(queue.name, queue.weight, queue.created);
  Value& spec = object.Ensure({"spec"});
  spec.Set("priority", queue.priority);
  Amounts limit = {};
  for (int d : {kCpu, kMemory}) limit[d] = queue.capability[d].value_or(0);
  spec.Set("capability", harness::MapOf(ToPairs(limit, queue.capability[kCpu].has_value(),
                                                queue.capability[kMemory].has_value())));
  spec.Ensure({"guarantee"})
      .Set("resource", harness::MapOf(ToPairs(queue.guarantee, queue.guarantee[kCpu] > 0,
                                              queue.guarantee[kMemory] > 0)));
  object.Ensure({"status"}).Set("state", queue.open ? "Open" : "Closed");
  return object;
}

Value ToJson(const Group& group) {
  Value object = harness::BuildPodGroup({.name = group.name,
                                         .queue = group.queue,
                                         .min_member = group.min_member,
                                         .phase = group.phase,
                                         .created = group.created});
  Value& spec = object.Ensure({"spec"});
  for (const auto& [role, minimum] : group.role_minimums) {
    spec.Ensure({"minTaskMember"}).Set(role, minimum);
  }
  if (group.min_resources.has_value()) {
    spec.Set("minResources", harness::MapOf(ToPairs(*group.min_resources, true, true)));
  }
  if (group.priority != 0) spec.Set("priorityClassName", "p" + std::to_string(group.priority));
  return object;
}

Value ToJson(const Pod& pod) {
  const bool runs = pod.status == Status::kRunning || pod.status == Status::kReleasing;
  Value object =
      harness::BuildPod({.name = pod.name,
                         .node = pod.node,
                         .phase = runs ? "Running" : "Pending",
                         .requests = ToPairs(pod.request, pod.names_cpu, pod.names_memory),
                         .pod_group = pod.group,
                         .labels = ToPairs(pod.labels),
                         .created = pod.created});
  Value& meta = object.Ensure({"metadata"});
  if (!pod.role.empty()) meta["annotations"].Set("volcano.sh/task-spec", pod.role);
  if (pod.status == Status::kReleasing) meta.Set("deletionTimestamp", harness::TimeAt(9999));
  Value& spec = object.Ensure({"spec"});
  spec.Set("priority", pod.priority);
  if (pod.gated) {
    spec["schedulingGates"].Append(Value::MakeObject({{"name", "example.com/hold"}}));
  }
  if (!pod.selector.empty()) spec.Set("nodeSelector", harness::MapOf(ToPairs(pod.selector)));
  for (const Toleration& t : pod.tolerations) {
    Value wire = Value::MakeObject({{"operator", t.exists ? "Exists" : "Equal"}});
    if (!t.key.empty()) wire.Set("key", t.key);
    if (!t.value.empty()) wire.Set("value", t.value);
    if (!t.effect.empty()) wire.Set("effect", t.effect);
    spec["tolerations"].Append(wire);
  }
  if (pod.host_port != 0) {
    spec["containers"].as_array()[0]["ports"].Append(Value::MakeObject(
        {{"containerPort", 80}, {"hostPort", pod.host_port}, {"protocol", "TCP"}}));
  }
  AddNodeAffinity(pod, spec);
  AddPodTerms(pod, spec);
  return object;
}

}  // namespace hekla::reference
