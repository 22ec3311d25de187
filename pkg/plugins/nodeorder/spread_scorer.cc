#include "pkg/plugins/nodeorder/spread_scorer.h"

#include <algorithm>
#include <cmath>

namespace hekla::plugins {

using model::NodeId;
using model::TaskId;

void SpreadScorer::Open() {
  const model::SymbolTable& symbols = context().cluster().dictionary().symbols;
  hostname_ = symbols.Find("kubernetes.io/hostname");
  zone_ = symbols.Find("topology.kubernetes.io/zone");
  if (defaults_.Refresh()) ++owners_epoch_;
}

SpreadScorer::Profile& SpreadScorer::ProfileOf(TaskId task) {
  const model::TaskClassTable& classes = context().tables().classes;
  const model::TaskClassId id = context().class_of(task);
  const uint64_t epoch = (context().counts.epoch() << 32) | owners_epoch_;
  if (Profile* found = profiles_.Find(id, classes, epoch)) return *found;
  Profile profile;
  if (context().pod(task).spread.empty()) {
    AddDefaults(task, profile);
  } else {
    AddOwn(task, profile);
  }
  return profiles_.Put(id, classes, std::move(profile), epoch);
}

void SpreadScorer::AddOwn(TaskId task, Profile& profile) {
  PodCounts& counts = context().counts;
  NodeColumns& nodes = context().nodes;
  const model::Tables& tables = context().tables();
  const model::Symbol owner = tables.namespaces.name[tables.tasks.namespace_id[task]];
  profile.needs_all_keys = true;
  EligibilityRule rule;
  rule.pod = tables.tasks.spec[task]->pod;
  for (const model::SpreadConstraint& c : rule.pod->spread) {
    if (!c.hard) rule.keys.push_back(c.topology_key);
  }
  for (const model::SpreadConstraint& c : rule.pod->spread) {
    if (c.hard) continue;
    rule.check_affinity = c.honor_affinity;
    rule.check_taints = c.honor_taints;
    Constraint constraint;
    constraint.topology = nodes.TopologyOf(c.topology_key);
    constraint.max_skew = c.max_skew;
    constraint.per_node = c.topology_key == hostname_;
    const QueryId query = counts.Query(SpreadQuery(c.selector, owner));
    constraint.column = constraint.per_node
                            ? counts.Column(query, NodeColumns::SelfTopology(), {})
                            : counts.Column(query, constraint.topology, nodes.Eligibility(rule));
    profile.constraints.push_back(constraint);
  }
}

void SpreadScorer::AddDefaults(TaskId task, Profile& profile) {
  const model::Selector selector = defaults_.SelectorFor(task);
  if (selector.empty()) return;
  PodCounts& counts = context().counts;
  NodeColumns& nodes = context().nodes;
  const model::Tables& tables = context().tables();
  const model::Symbol owner = tables.namespaces.name[tables.tasks.namespace_id[task]];
  const QueryId query = counts.Query(SpreadQuery(selector, owner));
  // A key that no object has ever named is on no node.
  if (hostname_.valid()) {
    Constraint hostname;
    hostname.topology = nodes.TopologyOf(hostname_);
    hostname.max_skew = 3;
    hostname.per_node = true;
    hostname.column = counts.Column(query, NodeColumns::SelfTopology(), {});
    profile.constraints.push_back(hostname);
  }
  if (zone_.valid()) {
    EligibilityRule rule;
    rule.pod = tables.tasks.spec[task]->pod;
    rule.check_affinity = true;
    Constraint zone;
    zone.topology = nodes.TopologyOf(zone_);
    zone.max_skew = 5;
    zone.column = counts.Column(query, zone.topology, nodes.Eligibility(rule));
    profile.constraints.push_back(zone);
  }
}

bool SpreadScorer::Ignored(const Profile& profile, NodeId node) const {
  if (!profile.needs_all_keys) return false;
  for (const Constraint& c : profile.constraints) {
    if (context().nodes.topology(c.topology).domain[node] == kNoDomain) return true;
  }
  return false;
}

bool SpreadScorer::PreScore(TaskId task, absl::Span<const NodeId> candidates) {
  if (context().pod(task).spread.empty() && defaults_.empty()) return false;
  Profile& profile = ProfileOf(task);
  if (profile.constraints.empty()) return false;
  for (Constraint& c : profile.constraints) {
    const Topology& topology = context().nodes.topology(c.topology);
    if (stamps_.size() < topology.members.size() + 1)
      stamps_.resize(topology.members.size() + 1, 0);
    ++stamp_;
    int64_t domains = 0;
    int64_t counted = 0;
    for (NodeId node : candidates) {
      if (Ignored(profile, node)) continue;
      ++counted;
      // Nodes without the label (possible with the defaults only) are one more domain.
      uint32_t& mark = stamps_[static_cast<size_t>(topology.domain[node] + 1)];
      domains += mark != stamp_ ? 1 : 0;
      mark = stamp_;
    }
    c.domain_weight = std::log(static_cast<double>((c.per_node ? counted : domains) + 2));
  }
  return true;
}

void SpreadScorer::Score(TaskId task, absl::Span<const NodeId> nodes, absl::Span<double> raw) {
  const Profile& profile = ProfileOf(task);
  std::fill(raw.begin(), raw.end(), 0.0);
  for (const Constraint& c : profile.constraints) {
    const CountColumn& column = context().counts.column(c.column);
    const int32_t* domains = context().nodes.topology(c.topology).domain.data();
    for (size_t i = 0; i < nodes.size(); ++i) {
      const int32_t domain = domains[nodes[i].index()];
      if (domain == kNoDomain) continue;
      const int32_t count = column.At(c.per_node ? static_cast<int32_t>(nodes[i].index()) : domain);
      raw[i] += count * c.domain_weight + (c.max_skew - 1);
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    raw[i] = Ignored(profile, nodes[i]) ? kIgnored : std::round(raw[i]);
  }
}

double SpreadScorer::Normalized(double raw, double min, double max) const {
  if (max == 0) return static_cast<double>(kMaxNodeScore);
  const auto highest = static_cast<int64_t>(max);
  return static_cast<double>(
      kMaxNodeScore * (highest + static_cast<int64_t>(min) - static_cast<int64_t>(raw)) / highest);
}

void SpreadScorer::OnTaskMoved(TaskId task, NodeId node, bool added) {
  if (forward_) context().counts.OnTaskMoved(task, node, added);
}

void SpreadScorer::CollectDirty(model::TaskClassId reader, uint64_t since,
                                framework::DirtySink& dirty) {
  (void)since;
  if (context().tables().classes.pod[reader]->spread.empty() && defaults_.empty()) return;
  dirty.All();
}

}  // namespace hekla::plugins
