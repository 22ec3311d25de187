#include "pkg/plugins/nodeorder/resource_columns.h"

#include <algorithm>
#include <functional>

namespace hekla::plugins {

using model::NodeId;

namespace {

// Up to here a quotient of at most 100, got by multiplying with a rounded reciprocal, is within
// 2^-44 of the true one, and the true one is an integer or at least 2^-42 away from any.
constexpr int64_t kMaxCapacity = int64_t{1} << 42;

}  // namespace

int64_t ResourceColumns::PositionOf(absl::Span<const NodeId> nodes, const model::Cluster& cluster) {
  const std::vector<NodeId>& leaves = cluster.tables().nodes.leaves;
  const NodeId* begin = leaves.data();
  if (nodes.empty() || std::less<>()(nodes.data(), begin)) return -1;
  if (!std::less<>()(nodes.data(), begin + leaves.size())) return -1;
  return nodes.data() - begin;
}

void ResourceColumns::Resize(size_t n) {
  for (Dimension* d : {&cpu_, &memory_}) {
    for (auto* column : {&d->left, &d->percent, &d->fraction, &d->used}) {
      column->resize(n, 0.0);
    }
  }
  balance_.resize(n, 0.0);
}

void ResourceColumns::CatchUp(const model::Cluster& cluster) {
  const model::NodeTable& nodes = cluster.tables().nodes;
  const auto read = [&](NodeId node, bool) {
    if (nodes.live[node] != 0) Read(nodes, node, nodes.leaf_position[node]);
  };
  if (cursor_.CatchUp(cluster, read)) return;
  odd_.clear();
  Resize(nodes.leaves.size());
  for (NodeId node : nodes.leaves) Read(nodes, node, nodes.leaf_position[node]);
}

void ResourceColumns::CatchUp(const model::Cluster& cluster, const framework::NodeRows& rows) {
  const model::NodeTable& nodes = cluster.tables().nodes;
  Resize(rows.size());
  const auto read = [&](uint32_t row) { Read(nodes, rows.nodes()[row], row); };
  if (row_cursor_.CatchUp(rows, read)) return;
  odd_.clear();
  for (uint32_t row = 0; row < rows.size(); ++row) read(row);
}

void ResourceColumns::Read(const model::NodeTable& nodes, NodeId node, uint32_t leaf) {
  const int64_t* capacity = nodes.allocatable.row(node.index());
  const int64_t* used = nodes.requested.row(node.index());
  const int64_t cpu = capacity[model::kCpu];
  const int64_t memory = capacity[model::kMemory];
  const bool odd = cpu <= 0 || memory <= 0 || cpu >= kMaxCapacity || memory >= kMaxCapacity;
  const auto listed = std::find(odd_.begin(), odd_.end(), leaf);
  if (odd && listed == odd_.end()) odd_.push_back(leaf);
  if (!odd && listed != odd_.end()) odd_.erase(listed);
  const auto fill = [&](Dimension& d, int64_t whole, int64_t in_use, int64_t nonzero) {
    d.left[leaf] = static_cast<double>(whole - nonzero);
    d.percent[leaf] = odd ? 0 : 100.0 / static_cast<double>(whole);
    d.fraction[leaf] = odd ? 0 : 1.0 / static_cast<double>(whole);
    d.used[leaf] = static_cast<double>(in_use);
  };
  fill(cpu_, cpu, used[model::kCpu], nodes.nonzero_cpu_milli[node]);
  fill(memory_, memory, used[model::kMemory], nodes.nonzero_memory_bytes[node]);
  balance_[leaf] =
      odd ? 0
          : static_cast<double>(BalanceOfTwo(cpu_.used[leaf], static_cast<double>(cpu),
                                             memory_.used[leaf], static_cast<double>(memory)));
}

}  // namespace hekla::plugins
