#include "pkg/plugins/predicates/inter_pod_affinity.h"

#include <algorithm>

namespace hekla::plugins {

using framework::Cause;
using framework::Code;
using framework::PreFilterResult;
using framework::ReasonId;
using model::NodeId;
using model::TaskId;

void InterPodAffinityFilter::Open(framework::ReasonTable& reasons) {
  affinity_ = reasons.Intern(Code::kUnschedulableAndUnresolvable, Cause::kPodAffinityUnmatched,
                             "node(s) didn't match pod affinity rules");
  anti_affinity_ = reasons.Intern(Code::kUnschedulable, Cause::kPodAntiAffinity,
                                  "node(s) didn't match pod anti-affinity rules");
  existing_ = reasons.Intern(Code::kUnschedulable, Cause::kExistingPodsAntiAffinity,
                             "node(s) didn't satisfy existing pods anti-affinity rules");
}

InterPodAffinityFilter::Profile& InterPodAffinityFilter::ProfileOf(TaskId task) {
  PodCounts& counts = context().counts;
  const model::Tables& tables = context().tables();
  const model::TaskClassId id = context().class_of(task);
  Profile* found = profiles_.Find(id, tables.classes, counts.epoch());
  if (found == nullptr) {
    const model::PodTemplate& pod = context().pod(task);
    const model::Symbol owner = tables.namespaces.name[tables.tasks.namespace_id[task]];
    Profile profile;
    if (!pod.affinity.empty()) {
      PodQuery all;
      for (const model::PodTerm& term : pod.affinity) all.parts.push_back(SelectorOf(term, owner));
      profile.selects_itself = counts.Matches(all, task);
      const QueryId query = counts.Query(all);
      for (const model::PodTerm& term : pod.affinity) {
        profile.affinity.push_back(
            counts.Column(query, context().nodes.TopologyOf(term.topology_key), {}));
      }
    }
    for (const model::PodTerm& term : pod.anti_affinity) {
      PodQuery one;
      one.parts = {SelectorOf(term, owner)};
      profile.anti.push_back(
          counts.Column(counts.Query(one), context().nodes.TopologyOf(term.topology_key), {}));
    }
    found = &profiles_.Put(id, tables.classes, std::move(profile), counts.epoch());
  }
  if (found->held_checked < counts.held().size()) AddHeld(*found, task);
  return *found;
}

void InterPodAffinityFilter::AddHeld(Profile& profile, TaskId task) {
  PodCounts& counts = context().counts;
  matching_.clear();
  counts.HeldMatching(task, profile.held_checked, matching_);
  profile.held_checked = counts.held().size();
  for (uint32_t i : matching_) {
    const HeldTerm& term = counts.held()[i];
    profile.held.push_back(
        counts.Column(term.query, context().nodes.TopologyOf(term.topology_key), {}));
  }
}

PreFilterResult InterPodAffinityFilter::PreFilter(TaskId task) {
  const model::PodTemplate& pod = context().pod(task);
  const PodCounts& counts = context().counts;
  const bool own = !pod.affinity.empty() || !pod.anti_affinity.empty();
  if (!own && counts.held().empty()) return SkipFilter();
  const Profile& profile = ProfileOf(task);
  if (own) return {};
  for (ColumnId id : profile.held) {
    if (counts.column(id).total > 0) return {};
  }
  return SkipFilter();
}

bool InterPodAffinityFilter::AffinityEmpty(const Profile& profile) const {
  for (ColumnId id : profile.affinity) {
    if (context().counts.column(id).total > 0) return false;
  }
  return true;
}

// Refuses nodes that no earlier rule refused and in whose domain pods are (present) or are not.
// Nodes without the label are refused where pods are wanted.
void InterPodAffinityFilter::RejectWhere(ColumnId id, bool present, absl::Span<const NodeId> nodes,
                                         ReasonId reason, absl::Span<ReasonId> out) const {
  const CountColumn& column = context().counts.column(id);
  if (present && column.total == 0) return;
  const int32_t* domains = context().nodes.topology(column.topology).domain.data();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const int32_t domain = domains[nodes[i].index()];
    const bool any = domain != kNoDomain && column.At(domain) > 0;
    if (any == present && !out[i].valid()) out[i] = reason;
  }
}

void InterPodAffinityFilter::Filter(TaskId task, absl::Span<const NodeId> nodes,
                                    absl::Span<ReasonId> out) {
  std::fill(out.begin(), out.end(), ReasonId());
  const Profile& profile = ProfileOf(task);
  if (profile.selects_itself && AffinityEmpty(profile)) {
    // The first of a group that wants to be together: any node with all keys.
    for (ColumnId id : profile.affinity) {
      const TopologyId topology = context().counts.column(id).topology;
      const int32_t* domains = context().nodes.topology(topology).domain.data();
      for (size_t i = 0; i < nodes.size(); ++i) {
        if (domains[nodes[i].index()] == kNoDomain) out[i] = affinity_;
      }
    }
  } else {
    for (ColumnId id : profile.affinity) RejectWhere(id, false, nodes, affinity_, out);
  }
  for (ColumnId id : profile.anti) RejectWhere(id, true, nodes, anti_affinity_, out);
  for (ColumnId id : profile.held) RejectWhere(id, true, nodes, existing_, out);
}

void InterPodAffinityFilter::OnTaskMoved(TaskId task, NodeId node, bool added) {
  if (forward_) context().counts.OnTaskMoved(task, node, added);
}

// Reports the nodes of domains that have become empty or stopped being so; false: not known.
bool InterPodAffinityFilter::ReportTurned(ColumnId id, uint64_t since,
                                          framework::DirtySink& dirty) {
  const PodCounts& counts = context().counts;
  if (!counts.ChangesSince(id, since, net_)) return false;
  const CountColumn& column = counts.column(id);
  const Topology& topology = context().nodes.topology(column.topology);
  for (const CountColumn::Change& change : net_) {
    const int32_t now = column.At(change.domain);
    if ((now > 0) != (now - change.delta > 0)) dirty.Nodes(topology.members[change.domain]);
  }
  return true;
}

void InterPodAffinityFilter::CollectDirty(model::TaskClassId reader, uint64_t since,
                                          framework::DirtySink& dirty) {
  PodCounts& counts = context().counts;
  Profile* profile = profiles_.Find(reader, context().tables().classes, counts.epoch());
  if (profile == nullptr) {
    const model::PodTemplate& pod = *context().tables().classes.pod[reader];
    if (pod.affinity.empty() && pod.anti_affinity.empty() && counts.held().empty()) return;
    return dirty.All();
  }
  // A term that has come since may select the class: its nodes are not known here.
  if (since < counts.stale_before() || profile->held_checked < counts.held().size()) {
    return dirty.All();
  }
  int64_t before = 0;
  int64_t now = 0;
  for (const std::vector<ColumnId>* columns :
       {&profile->affinity, &profile->anti, &profile->held}) {
    for (ColumnId id : *columns) {
      if (!ReportTurned(id, since, dirty)) return dirty.All();
      if (columns != &profile->affinity) continue;
      now += counts.column(id).total;
      before += counts.column(id).total;
      for (const CountColumn::Change& change : net_) before -= change.delta;
    }
  }
  if (profile->selects_itself && (now == 0) != (before == 0)) dirty.All();
}

}  // namespace hekla::plugins
