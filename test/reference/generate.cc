#include "test/reference/generate.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
  if (!Chance(30)) node.labels["cores"] = Pick({"2", "8", "16", "many"});
  if (Chance(15)) node.volume_limit = 1 + Below(2);
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
  if (Chance(10)) queue.capability[kGpu] = (1 + Below(4)) * 1000.0;
  if (Chance(20)) queue.guarantee[kCpu] = (1 + Below(6)) * 1000.0;
  if (Chance(15)) queue.guarantee[kMemory] = (1 + Below(6)) * kGi;
  queue.open = !Chance(8);
  return queue;
}

void Generator::AddNodeConstraints(Pod& pod) {
  const auto labels = [](Expression e) { return Term{{std::move(e)}, {}}; };
  const auto some_node = [&] { return "n" + std::to_string(Below(std::max(1, nodes_))); };
  if (Chance(15)) pod.selector["disk"] = Pick({"ssd", "hdd"});
  if (Chance(12)) {
    pod.required.push_back(
        labels({kZone, Pick({Expression::kIn, Expression::kNotIn}), {"z0", "z1"}}));
    if (Chance(40)) pod.required.push_back(labels({"disk", Expression::kIn, {"ssd"}}));
    if (Chance(20)) pod.required.push_back(labels({kZone, Expression::kDoesNotExist, {}}));
  }
  if (Chance(5)) {
    pod.required.push_back(
        labels({"cores", Pick({Expression::kGreater, Expression::kLess}), {"7"}}));
  }
  if (Chance(5)) {
    const auto op = Pick({Expression::kIn, Expression::kNotIn});
    pod.required.push_back({{}, {{"metadata.name", op, {some_node()}}}});
    if (Chance(50)) pod.required.back().labels.push_back({"disk", Expression::kExists, {}});
    if (Chance(50)) pod.required.push_back({{}, {{"metadata.name", op, {some_node()}}}});
  }
  if (Chance(15)) {
    pod.preferred.push_back({1 + Below(50), labels({"disk", Expression::kIn, {"ssd"}})});
    pod.preferred.push_back({1 + Below(50), labels({kZone, Expression::kExists, {}})});
    if (Chance(40)) {
      pod.preferred.push_back(
          {1 + Below(50), {{}, {{"metadata.name", Expression::kIn, {some_node()}}}}});
    }
  }
  if (Chance(25)) {
    Toleration toleration{"dedicated", "batch", "", false};
    if (Chance(30)) toleration = {"", "", Pick({"", "NoSchedule"}), true};
    pod.tolerations.push_back(toleration);
  }
  if (Chance(5)) pod.tolerations.push_back({"node.kubernetes.io/unschedulable", "", "", true});
  if (Chance(6)) {
    pod.host_port = {8000 + Below(2), Pick({"", "", "10.0.0.1", "10.0.0.2"}), Chance(25)};
  }
}

void Generator::AddPodConstraints(Pod& pod) {
  const auto app = [&] { return "pg" + std::to_string(std::max(0, groups_ - 1 - Below(3))); };
  const auto topology = [&] { return std::string(Chance(50) ? kZone : kHostname); };
  for (PodTerm::Kind kind :
       {PodTerm::kAffinity, PodTerm::kAntiAffinity, PodTerm::kPreferred, PodTerm::kPreferredAnti}) {
    if (!Chance(10)) continue;
    PodTerm term{kind, "app", app(), topology(), 1 + Below(100), {}, {}};
    if (Chance(15)) term.namespaces = {Pick({"default", "other"})};
    if (Chance(20)) term.namespace_labels = StringMap();
    if (term.namespace_labels.has_value() && Chance(70)) {
      (*term.namespace_labels)["team"] = Pick({"a", "b"});
    }
    pod.terms.push_back(term);
    if (Chance(10)) pod.terms.push_back({kind, "app", pod.labels["app"], topology(), 1, {}, {}});
  }
  while (Chance(15)) {
    Spread spread{topology(), "app", pod.labels["app"], 1 + Below(2), Chance(50)};
    if (spread.hard && Chance(25)) spread.min_domains = 2 + Below(3);
    if (Chance(25)) spread.label_keys = {"rev"};
    spread.honors_affinity = !Chance(20);
    spread.honors_taints = Chance(20);
    const bool known = std::any_of(pod.spread.begin(), pod.spread.end(), [&](const Spread& s) {
      return s.topology == spread.topology && s.hard == spread.hard;
    });
    if (!known) pod.spread.push_back(spread);
  }
}

// Claims of a group's members: one for all, or one each.
void Generator::AddClaims(Cluster& cluster, const std::string& group, size_t first) {
  Claim claim{cluster.pods[first].space, group + "-data", Chance(60), {}, ""};
  if (Chance(50)) claim.zones = {"z" + std::to_string(Below(3))};
  if (!claim.zones.empty() && Chance(40)) claim.zones.push_back("z" + std::to_string(Below(3)));
  if (claim.bound && Chance(30)) claim.zone_label = "z" + std::to_string(Below(3));
  const bool shared = claim.bound && Chance(40);
  if (shared) cluster.claims.push_back(claim);
  for (size_t i = first; i < cluster.pods.size(); ++i) {
    Pod& pod = cluster.pods[i];
    if (!shared) {
      claim.name = pod.name + "-data";
      if (!Chance(4)) cluster.claims.push_back(claim);  // else it is missing
    }
    pod.claims.push_back(claim.name);
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
  pod.labels["rev"] = Pick({"1", "2"});
  AddNodeConstraints(pod);
  AddPodConstraints(pod);
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
  if (Chance(25)) group.space = "other";
  const size_t first = cluster.pods.size();
  Pod pod = MakeTemplate(group.name);
  Pod other = Chance(50) ? MakeTemplate(group.name) : pod;
  Amounts sum = {};
  for (int i = 0; i < size; ++i) {
    Pod member = roles && i % 2 == 1 ? other : pod;
    member.name = group.name + (roles ? "-" + std::string(i % 2 == 1 ? "b" : "a") : "") + "-" +
                  std::to_string(i);
    if (roles) member.role = i % 2 == 1 ? "b" : "a";
    member.space = group.space;
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
  if (Chance(8)) AddClaims(cluster, group.name, first);
  if (Chance(10)) cluster.services.push_back({group.space, group.name + "-service", group.name});
  if (Chance(6)) {
    away_.push_back(group);  // its pods are there before it
  } else {
    cluster.groups.push_back(group);
  }
}

// Another scheduler's pod, where there is room.
void Generator::AddForeignPod(Cluster& cluster) {
  Pod pod = MakeTemplate("");
  pod.name = "foreign-" + std::to_string(++clock_);
  pod.space = Pick({"default", "other"});
  pod.labels["app"] = "pg" + std::to_string(Below(std::max(1, groups_)));
  pod.foreign = true;
  pod.created = clock_;
  Start(cluster, pod);
  if (!pod.node.empty()) cluster.pods.push_back(pod);
}

// Puts a pod on some node if there is room.
void Generator::Start(const Cluster& cluster, Pod& pod) {
  const Node& node =
      cluster.nodes[static_cast<size_t>(Below(static_cast<int>(cluster.nodes.size())))];
  Amounts room = node.allocatable;
  for (const Pod& other : cluster.pods) {
    if (other.node != node.name) continue;
    for (size_t d = 0; d < room.size(); ++d) room[d] -= other.request[d];
  }
  for (size_t d = 0; d < room.size(); ++d) {
    if (pod.request[d] > room[d]) return;
  }
  pod.node = node.name;
  pod.status = Chance(10) ? Status::kReleasing : Chance(10) ? Status::kBound : Status::kRunning;
}

// Some members of a group run already.
void Generator::StartSome(Cluster& cluster, const std::string& group) {
  for (Pod& pod : cluster.pods) {
    if (pod.group == group && !pod.gated && Chance(60)) Start(cluster, pod);
  }
  for (Group& g : cluster.groups) {
    if (g.name == group) g.phase = "Running";
  }
}

Cluster Generator::Make() {
  Cluster cluster;
  cluster.namespaces = {{"default", {{"team", "a"}}}, {"other", {{"team", "b"}}}};
  // Many small clusters, few large ones.
  const double part = Below(1000) / 1000.0;
  const int nodes =
      static_cast<int>(min_nodes_ * std::pow(max_nodes_ / min_nodes_, part * part * part));
  for (int i = 0; i < nodes; ++i) cluster.nodes.push_back(MakeNode());
  const int queues = 1 + Below(4);
  for (int i = 0; i < queues; ++i) cluster.queues.push_back(MakeQueue());
  const int groups = 1 + Below(3 + nodes / 2);
  for (int i = 0; i < groups; ++i) {
    AddGroup(cluster);
    if (Chance(30)) StartSome(cluster, "pg" + std::to_string(groups_ - 1));
    if (Chance(10)) AddForeignPod(cluster);
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
      if (!pod.foreign && Chance(2)) {  // its owner has made it anew
        ++pod.incarnation;
        pod.created = ++clock_;
        pod.node.clear();
        pod.status = Status::kPending;
      }
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
    const auto gone = cluster.nodes.begin() + Below(static_cast<int>(cluster.nodes.size()));
    const std::string name = gone->name;
    if (Chance(40)) gone_nodes_.push_back(*gone);
    cluster.nodes.erase(gone);
    // Its pods are gone too, or nobody has noticed yet.
    const bool noticed = Chance(60);
    std::erase_if(cluster.pods,
                  [&](const Pod& pod) { return pod.node == name && (noticed || pod.foreign); });
  }
  if (!gone_nodes_.empty() && Chance(20)) {
    cluster.nodes.push_back(gone_nodes_.back());
    gone_nodes_.pop_back();
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
      more.incarnation = 0;
      std::erase_if(more.claims, [&](const auto& claim) { return claim != group.name + "-data"; });
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
    ++cluster.groups.back().incarnation;
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
  if (Chance(10)) AddForeignPod(cluster);
  for (Namespace& space : cluster.namespaces) {
    if (Chance(2)) space.labels["team"] = Pick({"a", "b"});
  }
  if (!cluster.services.empty() && Chance(3)) cluster.services.pop_back();
  for (Claim& claim : cluster.claims) {
    if (!claim.bound && Chance(2)) claim.bound = true;  // bound by hand, where its class allows
  }
}

void Generator::StepQueues(Cluster& cluster) {
  for (Queue& queue : cluster.queues) {
    if (Chance(4)) queue.weight = 1 + Below(5);
    if (Chance(4)) queue.open = !queue.open;
    if (Chance(3)) queue.capability[kCpu] = (1 + Below(20)) * 1000.0;
  }
  if (Chance(5)) cluster.queues.push_back(MakeQueue());
  if (Chance(2) && cluster.queues.size() > 1) {
    gone_queues_.push_back(cluster.queues.front());
    cluster.queues.erase(cluster.queues.begin());
  } else if (!gone_queues_.empty() && Chance(30)) {
    cluster.queues.push_back(gone_queues_.back());
    gone_queues_.pop_back();
  }
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
