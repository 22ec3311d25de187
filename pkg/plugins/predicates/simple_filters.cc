#include "pkg/plugins/predicates/simple_filters.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "pkg/util/vectorized.h"

namespace hekla::plugins {

using framework::Cause;
using framework::Code;
using framework::PreFilterResult;
using framework::ReasonId;
using framework::ReasonTable;
using model::NodeId;
using model::TaskId;

PreFilterResult FilterContext::RejectAll(absl::string_view name, Cause cause,
                                         absl::string_view message) const {
  const std::string head = absl::StrCat("plugin ", name, " pre-predicates failed ");
  return {PreFilterResult::Outcome::kRejectAll,
          reasons->Intern(Code::kError, cause, absl::StrCat(head, message), head.size())};
}

void PodNumberFilter::Open(ReasonTable& reasons) {
  full_ = reasons.Intern(Code::kUnschedulable, Cause::kPodNumberExceeded,
                         "node(s) pod number exceeded");
}

void PodNumberFilter::Filter(TaskId task, absl::Span<const NodeId> nodes,
                             absl::Span<ReasonId> out) {
  (void)task;
  const model::NodeTable& table = context().tables().nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const int64_t room = table.allocatable.row(nodes[i].index())[model::kPods];
    out[i] = room <= static_cast<int64_t>(table.pod_count[nodes[i]]) ? full_ : ReasonId();
  }
}

namespace {

HEKLA_VECTORIZED void RefuseFull(const double* left, double* slack, size_t n) {
  for (size_t i = 0; i < n; ++i) slack[i] = left[i] > 0 ? slack[i] : -1.0;
}

}  // namespace

bool PodNumberFilter::FilterRows(TaskId task, const framework::NodeRows& rows, size_t begin,
                                 absl::Span<double> slack) {
  (void)task;
  const model::NodeTable& table = context().tables().nodes;
  left_.resize(rows.size());
  const auto read = [&](uint32_t row) {
    const NodeId node = rows.nodes()[row];
    left_[row] = static_cast<double>(table.allocatable.row(node.index())[model::kPods] -
                                     static_cast<int64_t>(table.pod_count[node]));
  };
  if (!cursor_.CatchUp(rows, read)) {
    for (uint32_t row = 0; row < rows.size(); ++row) read(row);
  }
  RefuseFull(left_.data() + begin, slack.data(), slack.size());
  return true;
}

void NodeUnschedulableFilter::Open(ReasonTable& reasons) {
  unschedulable_ = reasons.Intern(Code::kUnschedulableAndUnresolvable, Cause::kNodeUnschedulable,
                                  "node(s) were unschedulable");
  // A key or value that nobody has used stays invalid: then no toleration names it either.
  const model::SymbolTable& symbols = context().cluster().dictionary().symbols;
  taint_ = {symbols.Find("node.kubernetes.io/unschedulable"), symbols.Find(""),
            model::Taint::Effect::kNoSchedule};
}

bool NodeUnschedulableFilter::Tolerated(TaskId task) const {
  for (const model::Toleration& t : context().pod(task).tolerations) {
    if (model::Tolerates(t, taint_)) return true;
  }
  return false;
}

PreFilterResult NodeUnschedulableFilter::PreFilter(TaskId task) {
  return Tolerated(task) ? SkipFilter() : PreFilterResult();
}

void NodeUnschedulableFilter::Filter(TaskId task, absl::Span<const NodeId> nodes,
                                     absl::Span<ReasonId> out) {
  const uint8_t* closed = context().nodes.unschedulable();
  const ReasonId reason = Tolerated(task) ? ReasonId() : unschedulable_;
  for (size_t i = 0; i < nodes.size(); ++i) {
    out[i] = closed[nodes[i].index()] != 0 ? reason : ReasonId();
  }
}

void NodeAffinityFilter::Open(ReasonTable& reasons) {
  mismatch_ = reasons.Intern(Code::kUnschedulableAndUnresolvable, Cause::kNodeAffinityMismatch,
                             "node(s) didn't match Pod's node affinity/selector");
}

namespace {

// True if every term names nodes (metadata.name In) and no node is named by all requirements of
// any.
bool NamesConflict(const model::PodTemplate& pod) {
  if (!pod.has_required_affinity || pod.required_affinity.empty()) return false;
  for (const model::NodeTerm& term : pod.required_affinity) {
    bool named = false;
    bool possible = true;
    model::Symbol name;
    for (const model::Requirement& r : term.fields) {
      if (r.op != model::SelectorOp::kIn || r.values.empty()) continue;
      possible = possible && (!named || name == r.values.front());
      named = true;
      name = r.values.front();
    }
    if (!named || possible) return false;
  }
  return true;
}

}  // namespace

PreFilterResult NodeAffinityFilter::PreFilter(TaskId task) {
  const model::PodTemplate& pod = context().pod(task);
  if (pod.node_selector.empty() && !pod.has_required_affinity) return SkipFilter();
  if (NamesConflict(pod))
    return context().RejectAll(name(), Cause::kAffinityConflict, "pod affinity terms conflict");
  return {};
}

void NodeAffinityFilter::Filter(TaskId task, absl::Span<const NodeId> nodes,
                                absl::Span<ReasonId> out) {
  const model::TaskClassTable& classes = context().tables().classes;
  const model::TaskClassId id = context().class_of(task);
  std::unique_ptr<NodeMatcher>* matcher = matchers_.Find(id, classes);
  if (matcher == nullptr) {
    matcher = &matchers_.Put(id, classes,
                             std::make_unique<NodeMatcher>(context().nodes, context().pod(task)));
  }
  ok_.resize(nodes.size());
  (*matcher)->Match(nodes, absl::MakeSpan(ok_));
  for (size_t i = 0; i < nodes.size(); ++i) out[i] = ok_[i] != 0 ? ReasonId() : mismatch_;
}

void TaintTolerationFilter::Open(ReasonTable& reasons) {
  tainted_ = reasons.Intern(Code::kUnschedulableAndUnresolvable, Cause::kUntoleratedTaint,
                            "node(s) had untolerated taint(s)");
}

void TaintTolerationFilter::Filter(TaskId task, absl::Span<const NodeId> nodes,
                                   absl::Span<ReasonId> out) {
  const model::TaskClassTable& classes = context().tables().classes;
  const model::TaskClassId id = context().class_of(task);
  std::vector<uint8_t>* verdicts = verdicts_.Find(id, classes);
  if (verdicts == nullptr) verdicts = &verdicts_.Put(id, classes, {});
  const NodeColumns& columns = context().nodes;
  while (verdicts->size() < columns.taint_set_count()) {
    verdicts->push_back(
        ToleratesHardTaints(context().pod(task).tolerations, columns.taints(verdicts->size())));
  }
  const uint8_t* fine = verdicts->data();
  const uint32_t* sets = columns.taint_set();
  for (size_t i = 0; i < nodes.size(); ++i) {
    out[i] = fine[sets[nodes[i].index()]] != 0 ? ReasonId() : tainted_;
  }
}

void NodePortsFilter::Open(ReasonTable& reasons) {
  taken_ = reasons.Intern(Code::kUnschedulable, Cause::kHostPortsTaken,
                          "node(s) didn't have free ports for the requested pod ports");
  any_address_ = context().cluster().dictionary().symbols.Find("0.0.0.0");
}

void NodePortsFilter::Read(NodeId node) {
  const model::Tables& tables = context().tables();
  std::vector<model::HostPort>& used = used_[node];
  used.clear();
  for (TaskId task : tables.nodes.tasks[node]) {
    const std::vector<model::HostPort>& ports = tables.tasks.pod[task]->host_ports;
    used.insert(used.end(), ports.begin(), ports.end());
  }
}

void NodePortsFilter::CatchUp() {
  const model::Cluster& cluster = context().cluster();
  const uint64_t trimmed = cluster.touches_trimmed();
  const std::vector<model::NodeTouch>& touches = cluster.touches();
  const size_t rows = context().tables().nodes.size();
  if (used_.size() < rows) used_.resize(rows);
  if (!started_ || position_ < trimmed) {
    for (size_t i = 0; i < rows; ++i) Read(NodeId(static_cast<uint32_t>(i)));
  } else {
    for (size_t i = position_ - trimmed; i < touches.size(); ++i) Read(touches[i].node);
  }
  started_ = true;
  position_ = trimmed + touches.size();
}

PreFilterResult NodePortsFilter::PreFilter(TaskId task) {
  return context().pod(task).host_ports.empty() ? SkipFilter() : PreFilterResult();
}

void NodePortsFilter::Filter(TaskId task, absl::Span<const NodeId> nodes,
                             absl::Span<ReasonId> out) {
  const std::vector<model::HostPort>& wanted = context().pod(task).host_ports;
  std::fill(out.begin(), out.end(), ReasonId());
  if (wanted.empty()) return;
  CatchUp();
  const auto conflict = [this](const model::HostPort& a, const model::HostPort& b) {
    return a.port == b.port && a.protocol == b.protocol &&
           (a.ip == b.ip || a.ip == any_address_ || b.ip == any_address_);
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const model::HostPort& used : used_[nodes[i]]) {
      for (const model::HostPort& port : wanted) {
        if (conflict(used, port)) out[i] = taken_;
      }
    }
  }
}

PreFilterResult DynamicResourcesFilter::PreFilter(TaskId task) {
  if (!context().pod(task).has_resource_claims) return SkipFilter();
  return context().RejectAll(name(), Cause::kUnsupported, kUnsupported);
}

void DynamicResourcesFilter::Filter(TaskId task, absl::Span<const NodeId> nodes,
                                    absl::Span<ReasonId> out) {
  (void)nodes;
  const PreFilterResult all = PreFilter(task);
  std::fill(out.begin(), out.end(), all.reason);
}

}  // namespace hekla::plugins
