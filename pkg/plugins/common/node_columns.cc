#include "pkg/plugins/common/node_columns.h"

#include <algorithm>

#include "pkg/plugins/common/node_match.h"

namespace hekla::plugins {

using model::NodeId;
using model::Symbol;

NodeColumns::NodeColumns() {
  topologies_.push_back({});  // SelfTopology
  taint_sets_.emplace_back();
}

void NodeColumns::Grow(size_t rows) {
  if (rows <= taint_set_.size()) return;
  seen_.resize(rows, 0);
  taint_set_.resize(rows, 0);
  unschedulable_.resize(rows, 0);
  for (LabelColumn& column : labels_) column.values.resize(rows);
  for (Topology& topology : topologies_) topology.domain.resize(rows, kNoDomain);
  for (EligibilityColumn& column : eligibilities_) column.nodes.resize(rows, 0);
}

absl::Span<const NodeId> NodeColumns::CollectStale() {
  const model::NodeTable& nodes = cluster_->tables().nodes;
  const std::vector<model::NodeTouch>& touches = cluster_->touches();
  const uint64_t trimmed = cluster_->touches_trimmed();
  const size_t old_rows = size();
  Grow(nodes.size());
  stale_.clear();
  const auto check = [&](NodeId node) {
    const uint64_t now = (uint64_t{nodes.static_generation[node]} << 2) |
                         (nodes.live[node] != 0 ? uint64_t{3} : uint64_t{1});
    if (seen_[node] == now) return;
    seen_[node] = now;
    stale_.push_back(node);
  };
  if (!started_ || position_ < trimmed) {
    for (size_t i = 0; i < nodes.size(); ++i) check(NodeId(static_cast<uint32_t>(i)));
  } else {
    for (size_t i = position_ - trimmed; i < touches.size(); ++i) {
      if (touches[i].static_change) check(touches[i].node);
    }
    for (size_t i = old_rows; i < nodes.size(); ++i) check(NodeId(static_cast<uint32_t>(i)));
  }
  started_ = true;
  position_ = trimmed + touches.size();
  return stale_;
}

void NodeColumns::Refresh(NodeId node) {
  const model::NodeTable& nodes = cluster_->tables().nodes;
  const bool live = nodes.live[node] != 0 && nodes.spec[node] != nullptr;
  const model::NodeSpec* spec = live ? nodes.spec[node].get() : nullptr;
  taint_set_[node] = live ? InternTaints(spec->taints) : 0;
  unschedulable_[node] = live && spec->unschedulable ? 1 : 0;
  for (LabelColumn& column : labels_) {
    column.values[node] = live ? model::FindLabel(spec->labels, column.key) : Symbol();
  }
  for (Topology& topology : topologies_) SetDomain(topology, node);
  for (EligibilityColumn& column : eligibilities_) {
    column.nodes[node] = live && IsEligible(column.rule, node) ? 1 : 0;
  }
}

LabelColumnId NodeColumns::Label(Symbol key) {
  if (auto it = label_index_.find(key); it != label_index_.end()) return it->second;
  const model::NodeTable& nodes = cluster_->tables().nodes;
  LabelColumn column{key, {}};
  column.values.resize(size());
  for (size_t i = 0; i < size(); ++i) {
    const NodeId node(static_cast<uint32_t>(i));
    if (nodes.live[node] != 0)
      column.values[node] = model::FindLabel(nodes.spec[node]->labels, key);
  }
  const LabelColumnId id = labels_.push_back(std::move(column));
  label_index_.emplace(key, id);
  return id;
}

TopologyId NodeColumns::TopologyOf(Symbol key) {
  if (auto it = topology_index_.find(key); it != topology_index_.end()) return it->second;
  Topology topology;
  topology.key = key;
  topology.domain.assign(size(), kNoDomain);
  for (size_t i = 0; i < size(); ++i) SetDomain(topology, NodeId(static_cast<uint32_t>(i)));
  const TopologyId id = topologies_.push_back(std::move(topology));
  topology_index_.emplace(key, id);
  return id;
}

void NodeColumns::SetDomain(Topology& topology, NodeId node) {
  const model::NodeTable& nodes = cluster_->tables().nodes;
  const bool live = nodes.live[node] != 0 && nodes.spec[node] != nullptr;
  int32_t domain = kNoDomain;
  if (!topology.key.valid()) {
    if (topology.members.size() < nodes.size()) topology.members.resize(nodes.size());
    if (live) domain = static_cast<int32_t>(node.index());
  } else if (live) {
    if (Symbol value = model::FindLabel(nodes.spec[node]->labels, topology.key); value.valid()) {
      auto [it, fresh] =
          topology.index.try_emplace(value, static_cast<int32_t>(topology.members.size()));
      if (fresh) topology.members.emplace_back();
      domain = it->second;
    }
  }
  const int32_t old = topology.domain[node];
  if (old == domain) return;
  if (old != kNoDomain) {
    std::vector<NodeId>& members = topology.members[old];
    members.erase(std::find(members.begin(), members.end(), node));
  }
  topology.domain[node] = domain;
  if (domain != kNoDomain) topology.members[domain].push_back(node);
}

EligibilityId NodeColumns::Eligibility(const EligibilityRule& rule) {
  for (size_t i = 0; i < eligibilities_.size(); ++i) {
    const EligibilityId id(static_cast<uint32_t>(i));
    if (Same(eligibilities_[id].rule, rule)) return id;
  }
  EligibilityColumn column{rule, {}};
  column.nodes.assign(size(), 0);
  const model::NodeTable& nodes = cluster_->tables().nodes;
  for (size_t i = 0; i < size(); ++i) {
    const NodeId node(static_cast<uint32_t>(i));
    column.nodes[node] = nodes.live[node] != 0 && IsEligible(rule, node) ? 1 : 0;
  }
  return eligibilities_.push_back(std::move(column));
}

bool NodeColumns::IsEligible(const EligibilityRule& rule, NodeId node) const {
  const model::NodeTable& nodes = cluster_->tables().nodes;
  const model::NodeSpec& spec = *nodes.spec[node];
  for (Symbol key : rule.keys) {
    if (!model::FindLabel(spec.labels, key).valid()) return false;
  }
  if (rule.check_taints && !ToleratesHardTaints(rule.pod->tolerations, spec.taints)) return false;
  return !rule.check_affinity ||
         MatchesNode(*rule.pod, spec, nodes.name[node], cluster_->dictionary().symbols);
}

bool NodeColumns::Same(const EligibilityRule& a, const EligibilityRule& b) {
  if (a.keys != b.keys || a.check_affinity != b.check_affinity || a.check_taints != b.check_taints)
    return false;
  if (a.pod == b.pod) return true;
  if (a.check_affinity && (a.pod->node_selector != b.pod->node_selector ||
                           a.pod->has_required_affinity != b.pod->has_required_affinity ||
                           a.pod->required_affinity != b.pod->required_affinity))
    return false;
  return !a.check_taints || a.pod->tolerations == b.pod->tolerations;
}

uint32_t NodeColumns::InternTaints(const std::vector<model::Taint>& taints) {
  for (size_t i = 0; i < taint_sets_.size(); ++i) {
    if (taint_sets_[i] == taints) return static_cast<uint32_t>(i);
  }
  taint_sets_.push_back(taints);
  return static_cast<uint32_t>(taint_sets_.size() - 1);
}

}  // namespace hekla::plugins
