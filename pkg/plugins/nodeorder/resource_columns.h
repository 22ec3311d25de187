#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "pkg/framework/node_rows.h"
#include "pkg/framework/touch_cursor.h"
#include "pkg/model/cluster.h"

// HOT PATH
namespace hekla::plugins {

// Cpu and memory of every node as columns, in leaf order or by row of equal nodes, for scoring many
// nodes in one pass.
// Units:   doubles of the tables' integers, exact below 2^53.
class ResourceColumns {
 public:
  struct Dimension {
    // Allocatable less requests, with defaults for containers that name none.
    std::vector<double> left;
    std::vector<double> percent;   // 100 / capacity, rounded; 0 on odd leaves
    std::vector<double> fraction;  // 1 / capacity, rounded; 0 on odd leaves
    std::vector<double> used;      // plain requests of the node's pods
  };

  // Brings the columns up to date with the tables, in leaf order.
  void CatchUp(const model::Cluster& cluster);
  // Likewise by row. An object is used in one way only.
  void CatchUp(const model::Cluster& cluster, const framework::NodeRows& rows);
  // The position of a span that is a range of the leaves; -1 for any other.
  static int64_t PositionOf(absl::Span<const model::NodeId> nodes, const model::Cluster& cluster);

  const Dimension& cpu() const { return cpu_; }
  const Dimension& memory() const { return memory_; }
  // Leaves (rows) that lack cpu or memory or have amounts too large for quotients by
  // multiplication: they are to be computed with integers.
  const std::vector<uint32_t>& odd() const { return odd_; }
  // Balance of the two fractions in use, without another pod. Valid where not odd.
  const std::vector<double>& balance() const { return balance_; }

 private:
  void Resize(size_t n);
  void Read(const model::NodeTable& nodes, model::NodeId node, uint32_t at);

  framework::TouchCursor cursor_;
  framework::RowCursor row_cursor_;
  Dimension cpu_, memory_;
  std::vector<uint32_t> odd_;
  std::vector<double> balance_;
};

// trunc(100 * (1 - deviation)) of the fractions in use of two resources.
inline int64_t BalanceOfTwo(double first_used, double first_capacity, double second_used,
                            double second_capacity) {
  const double first = std::min(1.0, first_used / first_capacity);
  const double second = std::min(1.0, second_used / second_capacity);
  return static_cast<int64_t>((1 - std::abs((first - second) / 2)) * 100);
}

}  // namespace hekla::plugins
