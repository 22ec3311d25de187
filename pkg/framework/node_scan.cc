#include "pkg/framework/node_scan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/util/random.h"

namespace hekla::framework {

using model::NodeId;
using model::Resource;
using model::TaskId;

void NodeScan::Attach(const Points& points, ReasonTable& reasons) {
  points_ = &points;
  if (reasons_ != &reasons) shortfalls_.clear();
  reasons_ = &reasons;
  room_.resize(tables().nodes.idle.stride());
}

bool NodeScan::Prepare(TaskId task, ReasonId* refused) {
  active_.clear();
  const std::string& host_error = tables().tasks.spec[task]->host_error;
  if (!host_error.empty()) {
    *refused = reasons_->Intern(Code::kError, Cause::kUnsupported, host_error);
    return false;
  }
  if (const ReasonId r = points_->pre_predicate(task); r.valid()) {
    *refused = r;
    return false;
  }
  for (const Points::FilterEntry& entry : points_->filters) {
    const PreFilterResult result = entry.filter->PreFilter(task);
    if (result.outcome == PreFilterResult::Outcome::kRejectAll) {
      *refused = result.reason;
      return false;
    }
    if (result.outcome == PreFilterResult::Outcome::kRun) active_.push_back(entry);
  }
  return true;
}

absl::Span<const NodeId> NodeScan::NodesOf(const NodeSet& set) {
  const model::NodeTable& nodes = tables().nodes;
  const absl::Span<const NodeId> leaves = nodes.leaves;
  const size_t end = std::min<size_t>(set.end, leaves.size());
  const size_t begin = std::min<size_t>(set.begin, end);
  if (set.only.empty()) return leaves.subspan(begin, end - begin);
  only_.clear();
  for (NodeId node : set.only) {
    const uint32_t position = nodes.leaf_position[node];
    if (position >= begin && position < end) only_.push_back(node);
  }
  std::sort(only_.begin(), only_.end(),
            [&](NodeId a, NodeId b) { return nodes.leaf_position[a] < nodes.leaf_position[b]; });
  return only_;
}

const int64_t* NodeScan::FutureIdle(NodeId node) {
  const model::NodeTable& nodes = tables().nodes;
  const int64_t* idle = nodes.idle.row(node.index());
  const int64_t* releasing = nodes.releasing.row(node.index());
  const int64_t* pipelined = nodes.pipelined.row(node.index());
  room_.resize(nodes.idle.stride());
  for (size_t d = 0; d < room_.size(); ++d) room_[d] = idle[d] + releasing[d] - pipelined[d];
  return room_.data();
}

void NodeScan::Filter(TaskId task, std::vector<NodeId>& nodes) {
  for (const Points::FilterEntry& entry : active_) {
    if (nodes.empty()) return;
    answers_.assign(nodes.size(), ReasonId());
    entry.filter->Filter(task, nodes, absl::MakeSpan(answers_));
    size_t kept = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!answers_[i].valid()) nodes[kept++] = nodes[i];
    }
    nodes.resize(kept);
  }
}

SearchResult NodeScan::Best(TaskId task, const NodeSet& set, const SearchOptions& options) {
  const Resource& request = tables().tasks.pod[task]->request;
  const model::NodeTable& nodes = tables().nodes;
  const size_t width = nodes.idle.width();
  nodes_.clear();
  for (NodeId node : NodesOf(set)) {
    if (options.check_resources && !model::Fits(request, FutureIdle(node), width)) continue;
    nodes_.push_back(node);
  }
  Filter(task, nodes_);
  idle_.clear();
  future_.clear();
  for (NodeId node : nodes_) {
    const bool now =
        !options.check_resources || model::Fits(request, nodes.idle.row(node.index()), width);
    (now ? idle_ : future_).push_back(node);
  }
  SearchResult result;
  if (!idle_.empty()) {
    result.room = Room::kIdle;
    result.node = Pick(task, idle_);
  } else if (options.allow_future && !future_.empty()) {
    result.room = Room::kFutureIdle;
    result.node = Pick(task, future_);
  }
  return result;
}

NodeId NodeScan::Pick(TaskId task, absl::Span<const NodeId> candidates) {
  if (candidates.size() == 1) return candidates.front();
  order_.resize(candidates.size());
  Scores(task, candidates, absl::MakeSpan(order_));
  const double best = *std::max_element(order_.begin(), order_.end());
  const auto ties = static_cast<uint64_t>(std::count(order_.begin(), order_.end(), best));
  uint64_t k = TieOf(task, ties);
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (order_[i] == best && k-- == 0) return candidates[i];
  }
  return candidates.front();
}

uint64_t NodeScan::TieOf(TaskId task, uint64_t ties) const {
  if (ties <= 1) return 0;
  const std::string& uid = tables().tasks.spec[task]->uid;
  return util::StableHash(uid, cluster_->options().seed) % ties;
}

void NodeScan::AddScorers(TaskId task, absl::Span<const NodeId> nodes, bool batch,
                          absl::Span<double> sums) {
  std::fill(sums.begin(), sums.end(), 0.0);
  raw_.resize(nodes.size());
  for (const Points::ScorerEntry& entry : points_->scorers) {
    NodeScorer& scorer = *entry.scorer;
    if (entry.batch != batch) continue;
    const bool whole = scorer.depends_on_candidates();
    if (!scorer.PreScore(task, whole ? nodes : absl::Span<const NodeId>())) continue;
    scorer.Score(task, nodes, absl::MakeSpan(raw_));
    double low = 0, high = 0;
    bool any = false;
    for (double r : raw_) {
      if (r == NodeScorer::kIgnored) continue;
      low = any ? std::min(low, r) : r;
      high = any ? std::max(high, r) : r;
      any = true;
    }
    const double weight = scorer.weight();
    const bool normalizes = scorer.normalizes();
    for (size_t i = 0; i < raw_.size(); ++i) {
      if (raw_[i] == NodeScorer::kIgnored) continue;
      sums[i] += weight * (normalizes ? scorer.Normalized(raw_[i], low, high) : raw_[i]);
    }
  }
}

void NodeScan::Scores(TaskId task, absl::Span<const NodeId> nodes, absl::Span<double> out) {
  batch_.resize(nodes.size());
  AddScorers(task, nodes, /*batch=*/false, out);
  AddScorers(task, nodes, /*batch=*/true, absl::MakeSpan(batch_));
  for (size_t i = 0; i < nodes.size(); ++i) out[i] += batch_[i];
}

ReasonId NodeScan::Shortfall(int dim) {
  const auto index = static_cast<size_t>(dim);
  if (index >= shortfalls_.size()) shortfalls_.resize(index + 1);
  if (!shortfalls_[index].valid()) {
    const std::string name =
        cluster_->dictionary().resources.Name(static_cast<model::ResourceDim>(dim));
    const Cause cause =
        dim == model::kPods ? Cause::kInsufficientPods : Cause::kInsufficientResource;
    shortfalls_[index] =
        reasons_->Intern(Code::kUnschedulable, cause, absl::StrCat("Insufficient ", name));
  }
  return shortfalls_[index];
}

void NodeScan::ExplainFilters(TaskId task, std::vector<NodeId>& nodes, FitErrors& out,
                              std::vector<ReasonId>* list) {
  std::vector<uint8_t> refused(nodes.size(), 0);  // by the plugin at hand
  std::vector<size_t> open;                       // indexes its next filter is asked about
  size_t i = 0;
  while (i < active_.size() && !nodes.empty()) {
    const int32_t plugin = active_[i].plugin;
    refused.assign(nodes.size(), 0);
    open.resize(nodes.size());
    for (size_t n = 0; n < nodes.size(); ++n) open[n] = n;
    for (; i < active_.size() && active_[i].plugin == plugin; ++i) {
      asked_.clear();
      for (size_t n : open) asked_.push_back(nodes[n]);
      answers_.assign(asked_.size(), ReasonId());
      active_[i].filter->Filter(task, asked_, absl::MakeSpan(answers_));
      size_t kept = 0;
      for (size_t a = 0; a < asked_.size(); ++a) {
        const ReasonId reason = answers_[a];
        if (reason.valid()) {
          refused[open[a]] = 1;
          out.Add(reason);
          if (list != nullptr) list->push_back(reason);
          if (reasons_->code(reason) != Code::kUnschedulable) continue;
        }
        open[kept++] = open[a];
      }
      open.resize(kept);
    }
    size_t kept = 0;
    for (size_t n = 0; n < nodes.size(); ++n) {
      if (refused[n]) {
        ++out.nodes;
      } else {
        nodes[kept++] = nodes[n];
      }
    }
    nodes.resize(kept);
  }
}

void NodeScan::Explain(TaskId task, const NodeSet& set, const SearchOptions& options,
                       FitErrors& out) {
  const Resource& request = tables().tasks.pod[task]->request;
  const size_t width = tables().nodes.idle.width();
  nodes_.clear();
  for (NodeId node : NodesOf(set)) {
    int dim = -1;
    if (options.check_resources) dim = model::FirstShortfall(request, FutureIdle(node), width);
    if (dim < 0) {
      nodes_.push_back(node);
      continue;
    }
    out.Add(Shortfall(dim));
    ++out.nodes;
  }
  ExplainFilters(task, nodes_, out, nullptr);
}

bool NodeScan::Check(TaskId task, NodeId node, std::vector<ReasonId>* reasons) {
  FitErrors unused;
  nodes_.assign(1, node);
  ExplainFilters(task, nodes_, unused, reasons);
  return unused.nodes == 0;
}

}  // namespace hekla::framework
