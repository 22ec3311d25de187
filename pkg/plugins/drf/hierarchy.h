#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pkg/plugins/common/amounts.h"

namespace hekla::plugins {

// Hierarchical dominant resource fairness: queues are paths of a tree (`root/eng/dev`), jobs its
// leaves. An inner node's allocation is that of its children, each scaled down to the smallest
// dominant share among them; nodes that cannot use more are saturated and come last.
//
// Order:  children count in the order in which they were added, so that sums are the same each run.
// Cost:   Update O(siblings along the path) per changed leaf; everything when a dimension starts or
//         stops being fully allocated.
// Source: Volcano plugins/drf/hdrf; spec scheduler-actions 3.6, example 5.4.
class Hierarchy {
 public:
  using Index = int32_t;
  static constexpr Index kNone = -1;

  // Starts anew for a cluster of this size.
  explicit Hierarchy(Amounts total = {});

  // The last node of a path, made where it is missing. Weights are aligned with the path; position
  // 0 is the root and ignored. A weight below 1, unreadable or missing is 1; a node keeps the
  // weight it was made with.
  Index AddPath(absl::string_view path, absl::string_view weights);
  // A job below `parent`. `request` is what all its tasks ask for together.
  Index AddLeaf(Index parent, Amounts request);
  // What a leaf holds now. Takes effect with the next Update.
  void SetAllocated(Index leaf, absl::Span<const double> allocated);
  // Brings all shares up to date.
  void Update();

  // Nodes of a queue's path, root first; what CompareQueues walks. Nodes must exist.
  std::vector<Index> PathOf(absl::string_view path) const;
  // Negative: the left queue comes first. Walks both paths as far as the shorter one goes.
  double Compare(absl::Span<const Index> left, absl::Span<const Index> right) const;

  double share(Index node) const { return nodes_[At(node)].share; }
  bool saturated(Index node) const { return nodes_[At(node)].saturated; }
  const Amounts& allocated(Index node) const { return nodes_[At(node)].allocated; }
  double weight(Index node) const { return nodes_[At(node)].weight; }
  static constexpr Index root() { return 0; }

 private:
  struct Node {
    Index parent = kNone;
    double weight = 1;
    bool leaf = false;
    bool dirty = true;
    bool saturated = false;
    double share = 0;
    Amounts allocated;
    Amounts request;  // leaves
    std::vector<Index> children;
  };

  static size_t At(Index node) { return static_cast<size_t>(node); }
  bool UpdateDemanding();
  void UpdateLeaf(Node& node);
  void UpdateInner(Node& node);
  Index Child(Index parent, absl::string_view name) const;

  Amounts total_;
  Amounts total_allocated_;
  std::vector<bool> demanding_;
  std::vector<Node> nodes_;  // parents before children
  std::vector<Index> dirty_;
  absl::flat_hash_map<std::pair<Index, std::string>, Index> by_name_;
};

}  // namespace hekla::plugins
