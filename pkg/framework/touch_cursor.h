#pragma once

#include <cstdint>

#include "pkg/model/cluster.h"

// HOT PATH
namespace hekla::framework {

// A reader's place in the log of touched nodes, for columns that are kept in leaf order.
class TouchCursor {
 public:
  // Calls fn(node, static_change) for every touch since the last call. False: the columns must be
  // built anew (first call, trimmed log, another order or number of leaves); fn is not called then.
  template <typename Fn>
  bool CatchUp(const model::Cluster& cluster, Fn fn) {
    const model::NodeTable& nodes = cluster.tables().nodes;
    const uint64_t trimmed = cluster.touches_trimmed();
    const uint64_t end = trimmed + cluster.touches().size();
    const bool anew = !started_ || position_ < trimmed || order_ != nodes.order_generation ||
                      leaves_ != nodes.leaves.size();
    started_ = true;
    const uint64_t begin = position_;
    position_ = end;
    order_ = nodes.order_generation;
    leaves_ = nodes.leaves.size();
    if (anew) return false;
    for (uint64_t i = begin; i < end; ++i) {
      const model::NodeTouch& touch = cluster.touches()[i - trimmed];
      fn(touch.node, touch.static_change);
    }
    return true;
  }
  void Reset() { started_ = false; }

 private:
  bool started_ = false;
  uint64_t position_ = 0;
  uint64_t order_ = 0;
  size_t leaves_ = 0;
};

}  // namespace hekla::framework
