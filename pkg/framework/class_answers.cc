#include "pkg/framework/class_answers.h"

#include <algorithm>

#include "glog/logging.h"
#include "pkg/framework/column_math.h"

namespace hekla::framework {

using model::NodeId;
using model::TaskId;

namespace {

class Collector final : public DirtySink {
 public:
  Collector(const model::NodeTable& nodes, std::vector<uint8_t>& marked,
            std::vector<uint32_t>& dirty)
      : nodes_(nodes), marked_(marked), dirty_(dirty) {}
  void All() override { all_ = true; }
  void Nodes(absl::Span<const NodeId> nodes) override {
    for (NodeId node : nodes) Mark(node);
  }
  void Mark(NodeId node) {
    const uint32_t position = nodes_.leaf_position[node];
    if (position == UINT32_MAX || marked_[position]) return;
    marked_[position] = 1;
    dirty_.push_back(position);
  }
  bool all() const { return all_; }

 private:
  const model::NodeTable& nodes_;
  std::vector<uint8_t>& marked_;
  std::vector<uint32_t>& dirty_;
  bool all_ = false;
};

bool SameScorers(const ActiveScorers& a, const ActiveScorers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.scorer == y.scorer; });
}

}  // namespace

size_t ClassAnswers::bytes() const {
  return totals_.bytes() + rooms_.size() * 2 + columns_.size() * rooms_.size() * sizeof(double);
}

bool ClassAnswers::CanCatchUp(const NodeScan& scan, const ActiveScorers& scorers,
                              bool check_resources) const {
  const model::Tables& t = cluster_->tables();
  if (!built_ || order_generation_ != t.nodes.order_generation ||
      volumes_ != t.volumes.generation || namespaces_ != t.namespaces.generation ||
      position_ < cluster_->touches_trimmed() || check_resources_ != check_resources) {
    return false;
  }
  const auto& active = scan.active_filters();
  const bool same_filters =
      std::equal(active.begin(), active.end(), filters_.begin(), filters_.end(),
                 [](const Points::FilterEntry& e, const NodeFilter* f) { return e.filter == f; });
  return same_filters && SameScorers(scorers, scorers_);
}

// False if it is simpler to ask everything again.
bool ClassAnswers::CollectDirty(TaskId task, const NodeScan& scan, const ActiveScorers& scorers) {
  const model::Tables& t = cluster_->tables();
  const std::vector<model::NodeTouch>& touches = cluster_->touches();
  const size_t from = position_ - cluster_->touches_trimmed();
  dirty_.clear();
  if (touches.size() == from) return true;
  if (touches.size() - from > rooms_.size() / 4 + 64) return false;
  Collector collector(t.nodes, marked_, dirty_);
  for (size_t i = from; i < touches.size(); ++i) collector.Mark(touches[i].node);
  const model::TaskClassId reader = t.tasks.task_class[task];
  for (const Points::FilterEntry& e : scan.active_filters()) {
    if (e.filter->kind() != AnswerKind::kCoupled) continue;
    e.filter->CollectDirty(reader, position_, collector);
  }
  for (const Points::ScorerEntry& e : scorers) {
    if (e.scorer->kind() != AnswerKind::kCoupled) continue;
    e.scorer->CollectDirty(reader, position_, collector);
  }
  for (uint32_t position : dirty_) marked_[position] = 0;
  return !collector.all() && dirty_.size() <= rooms_.size() / 2 + 64;
}

void ClassAnswers::Update(TaskId task, NodeScan& scan, const ActiveScorers& scorers,
                          bool check_resources) {
  asked_again_ = 0;
  if (!CanCatchUp(scan, scorers, check_resources) || !CollectDirty(task, scan, scorers)) {
    asked_again_ = built_ ? rooms_.size() : 0;
    Rebuild(task, scan, scorers, check_resources);
  } else if (!dirty_.empty()) {
    asked_again_ = dirty_.size();
    if (Ask(task, scan, dirty_)) {
      for (uint32_t position : dirty_) totals_.Set(position, TotalOf(position));
    } else {
      SumEverything();
    }
  }
  position_ = cluster_->touches_trimmed() + cluster_->touches().size();
}

void ClassAnswers::Rebuild(TaskId task, NodeScan& scan, const ActiveScorers& scorers,
                           bool check_resources) {
  const model::Tables& t = cluster_->tables();
  const size_t n = t.nodes.leaves.size();
  built_ = true;
  check_resources_ = check_resources;
  order_generation_ = t.nodes.order_generation;
  volumes_ = t.volumes.generation;
  namespaces_ = t.namespaces.generation;
  filters_.clear();
  for (const Points::FilterEntry& e : scan.active_filters()) filters_.push_back(e.filter);
  scorers_ = scorers;
  rooms_.assign(n, Room::kNone);
  future_ = 0;
  columns_.resize(scorers_.size());
  for (Column& column : columns_) {
    column.raw.assign(n, 0);
    column.values.clear();
  }
  marked_.assign(n, 0);
  dirty_.resize(n);
  for (uint32_t i = 0; i < n; ++i) dirty_[i] = i;
  Ask(task, scan, dirty_);
  SumEverything();
}

Room ClassAnswers::RoomOf(const model::Resource& request, NodeId node) const {
  if (!check_resources_) return Room::kIdle;
  const model::NodeTable& nodes = cluster_->tables().nodes;
  const size_t row = node.index(), width = nodes.idle.width();
  const int64_t* idle = nodes.idle.row(row);
  const int64_t* releasing = nodes.releasing.row(row);
  const int64_t* pipelined = nodes.pipelined.row(row);
  const absl::Span<const int64_t> want = request.amounts();
  bool now = true;
  for (size_t d = 0; d < want.size(); ++d) {
    const int64_t have = d < width ? idle[d] : 0;
    const int64_t later = d < width ? have + releasing[d] - pipelined[d] : 0;
    if (want[d] > later) return Room::kNone;
    now = now && want[d] <= have;
  }
  return now ? Room::kIdle : Room::kFutureIdle;
}

void ClassAnswers::Count(Column& column, double value, int32_t times) {
  auto it = std::lower_bound(column.values.begin(), column.values.end(), value,
                             [](const auto& entry, double v) { return entry.first < v; });
  if (it == column.values.end() || it->first != value) {
    it = column.values.insert(it, {value, 0});
  }
  it->second += times;
  if (it->second == 0) column.values.erase(it);
}

// True if none has moved.
bool ClassAnswers::FindExtrema() {
  bool same = true;
  uniform_ = true;
  for (size_t s = 0; s < scorers_.size(); ++s) {
    if (!scorers_[s].scorer->normalizes()) continue;
    Column& column = columns_[s];
    const double low = column.values.empty() ? 0 : column.values.front().first;
    const double high = column.values.empty() ? 0 : column.values.back().first;
    same = same && low == column.low && high == column.high;
    uniform_ = uniform_ && low == high;
    column.low = low;
    column.high = high;
  }
  return same;
}

bool ClassAnswers::Ask(TaskId task, NodeScan& scan, const std::vector<uint32_t>& positions) {
  const model::Tables& t = cluster_->tables();
  const model::Resource& request = t.tasks.pod[task]->request;
  const auto count_all = [&](uint32_t position, int32_t times) {
    for (size_t s = 0; s < scorers_.size(); ++s) {
      const double raw = columns_[s].raw[position];
      if (!scorers_[s].scorer->normalizes() || raw == NodeScorer::kIgnored) continue;
      Count(columns_[s], raw, times);
    }
  };
  nodes_.clear();
  for (uint32_t position : positions) {
    if (rooms_[position] == Room::kIdle) count_all(position, -1);
    if (rooms_[position] == Room::kFutureIdle) --future_;
    const NodeId node = t.nodes.leaves[position];
    rooms_[position] = RoomOf(request, node);
    if (rooms_[position] != Room::kNone) nodes_.push_back(node);
    marked_[position] = rooms_[position] != Room::kNone ? 1 : 0;
  }
  scan.Filter(task, nodes_);
  scored_.clear();
  for (NodeId node : nodes_) {
    const uint32_t position = t.nodes.leaf_position[node];
    marked_[position] = 0;
    if (rooms_[position] == Room::kFutureIdle) ++future_;
    if (rooms_[position] == Room::kIdle) scored_.push_back(node);
  }
  for (uint32_t position : positions) {  // what is still marked was filtered out
    if (marked_[position]) rooms_[position] = Room::kNone;
    marked_[position] = 0;
  }
  Score(task, positions.size() == rooms_.size() && scored_.size() * 2 > rooms_.size());
  return FindExtrema();
}

// Raw scores of the nodes in `scored_`, counted. `whole`: asks about all leaves in a row, which is
// cheaper where most of them are wanted.
void ClassAnswers::Score(TaskId task, bool whole) {
  const model::NodeTable& nodes = cluster_->tables().nodes;
  raw_.resize(scored_.size());
  for (size_t s = 0; s < scorers_.size() && !scored_.empty(); ++s) {
    std::vector<double>& column = columns_[s].raw;
    NodeScorer& scorer = *scorers_[s].scorer;
    if (whole) {
      scorer.Score(task, nodes.leaves, absl::MakeSpan(column));
    } else {
      scorer.Score(task, scored_, absl::MakeSpan(raw_));
      for (size_t i = 0; i < scored_.size(); ++i) column[nodes.leaf_position[scored_[i]]] = raw_[i];
    }
    if (!scorer.normalizes()) continue;
    // Mostly the same value many times over.
    double value = NodeScorer::kIgnored;
    int32_t times = 0;
    for (NodeId node : scored_) {
      const double raw = column[nodes.leaf_position[node]];
      if (raw != value) {
        if (value != NodeScorer::kIgnored) Count(columns_[s], value, times);
        value = raw;
        times = 0;
      }
      ++times;
    }
    if (value != NodeScorer::kIgnored) Count(columns_[s], value, times);
  }
}

// The same sums in the same order as NodeScan's.
double ClassAnswers::TotalOf(uint32_t position) const {
  if (rooms_[position] != Room::kIdle) return MaxTree::kAbsent;
  double order = 0, batch = 0;
  for (size_t s = 0; s < scorers_.size(); ++s) {
    const double raw = columns_[s].raw[position];
    if (raw == NodeScorer::kIgnored) continue;
    const NodeScorer& scorer = *scorers_[s].scorer;
    const double value =
        scorer.normalizes() ? scorer.Normalized(raw, columns_[s].low, columns_[s].high) : raw;
    (scorers_[s].batch ? batch : order) += scorer.weight() * value;
  }
  return order + batch;
}

// Adds one scorer's share to the sums of all positions.
void ClassAnswers::AddShare(size_t s, std::vector<double>& sums) const {
  const NodeScorer& scorer = *scorers_[s].scorer;
  const Column& column = columns_[s];
  const double weight = scorer.weight();
  if (!scorer.normalizes()) return AddWeighted(column.raw.data(), weight, sums.data(), sums.size());
  if (column.values.empty()) return;
  int64_t counted = 0;
  for (const auto& [value, times] : column.values) counted += times;
  if (column.low == column.high && counted == idle_) {
    const double value = scorer.Normalized(column.low, column.low, column.high);
    return AddConstant(weight * value, sums.data(), sums.size());
  }
  double last = column.low;
  double share = weight * scorer.Normalized(last, column.low, column.high);
  for (size_t i = 0; i < sums.size(); ++i) {
    if (rooms_[i] != Room::kIdle || column.raw[i] == NodeScorer::kIgnored) continue;
    if (column.raw[i] != last) {
      last = column.raw[i];
      share = weight * scorer.Normalized(last, column.low, column.high);
    }
    sums[i] += share;
  }
}

// As TotalOf, for all positions.
void ClassAnswers::SumEverything() {
  std::vector<double> totals(rooms_.size(), 0);
  std::vector<double>& batch = raw_;
  batch.assign(rooms_.size(), 0);
  idle_ = std::count(rooms_.begin(), rooms_.end(), Room::kIdle);
  for (size_t s = 0; s < scorers_.size(); ++s) AddShare(s, scorers_[s].batch ? batch : totals);
  AddColumn(batch.data(), totals.data(), totals.size());
  for (size_t i = 0; i < totals.size(); ++i) {
    if (rooms_[i] != Room::kIdle) totals[i] = MaxTree::kAbsent;
  }
  totals_.Assign(std::move(totals));
}

}  // namespace hekla::framework
