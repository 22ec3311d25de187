#include "pkg/framework/node_search.h"

#include <utility>
#include <vector>

#include "pkg/framework/column_scan.h"
#include "pkg/framework/node_scan.h"
#include "pkg/framework/session.h"

namespace hekla::framework {

using model::NodeId;
using model::TaskId;

namespace {

// Below this many nodes whole columns do not pay.
constexpr size_t kFewNodes = 32;

}  // namespace

class NodeSearch::Impl final : public model::TaskObserver {
 public:
  explicit Impl(model::Cluster& cluster) : cluster_(cluster), scan_(cluster), columns_(cluster, scan_) {
    cluster_.SetObserver(this);
  }
  ~Impl() override { cluster_.SetObserver(nullptr); }

  void Attach(Session& session) {
    scan_.Attach(session.points(), session.reasons());
    columns_.Attach(session.points());
    coupled_filters_.clear();
    coupled_scorers_.clear();
    for (const auto& entry : session.points().filters) {
      if (entry.filter->kind() == AnswerKind::kCoupled) coupled_filters_.push_back(entry.filter);
    }
    for (const auto& entry : session.points().scorers) {
      if (entry.scorer->kind() == AnswerKind::kCoupled) coupled_scorers_.push_back(entry.scorer);
    }
  }

  void Forget() {
    columns_.Forget();
    coupled_filters_.clear();
    coupled_scorers_.clear();
  }

  void OnTaskMoved(TaskId task, NodeId node, bool added) override {
    for (NodeFilter* filter : coupled_filters_) filter->OnTaskMoved(task, node, added);
    for (NodeScorer* scorer : coupled_scorers_) scorer->OnTaskMoved(task, node, added);
  }

  // The scan must have prepared the task.
  SearchResult Best(TaskId task, const NodeSet& set, const SearchOptions& options) {
    if (!set.only.empty() || cluster_.tables().nodes.leaves.size() < kFewNodes) {
      return scan_.Best(task, set, options);
    }
    return columns_.Best(task, set, options);
  }

  NodeScan& scan() { return scan_; }

 private:
  model::Cluster& cluster_;
  NodeScan scan_;
  ColumnScan columns_;
  std::vector<NodeFilter*> coupled_filters_;
  std::vector<NodeScorer*> coupled_scorers_;
};

NodeSearch::NodeSearch(model::Cluster& cluster) : impl_(std::make_unique<Impl>(cluster)) {}

NodeSearch::~NodeSearch() = default;

void NodeSearch::Attach(Session& session) { impl_->Attach(session); }

void NodeSearch::Detach() {}

void NodeSearch::Forget() { impl_->Forget(); }

SearchResult NodeSearch::Best(TaskId task, const NodeSet& set, const SearchOptions& options) {
  SearchResult result;
  if (!impl_->scan().Prepare(task, &result.pre_filter)) return result;
  return impl_->Best(task, set, options);
}

void NodeSearch::Explain(TaskId task, const NodeSet& set, const SearchOptions& options,
                         FitErrors& out) {
  ReasonId refused;
  if (impl_->scan().Prepare(task, &refused)) {
    impl_->scan().Explain(task, set, options, out);
    return;
  }
  const auto nodes = static_cast<int32_t>(impl_->scan().NodesOf(set).size());
  out.nodes += nodes;
  if (nodes > 0) out.Add(refused, nodes);
}

bool NodeSearch::Check(TaskId task, NodeId node, std::vector<ReasonId>* reasons) {
  ReasonId refused;
  if (impl_->scan().Prepare(task, &refused)) return impl_->scan().Check(task, node, reasons);
  if (reasons != nullptr) reasons->push_back(refused);
  return false;
}

void NodeSearch::Scores(TaskId task, absl::Span<const NodeId> nodes, absl::Span<double> out) {
  ReasonId refused;
  impl_->scan().Prepare(task, &refused);
  impl_->scan().Scores(task, nodes, out);
}

}  // namespace hekla::framework
