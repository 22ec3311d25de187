#include "test/reference/generate.h"

#include <algorithm>

namespace hekla::reference {
namespace {

constexpr double kGi = 1024.0 * 1024 * 1024;
constexpr char kHostname[] = "kubernetes.io/hostname";
constexpr char kZone[] = "topology.kubernetes.io/zone";

}  // namespace

Node Generator::MakeNode() {
  Node node;
  node.name = "n" + std::to_string(nodes_++);
  node.allocatable = {Pick({2, 4, 8, 16}) * 1000.0, Pick({4, 8, 16, 32}) * kGi,
                      Chance(10) ? 4.0 : 110.0, Chance(25) ? 4000.0 : 0.0};
  node.labels = {{kHostname, node.name}, {"disk", Pick({"ssd", "hdd"})}};
  if (!Chance(8)) node.labels[kZone] = "z" + std::to_string(Below(3));
  if (Chance(12)) node.taints.push_back({"dedicated", "batch", Pick({"NoSchedule", "NoExecute"})});
  if (Chance(12)) node.taints.push_back({"old", "yes", "PreferNoSchedule"});
  node.unschedulable = Chance(5);
  return node;
}

Queue Generator::MakeQueue() {
  Queue queue;
  queue.name = "q" + std::to_string(queues_++);
  queue.weight = 1 + Below(5);
  queue.created = ++clock_;
  if (Chance(15)) queue.priority = Below(3);
  if (Chance(30)) queue.capability[kCpu] = (1 + Below(20)) * 1000.0;
  if (Chance(20)) queue.capability[kMemory] = (1 + Below(40)) * kGi;
  if (Chance(20)) queue.guarantee[kCpu] = (1 + Below(6)) * 1000.0;
  if (Chance(15)) queue.guarantee[kMemory] = (1 + Below(6)) * kGi;
  queue.open = !Chance(8);
  return queue;
}

void Generator::AddConstraints(Pod& pod) {
  const auto app = [&] { return "pg" + std::to_string(std::max(0, groups_ - 1 - Below(3))); };
  const auto topology = [&] { return std::string(Chance(50) ? kZone : kHostname); };
  if (Chance(15)) pod.selector["disk"] = Pick({"ssd", "hdd"});
  if (Chance(12)) {
    pod.required.push_back({{kZone, Pick({Expression::kIn, Expression::kNotIn}), {"z0", "z1"}}});
    if (Chance(40)) pod.required.push_back({{"disk", Expression::kIn, {"ssd"}}});
    if (Chance(20)) pod.required.push_back({{kZone, Expression::kDoesNotExist, {}}});
  }
  if (Chance(15)) {
    pod.preferred.push_back({1 + Below(50), {{"disk", Expression::kIn, {"ssd"}}}});
    pod.preferred.push_back({1 + Below(50), {{kZone, Expression::kExists, {}}}});
  }
  if (Chance(25)) {
    Toleration toleration{"dedicated", "batch", "", false};
    if (Chance(30)) toleration = {"", "", Pick({"", "NoSchedule"}), true};
    pod.tolerations.push_back(toleration);
  }
  if (Chance(6)) pod.host_port = 8000 + Below(2);
  if (Chance(10)) pod.terms.push_back({PodTerm::kAffinity, "app", app(), topology(), 1});
  if (Chance(10)) pod.terms.push_back({PodTerm::kAntiAffinity, "app", app(), topology(), 1});
  if (Chance(10)) {
    pod.terms.push_back({PodTerm::kPreferred, "app", app(), topology(), 1 + Below(100)});
  }
  if (Chance(10)) {
    pod.terms.push_back({PodTerm::kPreferredAnti, "app", app(), topology(), 1 + Below(100)});
  }
  if (Chance(15)) {
    pod.spread.push_back({topology(), "app", pod.labels["app"], 1 + Below(2), Chance(50)});
  }
}

Pod Generator::MakeTemplate(const std::string& group) {
  Pod pod;
  pod.group = group;
  pod.labels["app"] = group;
  pod.request[kPods] = 1;
  if (!Chance(12)) {
    pod.names_cpu = !Chance(10);
    pod.names_memory = !pod.names_cpu || !Chance(10);
    if (pod.names_cpu) pod.request[kCpu] = Pick({250.0, 500.0, 1000.0, 2000.0, 3000.0});
    if (pod.names_memory) pod.request[kMemory] = Pick({0.5, 1.0, 2.0, 4.0}) * kGi;
    if (Chance(12)) pod.request[kGpu] = (1 + Below(2)) * 1000.0;
  }
  AddConstraints(pod);
  return pod;
}

void Generator::AddGroup(Cluster& cluster) {
  Group group;
  group.name = "pg" + std::to_string(groups_++);
  group.queue =
      cluster.queues[static_cast<size_t>(Below(static_cast<int>(cluster.queues.size())))].name;
  if (Chance(3)) group.queue = "nowhere";
  group.created = ++clock_;
  group.priority = Pick({0, 0, 0, 10, 100});
  if (Chance(30)) group.phase = "Inqueue";
  const int size = 1 + Below(8);
  group.min_member = std::max(1, size - Below(size + 1) + (Chance(4) ? 1 : 0));
  const bool roles = Chance(30);
  Pod pod = MakeTemplate(group.name);
  Pod other = Chance(50) ? MakeTemplate(group.name) : pod;
  Amounts sum = {};
  for (int i = 0; i < size; ++i) {
    Pod member = roles && i % 2 == 1 ? other : pod;
    member.name = group.name + (roles ? "-" + std::string(i % 2 == 1 ? "b" : "a") : "") + "-" +
                  std::to_string(i);
    if (roles) member.role = i % 2 == 1 ? "b" : "a";
    member.created = ++clock_;
    member.priority = Chance(15) ? Below(5) : group.priority;
    member.gated = Chance(4);
    for (size_t d = 0; d < sum.size(); ++d) sum[d] += i < group.min_member ? member.request[d] : 0;
    cluster.pods.push_back(member);
  }
  if (roles && Chance(70)) {
    group.role_minimums = {{"a", 1 + Below(2)}};
    if (size > 1) group.role_minimums["b"] = Below(2);
  }
  if (Chance(40)) {
    sum[kPods] = 0;
    group.min_resources = sum;
  }
  cluster.groups.push_back(group);
}

// Some members of a group run already, where there is room.
void Generator::StartSome(Cluster& cluster, const std::string& group) {
  for (Pod& pod : cluster.pods) {
    if (pod.group != group || pod.gated || !Chance(60)) continue;
    const Node& node =
        cluster.nodes[static_cast<size_t>(Below(static_cast<int>(cluster.nodes.size())))];
    Amounts room = node.allocatable;
    for (const Pod& other : cluster.pods) {
      if (other.node != node.name) continue;
      for (size_t d = 0; d < room.size(); ++d) room[d] -= other.request[d];
    }
    bool fits = true;
    for (size_t d = 0; d < room.size(); ++d) fits = fits && pod.request[d] <= room[d];
    if (!fits) continue;
    pod.node = node.name;
    pod.status = Chance(10) ? Status::kReleasing : Chance(10) ? Status::kBound : Status::kRunning;
  }
  for (Group& g : cluster.groups) {
    if (g.name == group) g.phase = "Running";
  }
}

Cluster Generator::Make() {
  Cluster cluster;
  const int nodes = 1 + Below(max_nodes_);
  for (int i = 0; i < nodes; ++i) cluster.nodes.push_back(MakeNode());
  const int queues = 1 + Below(4);
  for (int i = 0; i < queues; ++i) cluster.queues.push_back(MakeQueue());
  const int groups = 1 + Below(3 + nodes / 2);
  for (int i = 0; i < groups; ++i) {
    AddGroup(cluster);
    if (Chance(30)) StartSome(cluster, cluster.groups.back().name);
  }
  return cluster;
}

void Generator::StepPods(const Decision& decision, Cluster& cluster) {
  std::vector<Pod> pods;
  for (Pod& pod : cluster.pods) {
    const auto it = decision.binds.find(pod.name);
    if (it != decision.binds.end()) {
      pod.node = it->second;
      pod.status = Chance(20) ? Status::kBound : Status::kRunning;
    } else if (pod.status == Status::kReleasing) {
      if (Chance(60)) continue;
    } else if (pod.status == Status::kBound) {
      pod.status = Status::kRunning;
    } else if (pod.status == Status::kRunning) {
      if (Chance(8)) continue;
      if (Chance(6)) pod.status = Status::kReleasing;
    } else if (pod.gated && Chance(50)) {
      pod.gated = false;
    } else if (Chance(3)) {
      continue;
    }
    pods.push_back(pod);
  }
  cluster.pods = pods;
}

void Generator::StepNodes(Cluster& cluster) {
  for (Node& node : cluster.nodes) {
    if (Chance(5)) node.unschedulable = !node.unschedulable;
    if (Chance(3)) node.labels["disk"] = Pick({"ssd", "hdd"});
    if (Chance(3)) node.allocatable[kCpu] = Pick({1000.0, 2000.0, 4000.0, 8000.0});
    if (Chance(2)) node.taints.clear();
  }
  if (Chance(8) && cluster.nodes.size() > 1) {
    const std::string gone = cluster.nodes.back().name;
    cluster.nodes.pop_back();
    std::erase_if(cluster.pods, [&](const Pod& pod) { return pod.node == gone; });
  }
  if (Chance(10)) cluster.nodes.push_back(MakeNode());
}

void Generator::StepGroups(Cluster& cluster) {
  for (Group& group : cluster.groups) {
    if (Chance(4)) group.min_member = std::max(1, group.min_member + Below(3) - 1);
    if (Chance(3)) group.priority = Pick({0, 10, 100});
    if (!Chance(5)) continue;
    // One more member, like one that is there.
    for (const Pod& pod : cluster.pods) {
      if (pod.group != group.name) continue;
      Pod more = pod;
      more.name = group.name + "-more-" + std::to_string(100 + ++clock_);
      more.node.clear();
      more.status = Status::kPending;
      more.created = clock_;
      cluster.pods.push_back(more);
      break;
    }
  }
  if (!away_.empty() && Chance(50)) {
    cluster.groups.push_back(away_.back());
    cluster.groups.back().created = ++clock_;
    cluster.groups.back().phase = "Pending";
    away_.pop_back();
  }
  if (Chance(12) && cluster.groups.size() > 1) {
    const Group gone = cluster.groups.front();
    cluster.groups.erase(cluster.groups.begin());
    if (Chance(50)) {
      away_.push_back(gone);  // its pods stay, and wait for it
    } else {
      std::erase_if(cluster.pods, [&](const Pod& pod) { return pod.group == gone.name; });
    }
  }
  if (Chance(60)) AddGroup(cluster);
}

void Generator::StepQueues(Cluster& cluster) {
  for (Queue& queue : cluster.queues) {
    if (Chance(4)) queue.weight = 1 + Below(5);
    if (Chance(4)) queue.open = !queue.open;
    if (Chance(3)) queue.capability[kCpu] = (1 + Below(20)) * 1000.0;
  }
  if (Chance(5)) cluster.queues.push_back(MakeQueue());
}

void Generator::Step(const Decision& decision, Cluster& cluster) {
  for (Group& group : cluster.groups) {
    const auto it = decision.phases.find(group.name);
    if (it != decision.phases.end()) group.phase = it->second;
  }
  StepPods(decision, cluster);
  StepNodes(cluster);
  StepGroups(cluster);
  StepQueues(cluster);
}

}  // namespace hekla::reference
