#include "pkg/plugins/predicates/topology_spread.h"

#include <algorithm>
#include <limits>

namespace hekla::plugins {

using framework::Code;
using framework::PreFilterResult;
using framework::ReasonId;
using model::NodeId;
using model::TaskId;

namespace {

bool HasHardConstraint(const model::PodTemplate& pod) {
  for (const model::SpreadConstraint& c : pod.spread) {
    if (c.hard) return true;
  }
  return false;
}

// Smallest of `count` over domains that have eligible nodes; 0 where the domains are too few.
int32_t Smallest(const std::vector<int32_t>& count, const CountColumn& column,
                 int32_t min_domains) {
  if (column.domains < min_domains) return 0;
  int32_t smallest = std::numeric_limits<int32_t>::max();
  for (size_t d = 0; d < column.nodes.size(); ++d) {
    const int32_t here = column.nodes[d] > 0 ? count[d] : std::numeric_limits<int32_t>::max();
    smallest = std::min(smallest, here);
  }
  return smallest;
}

}  // namespace

void PodTopologySpreadFilter::Open(framework::ReasonTable& reasons) {
  skewed_ = reasons.Intern(Code::kUnschedulable, framework::Cause::kTopologySpread,
                           "node(s) didn't match pod topology spread constraints");
  no_label_ = reasons.Intern(
      Code::kUnschedulableAndUnresolvable, framework::Cause::kTopologySpreadLabelMissing,
      "node(s) didn't match pod topology spread constraints (missing required label)");
}

PodTopologySpreadFilter::Profile& PodTopologySpreadFilter::ProfileOf(TaskId task) {
  PodCounts& counts = context().counts;
  const model::Tables& tables = context().tables();
  const model::TaskClassId id = context().class_of(task);
  if (Profile* found = profiles_.Find(id, tables.classes, counts.epoch())) return *found;
  const model::PodTemplate& pod = context().pod(task);
  const model::Symbol owner = tables.namespaces.name[tables.tasks.namespace_id[task]];
  EligibilityRule rule;
  rule.pod = tables.tasks.spec[task]->pod;
  for (const model::SpreadConstraint& c : pod.spread) {
    if (c.hard) rule.keys.push_back(c.topology_key);
  }
  Profile profile;
  for (const model::SpreadConstraint& c : pod.spread) {
    if (!c.hard) continue;
    rule.check_affinity = c.honor_affinity;
    rule.check_taints = c.honor_taints;
    Constraint constraint;
    constraint.topology = context().nodes.TopologyOf(c.topology_key);
    constraint.column = counts.Column(counts.Query(SpreadQuery(c.selector, owner)),
                                      constraint.topology, context().nodes.Eligibility(rule));
    constraint.max_skew = c.max_skew;
    constraint.min_domains = c.min_domains;
    constraint.selects_itself = SelectsItself(c.selector, task, context().cluster());
    profile.push_back(constraint);
  }
  return profiles_.Put(id, tables.classes, std::move(profile), counts.epoch());
}

int32_t PodTopologySpreadFilter::SmallestOf(Constraint& constraint) const {
  const CountColumn& column = context().counts.column(constraint.column);
  if (constraint.version != column.version) {
    constraint.version = column.version;
    constraint.smallest = Smallest(column.count, column, constraint.min_domains);
  }
  return constraint.smallest;
}

PreFilterResult PodTopologySpreadFilter::PreFilter(TaskId task) {
  return HasHardConstraint(context().pod(task)) ? PreFilterResult() : SkipFilter();
}

void PodTopologySpreadFilter::Filter(TaskId task, absl::Span<const NodeId> nodes,
                                     absl::Span<ReasonId> out) {
  std::fill(out.begin(), out.end(), ReasonId());
  for (Constraint& constraint : ProfileOf(task)) {
    const CountColumn& column = context().counts.column(constraint.column);
    const int32_t* domains = context().nodes.topology(constraint.topology).domain.data();
    // 64 bits: without any eligible domain `smallest` is the largest number there is.
    const int64_t most =
        int64_t{constraint.max_skew} + SmallestOf(constraint) - (constraint.selects_itself ? 1 : 0);
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (out[i].valid()) continue;
      const int32_t domain = domains[nodes[i].index()];
      if (domain == kNoDomain) {
        out[i] = no_label_;
      } else if (column.At(domain) > most) {
        out[i] = skewed_;
      }
    }
  }
}

void PodTopologySpreadFilter::OnTaskMoved(TaskId task, NodeId node, bool added) {
  if (forward_) context().counts.OnTaskMoved(task, node, added);
}

// Reports the nodes of domains whose verdict is another one than at `since`; false: not known.
bool PodTopologySpreadFilter::ReportTurned(Constraint& constraint, uint64_t since,
                                           framework::DirtySink& dirty) {
  const PodCounts& counts = context().counts;
  if (!counts.ChangesSince(constraint.column, since, net_)) return false;
  if (net_.empty()) return true;
  const CountColumn& column = counts.column(constraint.column);
  const Topology& topology = context().nodes.topology(constraint.topology);
  before_ = column.count;
  for (const CountColumn::Change& change : net_) before_[change.domain] -= change.delta;
  const int64_t least_before = Smallest(before_, column, constraint.min_domains);
  const int64_t least_now = SmallestOf(constraint);
  const int64_t slack = constraint.max_skew - (constraint.selects_itself ? 1 : 0);
  const auto report = [&](size_t d) {
    if ((before_[d] > slack + least_before) != (column.count[d] > slack + least_now)) {
      dirty.Nodes(topology.members[d]);
    }
  };
  if (least_before == least_now) {
    for (const CountColumn::Change& change : net_) report(static_cast<size_t>(change.domain));
  } else {
    for (size_t d = 0; d < column.count.size(); ++d) report(d);
  }
  return true;
}

void PodTopologySpreadFilter::CollectDirty(model::TaskClassId reader, uint64_t since,
                                           framework::DirtySink& dirty) {
  const model::TaskClassTable& classes = context().tables().classes;
  if (!HasHardConstraint(*classes.pod[reader])) return;
  PodCounts& counts = context().counts;
  Profile* profile = profiles_.Find(reader, classes, counts.epoch());
  if (profile == nullptr || since < counts.stale_before()) return dirty.All();
  for (Constraint& constraint : *profile) {
    if (!ReportTurned(constraint, since, dirty)) return dirty.All();
  }
}

}  // namespace hekla::plugins
