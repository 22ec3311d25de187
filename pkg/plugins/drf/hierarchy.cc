#include "pkg/plugins/drf/hierarchy.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "glog/logging.h"

namespace hekla::plugins {

Hierarchy::Hierarchy(Amounts total) : total_(std::move(total)) {
  total_allocated_.assign(total_.size(), 0.0);
  demanding_.assign(total_.size(), false);
  nodes_.emplace_back();
  nodes_.front().allocated.assign(total_.size(), 0.0);
  dirty_.push_back(root());
}

Hierarchy::Index Hierarchy::Child(Index parent, absl::string_view name) const {
  const auto it = by_name_.find(std::make_pair(parent, std::string(name)));
  return it == by_name_.end() ? kNone : it->second;
}

Hierarchy::Index Hierarchy::AddPath(absl::string_view path, absl::string_view weights) {
  const std::vector<absl::string_view> names = absl::StrSplit(path, '/');
  const std::vector<absl::string_view> numbers = absl::StrSplit(weights, '/');
  Index node = root();
  for (size_t i = 1; i < names.size(); ++i) {
    Index child = Child(node, names[i]);
    if (child == kNone) {
      child = static_cast<Index>(nodes_.size());
      Node made;
      made.parent = node;
      made.allocated.assign(total_.size(), 0.0);
      double weight = 1;
      if (i < numbers.size() && absl::SimpleAtod(numbers[i], &weight) && weight >= 1) {
        made.weight = weight;
      }
      nodes_.push_back(std::move(made));
      nodes_[At(node)].children.push_back(child);
      by_name_.emplace(std::make_pair(node, std::string(names[i])), child);
      dirty_.push_back(child);
    }
    node = child;
  }
  return node;
}

Hierarchy::Index Hierarchy::AddLeaf(Index parent, Amounts request) {
  const Index leaf = static_cast<Index>(nodes_.size());
  Node made;
  made.parent = parent;
  made.leaf = true;
  made.allocated.assign(total_.size(), 0.0);
  made.request = std::move(request);
  nodes_.push_back(std::move(made));
  nodes_[At(parent)].children.push_back(leaf);
  dirty_.push_back(leaf);
  return leaf;
}

void Hierarchy::SetAllocated(Index leaf, absl::Span<const double> allocated) {
  Node& node = nodes_[At(leaf)];
  DCHECK(node.leaf);
  for (size_t d = 0; d < node.allocated.size(); ++d) {
    const double now = plugins::At(allocated, d);
    total_allocated_[d] += now - node.allocated[d];
    node.allocated[d] = now;
  }
  if (!node.dirty) dirty_.push_back(leaf);
  node.dirty = true;
}

// Returns whether some dimension became, or ceased to be, fully allocated.
bool Hierarchy::UpdateDemanding() {
  bool changed = false;
  for (size_t d = 0; d < total_.size(); ++d) {
    const bool now = total_[d] >= kTolerance && total_allocated_[d] < total_[d];
    changed = changed || now != demanding_[d];
    demanding_[d] = now;
  }
  return changed;
}

void Hierarchy::Update() {
  if (dirty_.empty()) return;
  if (UpdateDemanding()) {
    dirty_.clear();
    for (size_t i = 0; i < nodes_.size(); ++i) dirty_.push_back(static_cast<Index>(i));
  }
  // The ancestors of what changed, deepest first: a child always has a higher index.
  for (size_t i = 0; i < dirty_.size(); ++i) {
    nodes_[At(dirty_[i])].dirty = true;
    const Index parent = nodes_[At(dirty_[i])].parent;
    if (parent != kNone && !nodes_[At(parent)].dirty) {
      nodes_[At(parent)].dirty = true;
      dirty_.push_back(parent);
    }
  }
  std::sort(dirty_.begin(), dirty_.end(), std::greater<>());
  dirty_.erase(std::unique(dirty_.begin(), dirty_.end()), dirty_.end());
  for (Index index : dirty_) {
    Node& node = nodes_[At(index)];
    if (node.leaf) {
      UpdateLeaf(node);
    } else {
      UpdateInner(node);
    }
    node.dirty = false;
  }
  dirty_.clear();
}

void Hierarchy::UpdateLeaf(Node& node) {
  node.share = DominantShare(node.allocated, total_);
  node.saturated = false;
  for (size_t d = 0; d < node.allocated.size(); ++d) {
    if (node.allocated[d] < kTolerance) continue;
    const double request = plugins::At(node.request, d);
    if (request == 0) continue;
    if (node.allocated[d] >= request || !demanding_[d]) node.saturated = true;
  }
}

void Hierarchy::UpdateInner(Node& node) {
  double smallest = 1;
  bool saturated = true;
  for (Index c : node.children) {
    const Node& child = nodes_[At(c)];
    if (child.share != 0 && !child.saturated) smallest = std::min(smallest, child.share);
    saturated = saturated && child.saturated;
  }
  std::fill(node.allocated.begin(), node.allocated.end(), 0.0);
  for (Index c : node.children) {
    const Node& child = nodes_[At(c)];
    if (child.share == 0) continue;
    const double factor = smallest / child.share;
    for (size_t d = 0; d < node.allocated.size(); ++d) {
      node.allocated[d] += child.saturated ? child.allocated[d] : child.allocated[d] * factor;
    }
  }
  node.share = DominantShare(node.allocated, total_);
  node.saturated = saturated;
}

std::vector<Hierarchy::Index> Hierarchy::PathOf(absl::string_view path) const {
  const std::vector<absl::string_view> names = absl::StrSplit(path, '/');
  std::vector<Index> nodes = {root()};
  for (size_t i = 1; i < names.size(); ++i) {
    const Index child = Child(nodes.back(), names[i]);
    if (child == kNone) break;
    nodes.push_back(child);
  }
  return nodes;
}

double Hierarchy::Compare(absl::Span<const Index> left, absl::Span<const Index> right) const {
  const size_t depth = std::min(left.size(), right.size());
  for (size_t i = 0; i < depth; ++i) {
    const Node& l = nodes_[At(left[i])];
    const Node& r = nodes_[At(right[i])];
    if (l.saturated != r.saturated) return l.saturated ? 1 : -1;
    const double lshare = l.share / l.weight, rshare = r.share / r.weight;
    if (lshare != rshare) return lshare - rshare;
  }
  return 0;
}

}  // namespace hekla::plugins
