#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "pkg/framework/touch_cursor.h"
#include "pkg/model/cluster.h"

// HOT PATH
namespace hekla::framework {

// Nodes whose accounts are equal (allocatable, in use, releasing, pipelined, requested, number of
// pods), as one row: what depends on the accounts alone is asked once per row instead of once per
// node. Most nodes of an empty or evenly filled cluster share few rows; where every node has its
// own, a row is a node.
// Shape:   size() rows, some of them unused (count 0); every leaf belongs to one.
// Units:   room in doubles of the tables' integers, exact below 2^53.
// Cost:    CatchUp is O(dimensions) per touch since the last call.
class NodeRows {
 public:
  explicit NodeRows(const model::Cluster& cluster) : cluster_(&cluster) {}

  // Brings the rows up to date with the tables.
  void CatchUp();

  size_t size() const { return nodes_.size(); }
  // A node of each row; of an unused row, some node.
  absl::Span<const model::NodeId> nodes() const { return nodes_; }
  // How many nodes share the row; 0: unused.
  absl::Span<const uint32_t> counts() const { return counts_; }
  // The row of each leaf.
  absl::Span<const uint32_t> row_of_leaf() const { return row_of_leaf_; }
  // Calls fn(leaf) for every node of the row, in no particular order.
  template <typename Fn>
  void ForEachLeaf(uint32_t row, Fn fn) const {
    for (uint32_t leaf = head_[row]; leaf != kNone; leaf = next_[leaf]) fn(leaf);
  }

  // slack[i]: how much of the tightest dimension is left on a node of row begin + i after the
  // request; negative where it does not fit and for unused rows.
  void IdleSlack(const model::Resource& request, size_t begin, absl::Span<double> slack) const;
  void FutureSlack(const model::Resource& request, size_t begin, absl::Span<double> slack) const;
  // No row has anything releasing or pipelined, so that both kinds of slack are equal.
  bool future_is_idle() const { return moving_rows_ == 0; }

  // For readers that keep columns by row: the rows whose content changed since the columns were
  // made anew; see RowCursor.
  uint64_t epoch() const { return epoch_; }
  const std::vector<uint32_t>& changed() const { return changed_; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  using Columns = std::vector<std::vector<double>>;  // by dimension, by row

  void Rebuild();
  uint64_t HashOf(model::NodeId node);
  bool Equal(model::NodeId a, model::NodeId b) const;
  void Unlink(uint32_t leaf);
  void Link(uint32_t leaf);
  uint32_t NewRow();
  void Write(uint32_t row, model::NodeId node);
  void Erase(uint32_t row);
  static void Slack(const Columns& room, const model::Resource& request, size_t begin,
                    absl::Span<double> slack);

  const model::Cluster* cluster_;
  TouchCursor cursor_;
  size_t width_ = 0;
  std::vector<model::NodeId> nodes_;
  std::vector<uint32_t> counts_, head_;
  std::vector<uint64_t> hashes_;
  std::vector<uint8_t> indexed_, moving_;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> row_of_leaf_, next_, prev_;  // by leaf
  absl::flat_hash_map<uint64_t, uint32_t> index_;    // row by hash of its content
  Columns idle_, future_;
  size_t moving_rows_ = 0;
  uint64_t epoch_ = 0;
  std::vector<uint32_t> changed_;
  std::vector<uint32_t> touched_;  // scratch
  std::vector<uint8_t> marked_;
  std::vector<int64_t> content_;
};

// A reader's place in the changes of rows.
class RowCursor {
 public:
  // Calls fn(row) for every row that changed since the last call. False: all columns must be made
  // anew; fn is not called then.
  template <typename Fn>
  bool CatchUp(const NodeRows& rows, Fn fn) {
    const bool anew = epoch_ != rows.epoch();
    const size_t begin = position_;
    epoch_ = rows.epoch();
    position_ = rows.changed().size();
    if (anew) return false;
    for (size_t i = begin; i < position_; ++i) fn(rows.changed()[i]);
    return true;
  }

 private:
  uint64_t epoch_ = 0;
  size_t position_ = 0;
};

}  // namespace hekla::framework
