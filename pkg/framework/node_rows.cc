#include "pkg/framework/node_rows.h"

#include <algorithm>
#include <limits>

#include "absl/hash/hash.h"
#include "pkg/framework/column_math.h"
#include "pkg/util/vectorized.h"

namespace hekla::framework {

using model::NodeId;

namespace {

constexpr double kNoRoom = -std::numeric_limits<double>::infinity();

// The least of what three dimensions leave.
HEKLA_VECTORIZED void SlackOfThree(const double* const* room, const double* request, double* slack,
                                   size_t n) {
  const double* a = room[0];
  const double* b = room[1];
  const double* c = room[2];
  const double want_a = request[0];
  const double want_b = request[1];
  const double want_c = request[2];
  for (size_t i = 0; i < n; ++i) {
    const double left_a = a[i] - want_a;
    const double left_b = b[i] - want_b;
    const double left_c = c[i] - want_c;
    const double least = left_a < left_b ? left_a : left_b;
    slack[i] = left_c < least ? left_c : least;
  }
}

}  // namespace

void NodeRows::CatchUp() {
  const model::NodeTable& nodes = cluster_->tables().nodes;
  if (width_ != nodes.idle.width() || changed_.size() > 4 * nodes.leaves.size() + 64) {
    cursor_.Reset();
  }
  touched_.clear();
  const bool known = cursor_.CatchUp(*cluster_, [&](NodeId node, bool) {
    const uint32_t leaf = nodes.live[node] != 0 ? nodes.leaf_position[node] : kNone;
    if (leaf == kNone || marked_[leaf] != 0) return;
    marked_[leaf] = 1;
    touched_.push_back(leaf);
  });
  if (!known) return Rebuild();
  // First all of them leave, so that the node that stands for a row is one whose accounts are
  // still those of the row.
  for (uint32_t leaf : touched_) Unlink(leaf);
  for (uint32_t leaf : touched_) {
    marked_[leaf] = 0;
    Link(leaf);
  }
}

void NodeRows::Rebuild() {
  const model::NodeTable& nodes = cluster_->tables().nodes;
  const size_t leaves = nodes.leaves.size();
  width_ = nodes.idle.width();
  nodes_.clear();
  for (auto* column : {&counts_, &head_, &free_, &changed_}) column->clear();
  hashes_.clear();
  indexed_.clear();
  moving_.clear();
  moving_rows_ = 0;
  index_.clear();
  idle_.assign(width_, {});
  future_.assign(width_, {});
  ++epoch_;
  row_of_leaf_.assign(leaves, kNone);
  next_.assign(leaves, kNone);
  prev_.assign(leaves, kNone);
  marked_.assign(leaves, 0);
  for (uint32_t leaf = 0; leaf < leaves; ++leaf) Link(leaf);
  changed_.clear();
}

uint64_t NodeRows::HashOf(NodeId node) {
  const model::NodeTable& nodes = cluster_->tables().nodes;
  content_.clear();
  for (const model::ResourceMatrix* matrix :
       {&nodes.allocatable, &nodes.used, &nodes.releasing, &nodes.pipelined, &nodes.requested}) {
    const int64_t* row = matrix->row(node.index());
    content_.insert(content_.end(), row, row + width_);
  }
  content_.push_back(nodes.nonzero_cpu_milli[node]);
  content_.push_back(nodes.nonzero_memory_bytes[node]);
  content_.push_back(nodes.pod_count[node]);
  return absl::Hash<absl::Span<const int64_t>>()(content_);
}

bool NodeRows::Equal(NodeId a, NodeId b) const {
  const model::NodeTable& nodes = cluster_->tables().nodes;
  for (const model::ResourceMatrix* matrix :
       {&nodes.allocatable, &nodes.used, &nodes.releasing, &nodes.pipelined, &nodes.requested}) {
    const int64_t* row = matrix->row(a.index());
    if (!std::equal(row, row + width_, matrix->row(b.index()))) return false;
  }
  return nodes.nonzero_cpu_milli[a] == nodes.nonzero_cpu_milli[b] &&
         nodes.nonzero_memory_bytes[a] == nodes.nonzero_memory_bytes[b] &&
         nodes.pod_count[a] == nodes.pod_count[b];
}

void NodeRows::Unlink(uint32_t leaf) {
  const uint32_t row = row_of_leaf_[leaf];
  const uint32_t next = next_[leaf];
  const uint32_t prev = prev_[leaf];
  if (next != kNone) prev_[next] = prev;
  if (prev != kNone) {
    next_[prev] = next;
  } else {
    head_[row] = next;
    if (next != kNone) nodes_[row] = cluster_->tables().nodes.leaves[next];
  }
  if (--counts_[row] == 0) Erase(row);
}

void NodeRows::Link(uint32_t leaf) {
  const NodeId node = cluster_->tables().nodes.leaves[leaf];
  const uint64_t hash = HashOf(node);
  const auto [it, fresh] = index_.try_emplace(hash, kNone);
  uint32_t row = it->second;
  if (fresh || !Equal(nodes_[row], node)) {
    row = NewRow();
    // Of two contents with one hash the second has its rows unshared.
    if (fresh) it->second = row;
    indexed_[row] = fresh ? 1 : 0;
    hashes_[row] = hash;
    Write(row, node);
  }
  row_of_leaf_[leaf] = row;
  prev_[leaf] = kNone;
  next_[leaf] = head_[row];
  if (head_[row] != kNone) prev_[head_[row]] = leaf;
  head_[row] = leaf;
  nodes_[row] = node;
  ++counts_[row];
}

uint32_t NodeRows::NewRow() {
  if (!free_.empty()) {
    const uint32_t row = free_.back();
    free_.pop_back();
    return row;
  }
  const auto row = static_cast<uint32_t>(nodes_.size());
  nodes_.emplace_back();
  counts_.push_back(0);
  head_.push_back(kNone);
  hashes_.push_back(0);
  indexed_.push_back(0);
  moving_.push_back(0);
  for (Columns* columns : {&idle_, &future_}) {
    for (std::vector<double>& column : *columns) column.push_back(kNoRoom);
  }
  return row;
}

void NodeRows::Write(uint32_t row, NodeId node) {
  const model::NodeTable& nodes = cluster_->tables().nodes;
  nodes_[row] = node;
  const int64_t* idle = nodes.idle.row(node.index());
  const int64_t* releasing = nodes.releasing.row(node.index());
  const int64_t* pipelined = nodes.pipelined.row(node.index());
  bool moving = false;
  for (size_t d = 0; d < width_; ++d) {
    idle_[d][row] = static_cast<double>(idle[d]);
    future_[d][row] = static_cast<double>(idle[d] + releasing[d] - pipelined[d]);
    moving = moving || releasing[d] != pipelined[d];
  }
  moving_[row] = moving ? 1 : 0;
  moving_rows_ += moving ? 1 : 0;
  changed_.push_back(row);
}

void NodeRows::Erase(uint32_t row) {
  if (indexed_[row] != 0) index_.erase(hashes_[row]);
  moving_rows_ -= moving_[row];
  moving_[row] = 0;
  for (Columns* columns : {&idle_, &future_}) {
    for (std::vector<double>& column : *columns) column[row] = kNoRoom;
  }
  free_.push_back(row);
}

void NodeRows::Slack(const Columns& room, const model::Resource& request, size_t begin,
                     absl::Span<double> slack) {
  constexpr size_t kThree = 3;
  size_t d = 0;
  if (request.size() >= kThree && room.size() >= kThree) {
    const double* columns[kThree];
    double wanted[kThree];
    for (; d < kThree; ++d) {
      columns[d] = room[d].data() + begin;
      wanted[d] = static_cast<double>(request[static_cast<model::ResourceDim>(d)]);
    }
    SlackOfThree(columns, wanted, slack.data(), slack.size());
  } else {
    // Unused rows have no room of anything.
    for (size_t i = 0; i < slack.size(); ++i) {
      slack[i] = room[0][begin + i] == kNoRoom ? kNoRoom : std::numeric_limits<double>::max();
    }
  }
  for (; d < request.size(); ++d) {
    const auto amount = static_cast<double>(request[static_cast<model::ResourceDim>(d)]);
    if (d < room.size()) {
      LowerToRest(room[d].data() + begin, amount, slack.data(), slack.size());
    } else if (amount > 0) {  // no node has any of it
      std::fill(slack.begin(), slack.end(), -amount);
    }
  }
}

void NodeRows::IdleSlack(const model::Resource& request, size_t begin,
                         absl::Span<double> slack) const {
  Slack(idle_, request, begin, slack);
}

void NodeRows::FutureSlack(const model::Resource& request, size_t begin,
                           absl::Span<double> slack) const {
  Slack(future_, request, begin, slack);
}

}  // namespace hekla::framework
