#include "pkg/plugins/common/testing/random_pods.h"

#include "absl/strings/str_cat.h"

namespace hekla::plugins::testing {

using model::NodeId;
using model::TaskId;
using model::TaskStatus;
using Effect = model::Taint::Effect;

RandomPods::RandomPods(NodeWorld& world, uint64_t seed) : world_(world), random_(seed) {
  for (const char* name : {"ns0", "ns1", "ns2"}) {
    world_.Namespace(name, Chance(50) ? Pairs{{"team", Value("t", 2)}} : Pairs{});
  }
}

std::string RandomPods::Value(const char* prefix, int below) {
  return absl::StrCat(prefix, Pick(below));
}

void RandomPods::MakeNode(const std::string& name) {
  Pairs labels;
  if (Chance(85)) labels.emplace_back("topology.kubernetes.io/zone", Value("z", 3));
  if (Chance(60)) labels.emplace_back("rack", Value("r", 4));
  if (Chance(60)) labels.emplace_back("disk", Value("d", 2));
  if (Chance(40)) labels.emplace_back("cores", absl::StrCat(Pick(12)));
  world_.Node(name, labels, [&](model::NodeSpec& spec) {
    if (Chance(20)) spec.taints.push_back(world_.T("k0", Value("v", 2), Effect::kNoSchedule));
    if (Chance(10)) spec.taints.push_back(world_.T("k1", "v0", Effect::kNoExecute));
    if (Chance(20)) spec.taints.push_back(world_.T("k2", "v0", Effect::kPreferNoSchedule));
    if (Chance(10)) spec.taints.push_back(world_.T("k3", "v0", Effect::kPreferNoSchedule));
    if (Chance(50)) {
      spec.images = {{world_.S("app:1"), (int64_t{100} << 20) * (1 + Pick(2))},
                     {world_.S(Value("img", 3)), int64_t{900} << 20}};
    }
    spec.unschedulable = Chance(8);
    spec.allocatable.Set(model::kPods, 3 + Pick(8));
    spec.allocatable.Set(model::kCpu, 1000 * (1 + Pick(16)));
    spec.allocatable.Set(model::kMemory, (int64_t{1} << 30) * (1 + Pick(64)));
  });
}

void RandomPods::AddNodes(int count) {
  for (int i = 0; i < count; ++i) {
    node_names_.push_back(absl::StrCat("n", nodes_made_++));
    MakeNode(node_names_.back());
  }
}

model::Selector RandomPods::RandomSelector() {
  model::Selector selector;
  if (Chance(4)) {
    selector.nothing = true;
    return selector;
  }
  if (Chance(75)) {
    std::vector<std::string> values = {Value("a", 3)};
    if (Chance(20)) values = {"a0", "a1"};
    selector.requirements.push_back(world_.Req("app", model::SelectorOp::kIn, values));
  }
  if (Chance(25)) {
    selector.requirements.push_back(world_.Req(
        "tier", Chance(50) ? model::SelectorOp::kExists : model::SelectorOp::kDoesNotExist, {}));
  }
  if (Chance(15)) {
    selector.requirements.push_back(world_.Req("app", model::SelectorOp::kNotIn, {"a2"}));
  }
  return selector;
}

model::PodTerm RandomPods::RandomTerm() {
  model::PodTerm term;
  term.selector = RandomSelector();
  if (Chance(40)) term.namespaces = {world_.S(Value("ns", 3))};
  if (Chance(20)) {
    term.has_namespace_selector = true;
    if (Chance(70)) term.namespace_selector = world_.Sel({{"team", Value("t", 2)}});
  }
  const char* keys[] = {"topology.kubernetes.io/zone", "rack", "kubernetes.io/hostname"};
  term.topology_key = world_.S(keys[Pick(3)]);
  term.weight = 1 + Pick(50);
  return term;
}

void RandomPods::AddConstraints(model::PodTemplate& pod) {
  if (Chance(20)) pod.node_selector = world_.L({{"disk", Value("d", 2)}});
  if (Chance(15)) {
    pod.has_required_affinity = true;
    for (int i = Pick(3); i >= 0; --i) {
      model::NodeTerm term;
      if (Chance(60)) {
        term.expressions.push_back(world_.Req("rack", model::SelectorOp::kIn, {"r0", "r1"}));
      }
      if (Chance(40)) {
        term.expressions.push_back(world_.Req("cores", model::SelectorOp::kGt, {}, Pick(10)));
      }
      if (Chance(30)) {
        term.expressions.push_back(world_.Req("disk", model::SelectorOp::kNotIn, {"d1"}));
      }
      pod.required_affinity.push_back(term);
    }
  }
  for (int i = Chance(30) ? 1 + Pick(2) : 0; i > 0; --i) {
    model::NodeTerm term;
    term.expressions.push_back(world_.Req("rack", model::SelectorOp::kIn, {Value("r", 4)}));
    term.weight = 1 + Pick(100);
    pod.preferred_affinity.push_back(term);
  }
  if (Chance(40)) {
    model::Toleration t;
    t.key = world_.S(Value("k", 4));
    t.exists = Chance(50);
    if (!t.exists) t.value = world_.S(Value("v", 2));
    if (Chance(30)) t.effect = Chance(50) ? Effect::kNoSchedule : Effect::kPreferNoSchedule;
    pod.tolerations.push_back(t);
  }
  if (Chance(15)) {
    pod.host_ports.push_back({world_.S(Chance(50) ? "0.0.0.0" : "10.0.0.1"),
                              world_.S(Chance(80) ? "TCP" : "UDP"), 8080 + Pick(2)});
  }
  if (Chance(12)) pod.affinity.push_back(RandomTerm());
  if (Chance(4)) pod.affinity.push_back(RandomTerm());
  if (Chance(15)) pod.anti_affinity.push_back(RandomTerm());
  if (Chance(15)) pod.preferred_pod_affinity.push_back(RandomTerm());
  if (Chance(15)) pod.preferred_anti_affinity.push_back(RandomTerm());
  for (int i = Chance(30) ? 1 + Pick(2) : 0; i > 0; --i) {
    model::SpreadConstraint c;
    const char* keys[] = {"topology.kubernetes.io/zone", "rack", "kubernetes.io/hostname"};
    c.topology_key = world_.S(keys[Pick(3)]);
    c.max_skew = 1 + Pick(2);
    c.min_domains = Chance(20) ? 1 + Pick(4) : 1;
    c.hard = Chance(60);
    c.honor_affinity = Chance(70);
    c.honor_taints = Chance(30);
    c.selector = RandomSelector();
    pod.spread.push_back(c);
  }
  if (Chance(30)) pod.images = {world_.S("app:1")};
}

void RandomPods::AddPod() {
  NodeWorld::PodArgs args;
  args.name = absl::StrCat("p", pods_made_++);
  args.namespace_name = Value("ns", 3);
  if (Chance(80)) args.labels.emplace_back("app", Value("a", 3));
  if (Chance(30)) args.labels.emplace_back("tier", Value("t", 2));
  args.labels.emplace_back("index", args.name);
  if (!node_names_.empty() && Chance(50)) {
    args.node = node_names_[static_cast<size_t>(Pick(static_cast<int>(node_names_.size())))];
  }
  args.pod = [&](model::PodTemplate& pod) {
    AddConstraints(pod);
    if (Chance(70)) {
      pod.request.Set(model::kCpu, 100 * Pick(20));
      pod.request.Set(model::kMemory, (int64_t{64} << 20) * Pick(30));
      pod.best_effort = pod.request.IsEmpty();
      if (pod.request[model::kCpu] > 0) pod.nonzero_cpu_milli = pod.request[model::kCpu];
      if (pod.request[model::kMemory] > 0) pod.nonzero_memory_bytes = pod.request[model::kMemory];
    }
  };
  args.task = [&](model::TaskSpec& task) {
    if (!task.node.empty() && Chance(10)) {
      task.deleting = true;
      task.status = TaskStatus::kReleasing;
    }
    const char* kinds[] = {"ReplicaSet", "StatefulSet"};
    if (Chance(30)) {
      task.controller_kind = world_.S(kinds[Pick(2)]);
      task.controller_name = world_.S(Value("owner", 2));
    }
  };
  pod_names_.emplace_back(args.namespace_name, args.name);
  world_.Pod(args);
}

void RandomPods::Churn() {
  const int what = Pick(10);
  if (what < 4 || pod_names_.empty()) return AddPod();
  if (what < 7) {
    const size_t i = random_.Below(pod_names_.size());
    world_.RemovePod(pod_names_[i].second, pod_names_[i].first);
    pod_names_.erase(pod_names_.begin() + static_cast<int64_t>(i));
    return;
  }
  if (what < 9) return MakeNode(node_names_[random_.Below(node_names_.size())]);
  if (Chance(50) || node_names_.size() < 4) return AddNodes(1);
  const size_t i = random_.Below(node_names_.size());
  world_.RemoveNode(node_names_[i]);
  node_names_.erase(node_names_.begin() + static_cast<int64_t>(i));
}

std::vector<TaskId> RandomPods::PendingPods() const {
  const model::TaskTable& tasks = world_.tables().tasks;
  std::vector<TaskId> out;
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    const TaskId task(i);
    if (tasks.live[task] != 0 && tasks.status[task] == TaskStatus::kPending) out.push_back(task);
  }
  return out;
}

std::vector<NodeId> RandomPods::LiveNodes() const { return world_.tables().nodes.leaves; }

void RandomPods::Move() {
  const model::TaskTable& tasks = world_.tables().tasks;
  std::vector<TaskId> placed;
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    const TaskId task(i);
    if (tasks.live[task] != 0 && tasks.status[task] == TaskStatus::kAllocated) {
      placed.push_back(task);
    }
  }
  const std::vector<TaskId> pending = PendingPods();
  if (!placed.empty() && (pending.empty() || Chance(35))) {
    world_.Move(placed[random_.Below(placed.size())], TaskStatus::kPending, NodeId());
  } else if (!pending.empty() && !LiveNodes().empty()) {
    const std::vector<NodeId> nodes = LiveNodes();
    world_.Move(pending[random_.Below(pending.size())], TaskStatus::kAllocated,
                nodes[random_.Below(nodes.size())]);
  }
}

}  // namespace hekla::plugins::testing
