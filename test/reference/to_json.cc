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

Value Expressions(const std::vector<Expression>& expressions) {
  static constexpr const char* kOps[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
  Value list = Value::MakeArray();
  for (const Expression& e : expressions) {
    Value item = Value::MakeObject({{"key", e.key}, {"operator", kOps[e.op]}});
    for (const std::string& value : e.values) item["values"].Append(value);
    list.Append(item);
  }
  return list;
}

Value LabelSelector(const std::string& key, const std::string& value) {
  return Value::MakeObject({{"matchLabels", harness::MapOf({{key, value}})}});
}

Value ToJson(const Term& term) {
  Value wire = Value::MakeObject();
  if (!term.labels.empty()) wire.Set("matchExpressions", Expressions(term.labels));
  if (!term.fields.empty()) wire.Set("matchFields", Expressions(term.fields));
  return wire;
}

void AddNodeAffinity(const Pod& pod, Value& spec) {
  for (const Term& term : pod.required) {
    spec.Ensure({"affinity", "nodeAffinity",
                 "requiredDuringSchedulingIgnoredDuringExecution"})["nodeSelectorTerms"]
        .Append(ToJson(term));
  }
  for (const Preference& p : pod.preferred) {
    spec.Ensure({"affinity", "nodeAffinity"})["preferredDuringSchedulingIgnoredDuringExecution"]
        .Append(Value::MakeObject({{"weight", p.weight}, {"preference", ToJson(p.term)}}));
  }
}

void AddPodTerms(const Pod& pod, Value& spec) {
  for (const PodTerm& term : pod.terms) {
    const bool anti = term.kind == PodTerm::kAntiAffinity || term.kind == PodTerm::kPreferredAnti;
    const bool preferred = term.kind == PodTerm::kPreferred || term.kind == PodTerm::kPreferredAnti;
    Value wire = Value::MakeObject(
        {{"labelSelector", LabelSelector(term.key, term.value)}, {"topologyKey", term.topology}});
    for (const std::string& space : term.namespaces) wire["namespaces"].Append(space);
    if (term.namespace_labels.has_value()) {
      Value selector = Value::MakeObject();
      if (!term.namespace_labels->empty()) {
        selector.Set("matchLabels", harness::MapOf(ToPairs(*term.namespace_labels)));
      }
      wire.Set("namespaceSelector", std::move(selector));
    }
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
    Value wire =
        Value::MakeObject({{"maxSkew", s.max_skew},
                           {"topologyKey", s.topology},
                           {"whenUnsatisfiable", s.hard ? "DoNotSchedule" : "ScheduleAnyway"},
                           {"labelSelector", LabelSelector(s.key, s.value)}});
    if (s.min_domains != 1) wire.Set("minDomains", s.min_domains);
    for (const std::string& key : s.label_keys) wire["matchLabelKeys"].Append(key);
    if (!s.honors_affinity) wire.Set("nodeAffinityPolicy", "Ignore");
    if (s.honors_taints) wire.Set("nodeTaintsPolicy", "Honor");
    spec["topologySpreadConstraints"].Append(std::move(wire));
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
  for (int d : {kCpu, kMemory, kGpu}) limit[d] = queue.capability[d].value_or(0);
  spec.Set("capability", harness::MapOf(ToPairs(limit, queue.capability[kCpu].has_value(),
                                                queue.capability[kMemory].has_value())));
  spec.Ensure({"guarantee"})
      .Set("resource", harness::MapOf(ToPairs(queue.guarantee, queue.guarantee[kCpu] > 0,
                                              queue.guarantee[kMemory] > 0)));
  object.Ensure({"status"}).Set("state", queue.open ? "Open" : "Closed");
  return object;
}

Value ToJson(const Group& group) {
  Value object = harness::BuildPodGroup({.namespace_name = group.space,
                                         .name = group.name,
                                         .queue = group.queue,
                                         .min_member = group.min_member,
                                         .phase = group.phase,
                                         .created = group.created});
  object["metadata"].Set("uid", group.name + "." + std::to_string(group.incarnation));
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
      harness::BuildPod({.namespace_name = pod.space,
                         .name = pod.name,
                         .node = pod.node,
                         .phase = runs ? "Running" : "Pending",
                         .requests = ToPairs(pod.request, pod.names_cpu, pod.names_memory),
                         .pod_group = pod.group,
                         .labels = ToPairs(pod.labels),
                         .created = pod.created});
  Value& meta = object.Ensure({"metadata"});
  meta.Set("uid", pod.Uid());
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
  if (pod.host_port.port != 0) {
    Value port = Value::MakeObject({{"containerPort", 80},
                                    {"hostPort", pod.host_port.port},
                                    {"protocol", pod.host_port.udp ? "UDP" : "TCP"}});
    if (!pod.host_port.ip.empty()) port.Set("hostIP", pod.host_port.ip);
    spec["containers"].as_array()[0]["ports"].Append(std::move(port));
  }
  for (const std::string& claim : pod.claims) {
    Value volume = Value::MakeObject({{"name", claim}});
    volume["persistentVolumeClaim"].Set("claimName", claim);
    spec["volumes"].Append(std::move(volume));
  }
  if (pod.foreign) spec.Set("schedulerName", "another");
  AddNodeAffinity(pod, spec);
  AddPodTerms(pod, spec);
  return object;
}

Value ToJson(const Namespace& space) {
  return Value::MakeObject(
      {{"apiVersion", "v1"},
       {"kind", "Namespace"},
       {"metadata", Value::MakeObject({{"name", space.name},
                                       {"uid", space.name},
                                       {"labels", harness::MapOf(ToPairs(space.labels))}})}});
}

Value ToJson(const Service& service) {
  Value object = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Service"}});
  object["metadata"] = Value::MakeObject(
      {{"name", service.name}, {"namespace", service.space}, {"uid", service.name}});
  object["spec"].Set("selector", harness::MapOf({{"app", service.app}}));
  return object;
}

std::vector<Value> ToJson(const Claim& claim) {
  const std::string id = claim.space + "-" + claim.name;
  std::vector<Value> objects(2, Value::MakeObject());
  Value& object = objects[0];
  object = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "PersistentVolumeClaim"}});
  object["metadata"] =
      Value::MakeObject({{"name", claim.name}, {"namespace", claim.space}, {"uid", "claim-" + id}});
  object["spec"].Set("accessModes", Value::MakeArray());
  object["spec"]["accessModes"].Append("ReadWriteMany");
  object.Ensure({"spec", "resources", "requests"}).Set("storage", "1Gi");
  object["spec"].Set("storageClassName", id);
  Value& other = objects[1];
  if (claim.bound) {
    object["metadata"]["annotations"].Set("pv.kubernetes.io/bind-completed", "yes");
    object["spec"].Set("volumeName", id);
    object["status"].Set("phase", "Bound");
    other = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "PersistentVolume"}});
    other["metadata"] = Value::MakeObject({{"name", id}, {"uid", "volume-" + id}});
    if (!claim.zone_label.empty()) {
      other["metadata"]["labels"].Set("topology.kubernetes.io/zone", claim.zone_label);
    }
    other.Ensure({"spec", "capacity"}).Set("storage", "1Gi");
    other["spec"]["accessModes"].Append("ReadWriteMany");
    other["spec"].Set("storageClassName", id);
    other.Ensure({"spec", "claimRef"}) = Value::MakeObject(
        {{"name", claim.name}, {"namespace", claim.space}, {"uid", "claim-" + id}});
    other.Ensure({"spec", "csi"}) =
        Value::MakeObject({{"driver", "csi.example.com"}, {"volumeHandle", id}});
    if (!claim.zones.empty()) {
      const Term term{{{"topology.kubernetes.io/zone", Expression::kIn, claim.zones}}, {}};
      other.Ensure({"spec", "nodeAffinity", "required"})["nodeSelectorTerms"].Append(ToJson(term));
    }
    other["status"].Set("phase", "Bound");
    return objects;
  }
  object["status"].Set("phase", "Pending");
  other = Value::MakeObject({{"apiVersion", "storage.k8s.io/v1"}, {"kind", "StorageClass"}});
  other["metadata"] = Value::MakeObject({{"name", id}, {"uid", "class-" + id}});
  other.Set("provisioner", "csi.example.com");
  other.Set("volumeBindingMode", "WaitForFirstConsumer");
  if (!claim.zones.empty()) {
    Value term = Value::MakeObject({{"key", "topology.kubernetes.io/zone"}});
    for (const std::string& zone : claim.zones) term["values"].Append(zone);
    Value topology = Value::MakeObject();
    topology["matchLabelExpressions"].Append(std::move(term));
    other["allowedTopologies"].Append(std::move(topology));
  }
  return objects;
}

std::optional<Value> VolumeLimit(const Node& node) {
  if (!node.volume_limit.has_value()) return std::nullopt;
  Value object = Value::MakeObject({{"apiVersion", "storage.k8s.io/v1"}, {"kind", "CSINode"}});
  object["metadata"] = Value::MakeObject({{"name", node.name}, {"uid", "csi-" + node.name}});
  Value driver = Value::MakeObject({{"name", "csi.example.com"}, {"nodeID", node.name}});
  driver["allocatable"].Set("count", *node.volume_limit);
  object["spec"]["drivers"].Append(std::move(driver));
  return object;
}

}  // namespace hekla::reference
