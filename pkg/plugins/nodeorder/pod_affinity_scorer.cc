#include "pkg/plugins/nodeorder/pod_affinity_scorer.h"

#include <algorithm>

namespace hekla::plugins {

using model::NodeId;
using model::TaskId;

PodAffinityScorer::Profile& PodAffinityScorer::ProfileOf(TaskId task) {
  PodCounts& counts = context().counts;
  const model::Tables& tables = context().tables();
  const model::TaskClassId id = context().class_of(task);
  Profile* found = profiles_.Find(id, tables.classes, counts.epoch());
  if (found == nullptr) {
    const model::Symbol owner = tables.namespaces.name[tables.tasks.namespace_id[task]];
    Profile profile;
    for (const TermRole role : {TermRole::kPreferredAffinity, TermRole::kPreferredAntiAffinity}) {
      const int32_t sign = role == TermRole::kPreferredAffinity ? 1 : -1;
      for (const model::PodTerm& term : TermsOf(context().pod(task), role)) {
        PodQuery query;
        query.parts = {SelectorOf(term, owner)};
        profile.columns.emplace_back(
            counts.Column(counts.Query(query), context().nodes.TopologyOf(term.topology_key), {}),
            sign * term.weight);
      }
    }
    found = &profiles_.Put(id, tables.classes, std::move(profile), counts.epoch());
  }
  if (found->held_checked < counts.held().size()) {
    matching_.clear();
    counts.HeldMatching(task, found->held_checked, matching_);
    found->held_checked = counts.held().size();
    for (uint32_t i : matching_) {
      const HeldTerm& term = counts.held()[i];
      const int32_t sign = term.role == TermRole::kPreferredAffinity ? 1 : -1;
      found->columns.emplace_back(
          counts.Column(term.query, context().nodes.TopologyOf(term.topology_key), {}),
          sign * term.weight);
    }
  }
  return *found;
}

bool PodAffinityScorer::PreScore(TaskId task, absl::Span<const NodeId> candidates) {
  (void)candidates;
  const model::PodTemplate& pod = context().pod(task);
  if (pod.preferred_pod_affinity.empty() && pod.preferred_anti_affinity.empty() &&
      context().counts.held().empty()) {
    return false;
  }
  for (const auto& [column, weight] : ProfileOf(task).columns) {
    if (context().counts.column(column).total > 0) return true;
  }
  return false;
}

void PodAffinityScorer::Score(TaskId task, absl::Span<const NodeId> nodes, absl::Span<double> raw) {
  std::fill(raw.begin(), raw.end(), 0.0);
  for (const auto& [id, weight] : ProfileOf(task).columns) {
    const CountColumn& column = context().counts.column(id);
    if (column.total == 0) continue;
    const int32_t* domains = context().nodes.topology(column.topology).domain.data();
    for (size_t i = 0; i < nodes.size(); ++i) {
      const int32_t domain = domains[nodes[i].index()];
      if (domain != kNoDomain) raw[i] += static_cast<double>(weight) * column.At(domain);
    }
  }
}

// The order of multiplication and division decides the last digit: 100 * (a / b), cut off.
double PodAffinityScorer::Normalized(double raw, double min, double max) const {
  if (max <= min) return 0;
  return static_cast<double>(static_cast<int64_t>(kMaxNodeScore * ((raw - min) / (max - min))));
}

void PodAffinityScorer::OnTaskMoved(TaskId task, NodeId node, bool added) {
  if (forward_) context().counts.OnTaskMoved(task, node, added);
}

void PodAffinityScorer::CollectDirty(model::TaskClassId reader, uint64_t since,
                                     framework::DirtySink& dirty) {
  PodCounts& counts = context().counts;
  const model::TaskClassTable& classes = context().tables().classes;
  Profile* profile = profiles_.Find(reader, classes, counts.epoch());
  if (profile == nullptr) {
    const model::PodTemplate& pod = *classes.pod[reader];
    if (pod.preferred_pod_affinity.empty() && pod.preferred_anti_affinity.empty() &&
        counts.held().empty()) {
      return;
    }
    return dirty.All();
  }
  if (since < counts.stale_before() || profile->held_checked < counts.held().size()) {
    return dirty.All();
  }
  for (const auto& [id, weight] : profile->columns) {
    if (!counts.ChangesSince(id, since, net_)) return dirty.All();
    const Topology& topology = context().nodes.topology(counts.column(id).topology);
    for (const CountColumn::Change& change : net_) {
      if (change.delta != 0) dirty.Nodes(topology.members[change.domain]);
    }
  }
}

}  // namespace hekla::plugins
