#include "pkg/framework/column_scan.h"

#include <algorithm>

#include "pkg/framework/column_math.h"
#include "pkg/util/vectorized.h"

namespace hekla::framework {

using model::NodeId;
using model::TaskId;

namespace {

// ok[i] stays 1 where slack[i] is not negative; returns how many.
HEKLA_VECTORIZED size_t KeepFitting(const double* slack, uint8_t* ok, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < n; ++i) {
    ok[i] = static_cast<uint8_t>(ok[i] & (slack[i] >= 0 ? 1 : 0));
    count += ok[i];
  }
  return count;
}

// How many of the marked have slack.
HEKLA_VECTORIZED size_t CountFitting(const double* slack, const uint8_t* ok, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < n; ++i) count += ok[i] & (slack[i] >= 0 ? 1 : 0);
  return count;
}

// Unmarked sums become -infinity.
HEKLA_VECTORIZED void KeepMarked(const uint8_t* ok, double* sums, size_t n) {
  for (size_t i = 0; i < n; ++i) sums[i] = ok[i] != 0 ? sums[i] : -__builtin_inf();
}

HEKLA_VECTORIZED size_t KeepMasked(const uint8_t* mask, uint8_t* ok, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < n; ++i) {
    ok[i] &= mask[i];
    count += ok[i];
  }
  return count;
}

// How many marked values differ from `value`.
HEKLA_VECTORIZED int64_t CountOthers(const double* raw, const uint8_t* ok, double value, size_t n) {
  int64_t others = 0;
  for (size_t i = 0; i < n; ++i) others += ok[i] & (raw[i] != value ? 1 : 0);
  return others;
}

}  // namespace

// Marks the leaves with (future) room that no static filter refuses; returns how many.
size_t ColumnScan::FindRoom(TaskId task, const SearchOptions& options) {
  ok_.assign(span_.size(), 1);
  const uint8_t* allowed = statics_->Of(task).mask.data() + begin_;
  size_t count = KeepMasked(allowed, ok_.data(), ok_.size());
  if (!options.check_resources || count == 0) return count;
  room_.CatchUp();
  future_slack_.resize(span_.size());
  room_.FutureSlack(tables().tasks.pod[task]->request, begin_, absl::MakeSpan(future_slack_));
  return KeepFitting(future_slack_.data(), ok_.data(), ok_.size());
}

void ColumnScan::ListCandidates() {
  list_.clear();
  for (size_t i = 0; i < span_.size(); ++i) {
    if (ok_[i] != 0) list_.push_back(span_[i]);
  }
}

// Asks the other filters, about all leaves at once or only about those that are left.
void ColumnScan::ApplyFilters(TaskId task, bool dense) {
  for (const Points::FilterEntry& entry : scan_->active_filters()) {
    if (entry.filter->row_use() == RowUse::kStatic) continue;
    if (dense) {
      answers_.resize(span_.size());
      entry.filter->Filter(task, span_, absl::MakeSpan(answers_));
      for (size_t i = 0; i < span_.size(); ++i) ok_[i] &= answers_[i].valid() ? 0 : 1;
      continue;
    }
    ListCandidates();
    if (list_.empty()) return;
    answers_.assign(list_.size(), ReasonId());
    entry.filter->Filter(task, list_, absl::MakeSpan(answers_));
    size_t next = 0;
    for (size_t i = 0; i < span_.size(); ++i) {
      if (ok_[i] != 0 && answers_[next++].valid()) ok_[i] = 0;
    }
  }
}

SearchResult ColumnScan::Best(TaskId task, const NodeSet& set, const SearchOptions& options) {
  const std::vector<NodeId>& leaves = tables().nodes.leaves;
  const size_t end = std::min<size_t>(set.end, leaves.size());
  begin_ = std::min<size_t>(set.begin, end);
  span_ = absl::Span<const NodeId>(leaves).subspan(begin_, end - begin_);
  SearchResult result;
  if (span_.empty()) return result;
  const size_t with_room = FindRoom(task, options);
  if (with_room == 0) return result;
  ApplyFilters(task, with_room * 2 > span_.size());
  size_t idle = 0;
  if (options.check_resources) {
    // The future candidates are looked at again only if no node has room now.
    idle_slack_.resize(span_.size());
    room_.IdleSlack(tables().tasks.pod[task]->request, begin_, absl::MakeSpan(idle_slack_));
    idle = CountFitting(idle_slack_.data(), ok_.data(), ok_.size());
    if (idle > 0) KeepFitting(idle_slack_.data(), ok_.data(), ok_.size());
  } else {
    idle = static_cast<size_t>(std::count(ok_.begin(), ok_.end(), uint8_t{1}));
  }
  if (idle > 0) {
    result.room = Room::kIdle;
    result.node = PickFrom(task, idle);
    return result;
  }
  if (!options.allow_future || !options.check_resources) return result;
  const auto future = static_cast<size_t>(std::count(ok_.begin(), ok_.end(), uint8_t{1}));
  if (future == 0) return result;
  result.room = Room::kFutureIdle;
  result.node = PickFrom(task, future);
  return result;
}

NodeId ColumnScan::PickFrom(TaskId task, size_t count) {
  if (count * 2 < span_.size()) {
    ListCandidates();
    return scan_->Pick(task, list_);
  }
  if (count == 1)
    return span_[static_cast<size_t>(std::find(ok_.begin(), ok_.end(), 1) - ok_.begin())];
  list_.clear();
  AddScorers(task, false, sums_);
  AddScorers(task, true, batch_);
  AddColumn(batch_.data(), sums_.data(), sums_.size());
  KeepMarked(ok_.data(), sums_.data(), sums_.size());
  const double best = Greatest(sums_.data(), sums_.size());
  uint64_t k = scan_->TieOf(task, CountEqual(sums_.data(), best, sums_.size()));
  constexpr size_t kStep = 64;
  size_t i = 0;
  for (; i + kStep <= sums_.size(); i += kStep) {
    const uint32_t here = CountEqual(sums_.data() + i, best, kStep);
    if (here > k) break;
    k -= here;
  }
  for (; i < sums_.size(); ++i) {
    if (sums_[i] == best && k-- == 0) return span_[i];
  }
  return NodeId();
}

void ColumnScan::AddScorers(TaskId task, bool batch, std::vector<double>& sums) {
  sums.assign(span_.size(), 0.0);
  raw_.resize(span_.size());
  for (const Points::ScorerEntry& entry : points_->scorers) {
    if (entry.batch != batch) continue;
    NodeScorer& scorer = *entry.scorer;
    if (!scorer.PreScore(task, {})) continue;
    if (scorer.depends_on_candidates()) {
      if (list_.empty()) ListCandidates();
      if (!scorer.PreScore(task, list_)) continue;
    }
    scorer.Score(task, span_, absl::MakeSpan(raw_));
    if (scorer.normalizes()) {
      AddNormalized(scorer, sums);
    } else {
      AddWeighted(raw_.data(), scorer.weight(), sums.data(), sums.size());
    }
  }
}

// Normalised over the candidates; equal raw values next to each other are normalised once.
void ColumnScan::AddNormalized(const NodeScorer& scorer, std::vector<double>& sums) {
  // Mostly every candidate has the same raw score.
  const size_t first = static_cast<size_t>(std::find(ok_.begin(), ok_.end(), 1) - ok_.begin());
  if (const double all = raw_[first];
      all != NodeScorer::kIgnored && CountOthers(raw_.data(), ok_.data(), all, raw_.size()) == 0) {
    AddConstant(scorer.weight() * scorer.Normalized(all, all, all), sums.data(), sums.size());
    return;
  }
  double low = 0;
  double high = 0;
  bool any = false;
  for (size_t i = 0; i < raw_.size(); ++i) {
    if (ok_[i] == 0 || raw_[i] == NodeScorer::kIgnored) continue;
    low = any ? std::min(low, raw_[i]) : raw_[i];
    high = any ? std::max(high, raw_[i]) : raw_[i];
    any = true;
  }
  if (!any) return;
  double last = low;
  double value = scorer.weight() * scorer.Normalized(low, low, high);
  for (size_t i = 0; i < raw_.size(); ++i) {
    if (ok_[i] == 0 || raw_[i] == NodeScorer::kIgnored) continue;
    if (raw_[i] != last) {
      last = raw_[i];
      value = scorer.weight() * scorer.Normalized(last, low, high);
    }
    sums[i] += value;
  }
}

}  // namespace hekla::framework
