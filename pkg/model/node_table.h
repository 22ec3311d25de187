#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pkg/model/ids.h"
#include "pkg/model/resource.h"
#include "pkg/model/specs.h"
#include "pkg/util/id_vector.h"

// HOT PATH
namespace hekla::model {

// All nodes, one column per property. A plain table: Cluster alone writes it.
// Order:   ids are arbitrary. `leaves` lists the live nodes in the order in which ties are counted
//          (hypernode order, inside it by name hash); `in_cluster_order` by creation time, then
//          name.
// Units:   ResourceLayout::unit(dim).
// Source:  spec scheduler-core 8.7, node-plugins 0.6.
struct NodeTable {
  // Accounts. idle = allocatable - used; future idle = idle + releasing - pipelined. idle may be
  // negative when the API server holds more pods than fit.
  ResourceMatrix allocatable, idle, used, releasing, pipelined;
  // Sum over every task on the node in whatever status (also pipelined and releasing): what the
  // scorers of Kubernetes see.
  ResourceMatrix requested;
  util::IdVector<NodeId, int64_t> nonzero_cpu_milli, nonzero_memory_bytes;
  util::IdVector<NodeId, uint32_t> pod_count;
  util::IdVector<NodeId, uint8_t> live;  // a Node object exists; pods alone make a placeholder row
  // Grows whenever anything that static answers read has changed (labels, taints, allocatable,
  // images).
  util::IdVector<NodeId, uint32_t> static_generation;

  util::IdVector<NodeId, std::vector<TaskId>> tasks;             // unordered
  util::IdVector<NodeId, std::shared_ptr<const NodeSpec>> spec;  // null for placeholders
  util::IdVector<NodeId, Symbol> name;

  std::vector<NodeId> leaves;
  std::vector<NodeId> in_cluster_order;
  util::IdVector<NodeId, uint32_t> leaf_position;
  uint64_t order_generation = 0;  // grows when the two orders change
  ResourceTotal total_allocatable;

  size_t size() const { return name.size(); }
  size_t live_count() const { return leaves.size(); }
  // idle + releasing - pipelined of one dimension.
  int64_t FutureIdle(NodeId id, ResourceDim dim) const {
    return idle.at(id.index(), dim) + releasing.at(id.index(), dim) - pipelined.at(id.index(), dim);
  }
};

}  // namespace hekla::model
