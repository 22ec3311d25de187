#include "glog/logging.h"
#include "pkg/model/cluster_impl.h"
#include "pkg/util/random.h"

namespace hekla::model {
namespace {

bool SameStatics(const NodeSpec& a, const NodeSpec& b) {
  return a.uid == b.uid && a.allocatable == b.allocatable && a.capacity == b.capacity &&
         a.labels == b.labels && a.taints == b.taints && a.images == b.images &&
         a.unschedulable == b.unschedulable && a.revocable_zone == b.revocable_zone &&
         a.offline_job_evicting == b.offline_job_evicting && a.annotations == b.annotations;
}

}  // namespace

NodeUse UseOf(TaskStatus status, NodeId node) {
  if (!node.valid()) return NodeUse::kNone;
  switch (status) {
    case TaskStatus::kPending:
    case TaskStatus::kSucceeded:
    case TaskStatus::kFailed:
      return NodeUse::kNone;
    case TaskStatus::kPipelined:
      return NodeUse::kPipelined;
    case TaskStatus::kReleasing:
      return NodeUse::kReleasing;
    default:
      return NodeUse::kUsed;
  }
}

void AddSigned(Resource& to, const Resource& amounts, int sign) {
  if (sign > 0) {
    to += amounts;
  } else {
    to -= amounts;
  }
}

void Cluster::Impl::WidenIfNeeded() {
  const size_t width = dict.resources.size();
  if (width <= t.nodes.allocatable.width()) return;
  for (ResourceMatrix* m : {&t.nodes.allocatable, &t.nodes.idle, &t.nodes.used, &t.nodes.releasing,
                            &t.nodes.pipelined, &t.nodes.requested}) {
    m->Widen(width);
  }
}

NodeId Cluster::Impl::FindOrMakeNode(absl::string_view name) {
  const Symbol symbol = dict.symbols.Intern(name);
  auto [it, fresh] = node_by_name.try_emplace(symbol);
  if (!fresh) return it->second;
  NodeId id;
  NodeTable& n = t.nodes;
  if (!free_nodes.empty()) {
    id = free_nodes.back();
    free_nodes.pop_back();
  } else {
    id = NodeId(static_cast<uint32_t>(n.size()));
    const size_t rows = id.index() + 1;
    for (ResourceMatrix* m :
         {&n.allocatable, &n.idle, &n.used, &n.releasing, &n.pipelined, &n.requested}) {
      m->Resize(rows);
    }
    n.nonzero_cpu_milli.resize(rows, 0);
    n.nonzero_memory_bytes.resize(rows, 0);
    n.pod_count.resize(rows, 0);
    n.live.resize(rows, 0);
    n.static_generation.resize(rows, 0);
    n.tasks.resize(rows);
    n.spec.resize(rows);
    n.name.resize(rows);
    n.leaf_position.resize(rows, UINT32_MAX);
    node_hash.resize(rows, 0);
  }
  n.name[id] = symbol;
  node_hash[id] = util::StableHash(name, cluster.options_.seed);
  ++n.static_generation[id];
  it->second = id;
  return id;
}

void Cluster::Impl::UpsertNode(const std::shared_ptr<const NodeSpec>& spec) {
  const NodeId id = FindOrMakeNode(spec->name);
  NodeTable& n = t.nodes;
  const std::shared_ptr<const NodeSpec> old = n.spec[id];
  if (old != nullptr && SameStatics(*old, *spec)) {
    if (old->creation != spec->creation) cluster.order_stale_ = true;
    n.spec[id] = spec;
    return;
  }
  if (old != nullptr) {
    n.total_allocatable.Add(old->allocatable, -1);
  }
  n.total_allocatable.Add(spec->allocatable);
  n.spec[id] = spec;
  n.live[id] = 1;
  n.allocatable.SetRow(id.index(), spec->allocatable);
  n.idle.SetRow(id.index(), spec->allocatable);
  n.idle.AddRow(id.index(), n.used.Get(id.index()), -1);
  ++n.static_generation[id];
  if (old == nullptr || old->creation != spec->creation) cluster.order_stale_ = true;
  Touch(id, true);
}

void Cluster::Impl::RemoveNode(absl::string_view name) {
  const NodeId id = cluster.FindNode(name);
  if (!id.valid() || !t.nodes.live[id]) return;
  NodeTable& n = t.nodes;
  n.total_allocatable.Add(n.spec[id]->allocatable, -1);
  n.spec[id] = nullptr;
  n.live[id] = 0;
  n.allocatable.Clear(id.index());
  n.idle.Clear(id.index());
  n.idle.AddRow(id.index(), n.used.Get(id.index()), -1);
  ++n.static_generation[id];
  cluster.order_stale_ = true;
  Touch(id, true);
  FreeNodeIfUnused(id);
}

void Cluster::Impl::FreeNodeIfUnused(NodeId node) {
  NodeTable& n = t.nodes;
  if (n.live[node] || !n.tasks[node].empty() || !n.name[node].valid()) return;
  node_by_name.erase(n.name[node]);
  n.name[node] = Symbol();
  free_nodes.push_back(node);
}

void Cluster::Impl::BookNode(TaskId task, NodeId node, NodeUse use, int sign) {
  NodeTable& n = t.nodes;
  const Resource& request = t.tasks.pod[task]->request;
  const size_t row = node.index();
  if (use == NodeUse::kPipelined) {
    n.pipelined.AddRow(row, request, sign);
    return;
  }
  n.idle.AddRow(row, request, -sign);
  n.used.AddRow(row, request, sign);
  if (use == NodeUse::kReleasing) n.releasing.AddRow(row, request, sign);
}

void Cluster::Impl::AttachNode(TaskId task, NodeId node) {
  NodeTable& n = t.nodes;
  const PodTemplate& pod = *t.tasks.pod[task];
  node_slot[task] = static_cast<uint32_t>(n.tasks[node].size());
  n.tasks[node].push_back(task);
  n.requested.AddRow(node.index(), pod.request, 1);
  n.nonzero_cpu_milli[node] += pod.nonzero_cpu_milli;
  n.nonzero_memory_bytes[node] += pod.nonzero_memory_bytes;
  ++n.pod_count[node];
}

void Cluster::Impl::DetachNode(TaskId task, NodeId node) {
  NodeTable& n = t.nodes;
  const PodTemplate& pod = *t.tasks.pod[task];
  std::vector<TaskId>& list = n.tasks[node];
  const uint32_t slot = node_slot[task];
  DCHECK(list[slot] == task);
  list[slot] = list.back();
  node_slot[list[slot]] = slot;
  list.pop_back();
  n.requested.AddRow(node.index(), pod.request, -1);
  n.nonzero_cpu_milli[node] -= pod.nonzero_cpu_milli;
  n.nonzero_memory_bytes[node] -= pod.nonzero_memory_bytes;
  --n.pod_count[node];
}

}  // namespace hekla::model
