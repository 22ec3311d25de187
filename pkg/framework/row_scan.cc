#include "pkg/framework/row_scan.h"

#include <algorithm>
#include <limits>

#include "pkg/framework/column_math.h"
#include "pkg/util/vectorized.h"

namespace hekla::framework {

using model::NodeId;
using model::TaskId;

namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
// Up to this many equal nodes are listed; of more, the leaves are gone through.
constexpr uint64_t kFewTies = 64;

HEKLA_VECTORIZED void RefuseUncounted(const uint32_t* counts, double* slack, size_t n) {
  for (size_t i = 0; i < n; ++i) slack[i] = counts[i] != 0 ? slack[i] : -1.0;
}

// Totals where there is room, kNone elsewhere.
HEKLA_VECTORIZED void JoinColumns(const double* slack, const double* order, const double* batch,
                                  double* total, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const double sum = order[i] + batch[i];
    total[i] = slack[i] >= 0 ? sum : kNone;
  }
}

HEKLA_VECTORIZED void JoinConstant(const double* slack, const double* column, double constant,
                                   double* total, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    const double sum = column[i] + constant;
    total[i] = slack[i] >= 0 ? sum : kNone;
  }
}

}  // namespace

bool RowScan::CanAnswer(TaskId task, const ActiveScorers& scorers, bool leaf_filters) {
  leaf_filters_ = false;
  for (const Points::FilterEntry& entry : scan_->active_filters()) {
    if (entry.filter->row_use() != RowUse::kNone) continue;
    if (!leaf_filters) return false;
    leaf_filters_ = true;
  }
  bool accounts = false;
  for (const Points::ScorerEntry& entry : scorers) {
    const RowUse use = entry.scorer->row_use();
    if (use == RowUse::kNone) return false;
    accounts = accounts || use == RowUse::kAccounts;
  }
  part_ = &statics_->Of(task);
  for (const Points::ScorerEntry& entry : scorers) {
    if (entry.scorer->row_use() != RowUse::kStatic) continue;
    if (!statics_->LevelOf(*part_, task, *entry.scorer).uniform) return false;
  }
  scorers_ = &scorers;
  rows_.CatchUp();
  return true;
}

// Of the filters that look at more than accounts: what each says of every node.
void RowScan::AskLeafFilters(TaskId task) {
  const std::vector<NodeId>& leaves = cluster_->tables().nodes.leaves;
  leaf_mask_ = part_->mask;
  answers_.resize(leaves.size());
  for (const Points::FilterEntry& entry : scan_->active_filters()) {
    if (entry.filter->row_use() != RowUse::kNone) continue;
    entry.filter->Filter(task, leaves, absl::MakeSpan(answers_));
    for (size_t i = 0; i < leaves.size(); ++i) leaf_mask_[i] &= answers_[i].valid() ? 0 : 1;
  }
  mask_ = leaf_mask_.data();
}

// How many nodes of each row are allowed by static filters and by those that look at more.
void RowScan::CountAllowed(TaskId task) {
  const uint32_t* row_of_leaf = rows_.row_of_leaf().data();
  mask_ = part_->everything() ? nullptr : part_->mask.data();
  if (leaf_filters_) {
    AskLeafFilters(task);
    counted_.assign(rows_.size(), 0);
    for (size_t leaf = 0; leaf < leaf_mask_.size(); ++leaf) {
      counted_[row_of_leaf[leaf]] += leaf_mask_[leaf];
    }
    allowed_ = counted_;
    return;
  }
  if (mask_ == nullptr) {
    allowed_ = rows_.counts();
    return;
  }
  if (part_->lists_allowed) {
    counted_.assign(rows_.size(), 0);
    for (uint32_t leaf : part_->listed) ++counted_[row_of_leaf[leaf]];
  } else {
    counted_.assign(rows_.counts().begin(), rows_.counts().end());
    for (uint32_t leaf : part_->listed) --counted_[row_of_leaf[leaf]];
  }
  allowed_ = counted_;
}

// Slack of every row that is allowed.
void RowScan::FindRoom(TaskId task, const SearchOptions& options) {
  const model::Resource& request = cluster_->tables().tasks.pod[task]->request;
  const size_t n = rows_.size();
  future_.resize(n);
  const bool two = options.check_resources && !rows_.future_is_idle();
  if (two) idle_.resize(n);
  most_future_ = most_idle_ = kNone;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const absl::Span<double> slack = absl::MakeSpan(future_).subspan(begin, kBlock);
    if (options.check_resources) {
      rows_.FutureSlack(request, begin, slack);
      if (mask_ != nullptr) RefuseUncounted(allowed_.data() + begin, slack.data(), slack.size());
    } else {
      std::fill(slack.begin(), slack.end(), 0.0);
      RefuseUncounted(allowed_.data() + begin, slack.data(), slack.size());
    }
    AskFilters(task, begin, slack);
    most_future_ = std::max(most_future_, Greatest(slack.data(), slack.size()));
    if (!two) continue;
    const absl::Span<double> idle = absl::MakeSpan(idle_).subspan(begin, kBlock);
    rows_.IdleSlack(request, begin, idle);
    LowerTo(slack.data(), idle.data(), idle.size());
    most_idle_ = std::max(most_idle_, Greatest(idle.data(), idle.size()));
  }
  if (!two) most_idle_ = most_future_;
}

void RowScan::AskFilters(TaskId task, size_t begin, absl::Span<double> slack) {
  for (const Points::FilterEntry& entry : scan_->active_filters()) {
    if (entry.filter->row_use() != RowUse::kAccounts) continue;
    if (entry.filter->FilterRows(task, rows_, begin, slack)) continue;
    answers_.assign(slack.size(), ReasonId());
    entry.filter->Filter(task, rows_.nodes().subspan(begin, slack.size()),
                         absl::MakeSpan(answers_));
    for (size_t i = 0; i < answers_.size(); ++i) slack[i] = answers_[i].valid() ? -1 : slack[i];
  }
}

bool RowScan::Fits(TaskId task) {
  if (rows_.size() == 0) return false;
  CountAllowed(task);
  FindRoom(task, SearchOptions());
  return most_future_ >= 0;
}

SearchResult RowScan::Best(TaskId task, const SearchOptions& options) {
  SearchResult result;
  if (rows_.size() == 0) return result;
  CountAllowed(task);
  FindRoom(task, options);
  const bool two = options.check_resources && !rows_.future_is_idle();
  if (most_idle_ >= 0) {
    result.room = Room::kIdle;
    result.node = Pick(task, two ? idle_.data() : future_.data());
  } else if (options.allow_future && most_future_ >= 0) {
    result.room = Room::kFutureIdle;
    result.node = Pick(task, future_.data());
  }
  return result;
}

// Adds in the order in which NodeScan does, so that sums are equal to the last bit.
void RowScan::AddScorers(TaskId task, bool batch, size_t begin, size_t n, Sum& sum) {
  sum.is_column = false;
  sum.constant = 0;
  for (const Points::ScorerEntry& entry : *scorers_) {
    if (entry.batch != batch) continue;
    NodeScorer& scorer = *entry.scorer;
    if (scorer.row_use() == RowUse::kStatic) {
      const double raw = statics_->LevelOf(*part_, task, scorer).raw;
      if (raw == NodeScorer::kIgnored) continue;
      const double value =
          scorer.weight() * (scorer.normalizes() ? scorer.Normalized(raw, raw, raw) : raw);
      if (!sum.is_column) {
        sum.constant += value;
      } else if (value != 0) {
        AddConstant(value, sum.column.data(), n);
      }
      continue;
    }
    const absl::Span<double> raw(raw_.data(), n);
    if (!scorer.ScoreRows(task, rows_, begin, raw)) {
      scorer.Score(task, rows_.nodes().subspan(begin, n), raw);
    }
    if (sum.is_column) {
      AddWeighted(raw.data(), scorer.weight(), sum.column.data(), n);
    } else {
      SetWeighted(raw.data(), scorer.weight(), sum.constant, sum.column.data(), n);
      sum.is_column = true;
    }
  }
}

// Totals of a block of rows; returns the greatest.
double RowScan::Total(TaskId task, const double* slack, size_t begin, size_t n) {
  double* totals = totals_.data() + begin;
  AddScorers(task, false, begin, n, order_);
  AddScorers(task, true, begin, n, batch_);
  if (order_.is_column && batch_.is_column) {
    JoinColumns(slack, order_.column.data(), batch_.column.data(), totals, n);
  } else if (order_.is_column || batch_.is_column) {
    const Sum& column = order_.is_column ? order_ : batch_;
    const Sum& constant = order_.is_column ? batch_ : order_;
    JoinConstant(slack, column.column.data(), constant.constant, totals, n);
  } else {
    for (size_t i = 0; i < n; ++i) totals[i] = slack[i] >= 0 ? 0 : kNone;
  }
  return Greatest(totals, n);
}

NodeId RowScan::Pick(TaskId task, const double* slack) {
  const size_t n = rows_.size();
  totals_.resize(n);
  block_best_.clear();
  double best = kNone;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t size = std::min(kBlock, n - begin);
    const bool any = Greatest(slack + begin, size) >= 0;
    block_best_.push_back(any ? Total(task, slack + begin, begin, size) : kNone);
    best = std::max(best, block_best_.back());
  }
  const uint64_t ties = ListBest(best);
  const uint64_t k = scan_->TieOf(task, ties);
  const bool marked = ties > kFewTies && best_rows_.size() > 1;
  if (marked) {
    is_best_.resize(n, 0);
    for (uint32_t row : best_rows_) is_best_[row] = 1;
  }
  const NodeId node = NodeAt(k, ties);
  if (marked) {
    for (uint32_t row : best_rows_) is_best_[row] = 0;
  }
  return node;
}

// The rows with the best total; returns how many nodes they are.
uint64_t RowScan::ListBest(double best) {
  best_rows_.clear();
  uint64_t ties = 0;
  constexpr size_t kStep = 64;
  for (size_t i = 0; i < totals_.size(); i += kStep) {
    if (block_best_[i / kBlock] != best) {
      i += kBlock - kStep;
      continue;
    }
    const size_t end = std::min(i + kStep, totals_.size());
    if (CountEqual(totals_.data() + i, best, end - i) == 0) continue;
    for (size_t row = i; row < end; ++row) {
      if (totals_[row] != best) continue;
      best_rows_.push_back(static_cast<uint32_t>(row));
      ties += allowed_[row];
    }
  }
  return ties;
}

// The k-th node in leaf order of those in the best rows.
NodeId RowScan::NodeAt(uint64_t k, uint64_t ties) const {
  const std::vector<NodeId>& leaves = cluster_->tables().nodes.leaves;
  const uint8_t* mask = mask_;
  if (ties <= kFewTies) {
    tied_.clear();
    for (uint32_t row : best_rows_) {
      rows_.ForEachLeaf(row, [&](uint32_t leaf) {
        if (mask == nullptr || mask[leaf] != 0) tied_.push_back(leaf);
      });
    }
    const auto at = tied_.begin() + static_cast<int64_t>(k);
    std::nth_element(tied_.begin(), at, tied_.end());
    return leaves[*at];
  }
  const uint32_t* rows = rows_.row_of_leaf().data();
  size_t leaf = 0;
  if (best_rows_.size() == 1) {
    const uint32_t row = best_rows_[0];
    constexpr size_t kStep = 256;
    for (; mask == nullptr && leaf + kStep <= leaves.size(); leaf += kStep) {
      const uint32_t here = CountEqual(rows + leaf, row, kStep);
      if (here > k) break;
      k -= here;
    }
    for (; leaf < leaves.size(); ++leaf) {
      if (rows[leaf] == row && (mask == nullptr || mask[leaf] != 0) && k-- == 0) break;
    }
    return leaves[leaf];
  }
  for (; leaf < leaves.size(); ++leaf) {
    if (is_best_[rows[leaf]] != 0 && (mask == nullptr || mask[leaf] != 0) && k-- == 0) break;
  }
  return leaves[leaf];
}

}  // namespace hekla::framework
