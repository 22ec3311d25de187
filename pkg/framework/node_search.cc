#include "pkg/framework/node_search.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "pkg/framework/class_answers.h"
#include "pkg/framework/column_scan.h"
#include "pkg/framework/node_scan.h"
#include "pkg/framework/row_scan.h"
#include "pkg/framework/session.h"

namespace hekla::framework {

using model::NodeId;
using model::TaskId;

namespace {

// Answers are kept for a class from its second task on,
constexpr uint32_t kAskedBeforeKept = 2;
// or, where questions can be asked of rows, once they have cost about as much as keeping does. In
// rows looked at:
constexpr uint32_t kCostOfRows = 200;    // a question besides its rows
constexpr uint32_t kCostOfKeeping = 16;  // keeping, per node
// Answers of which time and again one node in this many must be asked anew are not worth keeping
// where questions can be asked of rows (topology spread: a placement turns whole domains).
constexpr size_t kMuch = 24;
constexpr uint32_t kTimesMuch = 3;
constexpr size_t kMaxSlots = 1 << 16;
// Below this many nodes whole columns do not pay.
constexpr size_t kFewNodes = 32;

// What kept answers depend on beside the tables.
struct Key {
  model::TaskClassId task_class;
  uint32_t class_generation;
  model::QueueId queue;     // where some active function depends on it
  model::SubJobId sub_job;  // likewise
  bool check_resources;
  friend bool operator==(const Key&, const Key&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Key& k) {
    return H::combine(std::move(h), k.task_class, k.class_generation, k.queue, k.sub_job,
                      k.check_resources);
  }
};

struct Slot {
  uint32_t asked = 0;
  uint64_t used = 0;  // number of the question that asked last
  std::unique_ptr<ClassAnswers> answers;
  uint32_t times_much = 0;  // how often many of the answers had to be asked for anew
  // Refusals of all nodes, true up to this position of the touch log.
  uint64_t explained_at = UINT64_MAX;
  uint64_t explained_order = 0;
  FitErrors explained;
};

}  // namespace

class NodeSearch::Impl final : public model::TaskObserver {
 public:
  Impl(model::Cluster& cluster, size_t budget)
      : cluster_(cluster),
        scan_(cluster),
        statics_(cluster, scan_),
        rows_(cluster, scan_, statics_),
        columns_(cluster, scan_, statics_),
        budget_(budget) {
    cluster_.SetObserver(this);
  }
  ~Impl() override { cluster_.SetObserver(nullptr); }

  void Attach(Session& session) {
    if (points_ != &session.points()) statics_.Forget();
    points_ = &session.points();
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
    points_ = nullptr;
    statics_.Forget();
    coupled_filters_.clear();
    coupled_scorers_.clear();
    slots_.clear();
    bytes_ = 0;
  }

  void OnTaskMoved(TaskId task, NodeId node, bool added) override {
    for (NodeFilter* filter : coupled_filters_) filter->OnTaskMoved(task, node, added);
    for (NodeScorer* scorer : coupled_scorers_) scorer->OnTaskMoved(task, node, added);
  }

  SearchResult Best(TaskId task, const NodeSet& set, const SearchOptions& options) {
    SearchResult result;
    if (!scan_.Prepare(task, &result.pre_filter)) return result;
    if (!set.only.empty()) return scan_.Best(task, set, options);
    if (!FindScorers(task)) return Scan(task, set, options);
    Slot& slot = SlotOf(task, options.check_resources);
    const size_t leaves = cluster_.tables().nodes.leaves.size();
    const bool much = slot.times_much >= kTimesMuch;
    if (slot.answers == nullptr && leaves >= kFewNodes && IsWhole(set) &&
        rows_.CanAnswer(task, scorers_, much)) {
      slot.asked += kCostOfRows + static_cast<uint32_t>(rows_.row_count());
      if (much || slot.asked < kCostOfKeeping * leaves) return rows_.Best(task, options);
    } else if (slot.answers == nullptr && ++slot.asked < kAskedBeforeKept) {
      return Scan(task, set, options);
    }
    result = Read(task, AnswersOf(task, slot, options.check_resources), set, options);
    if (slot.answers->asked_again() * kMuch > leaves && ++slot.times_much == kTimesMuch &&
        leaves >= kFewNodes && rows_.CanAnswer(task, scorers_, true)) {
      bytes_ -= slot.answers->bytes();
      slot.answers.reset();
    }
    if (bytes_ > budget_) Evict();
    return result;
  }

  bool MayFit(TaskId task) {
    ReasonId refused;
    if (!scan_.Prepare(task, &refused)) return false;
    if (!FindScorers(task)) return true;
    Slot& slot = SlotOf(task, /*check_resources=*/true);
    if (slot.answers == nullptr && cluster_.tables().nodes.leaves.size() >= kFewNodes &&
        rows_.CanAnswer(task, scorers_, /*leaf_filters=*/true)) {
      return rows_.Fits(task);
    }
    const ClassAnswers& answers = AnswersOf(task, slot, /*check_resources=*/true);
    const bool fits =
        answers.future_nodes() > 0 || answers.totals().TopOf(0, answers.totals().size()).count > 0;
    if (bytes_ > budget_) Evict();
    return fits;
  }

  void Explain(TaskId task, const NodeSet& set, const SearchOptions& options, FitErrors& out) {
    ReasonId refused;
    if (!scan_.Prepare(task, &refused)) {
      const auto nodes = static_cast<int32_t>(scan_.NodesOf(set).size());
      out.nodes += nodes;
      if (nodes > 0) out.Add(refused, nodes);
      return;
    }
    const bool whole = set.only.empty() && set.begin == 0 && set.end == UINT32_MAX;
    if (!whole || !FindScorers(task) || out.nodes != 0) {
      scan_.Explain(task, set, options, out);
      return;
    }
    Slot& slot = SlotOf(task, options.check_resources);
    const uint64_t position = cluster_.touches_trimmed() + cluster_.touches().size();
    const model::Tables& t = cluster_.tables();
    const uint64_t order =
        t.nodes.order_generation + t.volumes.generation + t.namespaces.generation;
    if (slot.explained_at != position || slot.explained_order != order) {
      slot.explained = FitErrors();
      scan_.Explain(task, set, options, slot.explained);
      slot.explained_at = position;
      slot.explained_order = order;
    }
    out.nodes = slot.explained.nodes;
    out.counts = slot.explained.counts;
  }

  NodeScan& scan() { return scan_; }

 private:
  // Answers of the task's class, true for now; FindScorers has said yes.
  const ClassAnswers& AnswersOf(TaskId task, Slot& slot, bool check_resources) {
    if (slot.answers == nullptr) slot.answers = std::make_unique<ClassAnswers>(cluster_);
    const size_t before = slot.answers->bytes();
    slot.answers->Update(task, scan_, scorers_, check_resources);
    bytes_ += slot.answers->bytes() - before;
    return *slot.answers;
  }

  SearchResult Scan(TaskId task, const NodeSet& set, const SearchOptions& options) {
    const bool few = cluster_.tables().nodes.leaves.size() < kFewNodes;
    return few ? scan_.Best(task, set, options) : columns_.Best(task, set, options);
  }

  static bool IsWhole(const NodeSet& set) { return set.begin == 0 && set.end == UINT32_MAX; }

  // Which scorers have a say; false if answers about the task cannot be kept.
  bool FindScorers(TaskId task) {
    scorers_.clear();
    by_queue_ = by_sub_job_ = false;
    for (const Points::FilterEntry& entry : scan_.active_filters()) {
      if (!CanKeep(entry.filter->scope())) return false;
    }
    for (const Points::ScorerEntry& entry : points_->scorers) {
      if (!entry.scorer->PreScore(task, {})) continue;
      if (entry.scorer->depends_on_candidates() || !CanKeep(entry.scorer->scope())) return false;
      scorers_.push_back(entry);
    }
    return true;
  }

  bool CanKeep(AnswerScope scope) {
    by_queue_ = by_queue_ || scope == AnswerScope::kClassAndQueue;
    by_sub_job_ = by_sub_job_ || scope == AnswerScope::kClassAndSubJob;
    return scope != AnswerScope::kTask;
  }

  Slot& SlotOf(TaskId task, bool check_resources) {
    const model::Tables& t = cluster_.tables();
    Key key{t.tasks.task_class[task], 0, {}, {}, check_resources};
    key.class_generation = t.classes.generation[key.task_class];
    const model::JobId job = t.tasks.job[task];
    if (by_queue_ && job.valid()) key.queue = t.jobs.queue[job];
    if (by_sub_job_) key.sub_job = t.tasks.sub_job[task];
    if (slots_.size() >= kMaxSlots && !slots_.contains(key)) {
      absl::erase_if(slots_, [](const auto& entry) { return entry.second->answers == nullptr; });
    }
    std::unique_ptr<Slot>& slot = slots_[key];
    if (slot == nullptr) slot = std::make_unique<Slot>();
    slot->used = ++questions_;
    return *slot;
  }

  SearchResult Read(TaskId task, const ClassAnswers& answers, const NodeSet& set,
                    const SearchOptions& options) {
    SearchResult result;
    const MaxTree& totals = answers.totals();
    const size_t end = std::min<size_t>(set.end, totals.size());
    const bool whole = set.begin == 0 && end == totals.size();
    const absl::Span<const NodeId> leaves = cluster_.tables().nodes.leaves;
    const MaxTree::Top top = totals.TopOf(set.begin, end);
    if (top.count > 0) {
      result.room = Room::kIdle;
      if (whole || answers.uniform()) {
        const uint64_t k = scan_.TieOf(task, top.count);
        result.node = leaves[totals.Find(set.begin, end, top.value, k)];
      } else {
        result.node = PickRoom(task, answers, Room::kIdle, set.begin, end);
      }
      return result;
    }
    if (!options.allow_future || answers.future_nodes() == 0) return result;
    result.node = PickRoom(task, answers, Room::kFutureIdle, set.begin, end);
    if (result.node.valid()) result.room = Room::kFutureIdle;
    return result;
  }

  NodeId PickRoom(TaskId task, const ClassAnswers& answers, Room room, size_t begin, size_t end) {
    picked_.clear();
    const std::vector<NodeId>& leaves = cluster_.tables().nodes.leaves;
    for (size_t i = begin; i < end; ++i) {
      if (answers.room(i) == room) picked_.push_back(leaves[i]);
    }
    return picked_.empty() ? NodeId() : scan_.Pick(task, picked_);
  }

  // Drops the answers that were asked for longest ago until half of the budget is free. The order
  // of questions decides, so that equal runs keep equal answers.
  void Evict() {
    std::vector<std::pair<uint64_t, Slot*>> kept;
    for (auto& [key, slot] : slots_) {
      if (slot->answers != nullptr) kept.emplace_back(slot->used, slot.get());
    }
    std::sort(kept.begin(), kept.end());
    for (auto& [used, slot] : kept) {
      if (bytes_ <= budget_ / 2) break;
      bytes_ -= slot->answers->bytes();
      slot->answers.reset();
      slot->asked = 0;
    }
  }

  model::Cluster& cluster_;
  NodeScan scan_;
  StaticAnswers statics_;
  RowScan rows_;
  ColumnScan columns_;
  const size_t budget_;
  const Points* points_ = nullptr;
  std::vector<NodeFilter*> coupled_filters_;
  std::vector<NodeScorer*> coupled_scorers_;
  absl::flat_hash_map<Key, std::unique_ptr<Slot>> slots_;
  size_t bytes_ = 0;
  uint64_t questions_ = 0;
  ActiveScorers scorers_;  // of the question at hand
  bool by_queue_ = false, by_sub_job_ = false;
  std::vector<NodeId> picked_;
};

NodeSearch::NodeSearch(model::Cluster& cluster, size_t budget_bytes)
    : impl_(std::make_unique<Impl>(cluster, budget_bytes)) {}

NodeSearch::~NodeSearch() = default;

void NodeSearch::Attach(Session& session) { impl_->Attach(session); }

void NodeSearch::Forget() { impl_->Forget(); }

SearchResult NodeSearch::Best(TaskId task, const NodeSet& set, const SearchOptions& options) {
  return impl_->Best(task, set, options);
}

bool NodeSearch::MayFit(TaskId task) { return impl_->MayFit(task); }

void NodeSearch::Explain(TaskId task, const NodeSet& set, const SearchOptions& options,
                         FitErrors& out) {
  impl_->Explain(task, set, options, out);
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
