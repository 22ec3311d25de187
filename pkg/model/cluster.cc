#include "pkg/model/cluster.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "glog/logging.h"
#include "pkg/model/cluster_impl.h"
#include "pkg/util/random.h"

namespace hekla::model {
namespace {

// Past this many entries the older half of the touch log is dropped between cycles.
constexpr size_t kMaxTouches = size_t{1} << 20;

template <typename Map, typename Spec>
void Put(Map& map, std::string key, const std::shared_ptr<const Spec>& spec, uint64_t& generation) {
  map[std::move(key)] = spec;
  ++generation;
}

template <typename Map>
void Drop(Map& map, const std::string& key, uint64_t& generation) {
  if (map.erase(key) > 0) ++generation;
}

std::string Join(const std::string& a, const std::string& b) { return a + "/" + b; }

std::string OwnerKey(const PodOwnerSpec& owner) {
  static constexpr const char* kKinds[] = {"Service", "ReplicationController", "ReplicaSet",
                                           "StatefulSet"};
  return Join(kKinds[static_cast<int>(owner.kind)], Join(owner.namespace_name, owner.name));
}

}  // namespace

struct Cluster::Impl::Applier {
  Cluster::Impl& impl;
  VolumeTable& volumes;

  void operator()(const Upsert<NodeSpec>& d) { impl.UpsertNode(d.spec); }
  void operator()(const Remove<NodeSpec>& d) { impl.RemoveNode(d.key); }
  void operator()(const Upsert<TaskSpec>& d) { impl.UpsertTask(d.spec); }
  void operator()(const Remove<TaskSpec>& d) { impl.RemoveTask(d.key); }
  void operator()(const Upsert<JobSpec>& d) { impl.UpsertJob(d.spec); }
  void operator()(const Remove<JobSpec>& d) { impl.RemoveJob(d.key); }
  void operator()(const Upsert<QueueSpec>& d) { impl.UpsertQueue(d.spec); }
  void operator()(const Remove<QueueSpec>& d) { impl.RemoveQueue(d.key); }
  void operator()(const Upsert<PriorityClassSpec>& d) { impl.UpsertPriorityClass(d.spec); }
  void operator()(const Remove<PriorityClassSpec>& d) { impl.RemovePriorityClass(d.key); }
  void operator()(const Upsert<NamespaceSpec>& d) { impl.UpsertNamespace(*d.spec); }
  void operator()(const Remove<NamespaceSpec>& d) { impl.RemoveNamespace(d.key); }
  void operator()(const Upsert<PodOwnerSpec>& d) {
    Put(volumes.pod_owners, OwnerKey(*d.spec), d.spec, volumes.generation);
    impl.interner.Observe(d.spec->selector);
    impl.ReinternIfStale();
  }
  void operator()(const Remove<PodOwnerSpec>& d) {
    Drop(volumes.pod_owners, d.key, volumes.generation);
  }
  void operator()(const Upsert<ClaimSpec>& d) {
    Put(volumes.claims, Join(d.spec->namespace_name, d.spec->name), d.spec, volumes.generation);
  }
  void operator()(const Remove<ClaimSpec>& d) { Drop(volumes.claims, d.key, volumes.generation); }
  void operator()(const Upsert<VolumeSpec>& d) {
    Put(volumes.volumes, d.spec->name, d.spec, volumes.generation);
  }
  void operator()(const Remove<VolumeSpec>& d) { Drop(volumes.volumes, d.key, volumes.generation); }
  void operator()(const Upsert<StorageClassSpec>& d) {
    Put(volumes.storage_classes, d.spec->name, d.spec, volumes.generation);
  }
  void operator()(const Remove<StorageClassSpec>& d) {
    Drop(volumes.storage_classes, d.key, volumes.generation);
  }
  void operator()(const Upsert<CsiNodeSpec>& d) {
    Put(volumes.csi_nodes, d.spec->name, d.spec, volumes.generation);
  }
  void operator()(const Remove<CsiNodeSpec>& d) {
    Drop(volumes.csi_nodes, d.key, volumes.generation);
  }
  void operator()(const Upsert<CsiDriverSpec>& d) {
    Put(volumes.csi_drivers, d.spec->name, d.spec, volumes.generation);
  }
  void operator()(const Remove<CsiDriverSpec>& d) {
    Drop(volumes.csi_drivers, d.key, volumes.generation);
  }
  void operator()(const Upsert<CsiCapacitySpec>& d) {
    Put(volumes.csi_capacities, Join(d.spec->namespace_name, d.spec->name), d.spec,
        volumes.generation);
  }
  void operator()(const Remove<CsiCapacitySpec>& d) {
    Drop(volumes.csi_capacities, d.key, volumes.generation);
  }
  void operator()(const Upsert<VolumeAttachmentSpec>& d) {
    Put(volumes.attachments, d.spec->name, d.spec, volumes.generation);
  }
  void operator()(const Remove<VolumeAttachmentSpec>& d) {
    Drop(volumes.attachments, d.key, volumes.generation);
  }
  void operator()(const BindFailed& d) { impl.OnBindFailed(d); }
  void operator()(const EvictFailed& d) { impl.OnEvictFailed(d); }
};

Cluster::Impl::Impl(Cluster& c)
    : cluster(c), t(c.tables_), dict(*c.dictionary_), interner(c.tables_.classes, *c.dictionary_) {}

Cluster::Cluster(std::shared_ptr<Dictionary> dictionary, Options options)
    : dictionary_(std::move(dictionary)), options_(std::move(options)) {
  impl_ = std::make_unique<Impl>(*this);
}

Cluster::~Cluster() = default;

void Cluster::Apply(const Delta& delta) {
  impl_->WidenIfNeeded();
  impl_->applying = true;
  const uint64_t volumes = tables_.volumes.generation, namespaces = tables_.namespaces.generation;
  std::visit(Impl::Applier{*impl_, tables_.volumes}, delta);
  if (volumes != tables_.volumes.generation || namespaces != tables_.namespaces.generation) {
    ++impl_->relief;
  }
  impl_->applying = false;
}

void Cluster::MoveTask(TaskId task, TaskStatus status, NodeId node) {
  DCHECK(tables_.tasks.live[task]);
  impl_->Place(task, status, node);
}

void Cluster::SetPhase(JobId job, PodGroupPhase phase) {
  if (tables_.jobs.phase[job] == phase) return;
  tables_.jobs.phase[job] = phase;
  impl_->MarkJob(job);
}

void Cluster::SetConditions(JobId job, std::vector<ConditionRow> conditions) {
  tables_.jobs.conditions[job] = std::move(conditions);
  impl_->unpublished_jobs.Mark(job);
}

void Cluster::SetLastTransaction(TaskId task, const LastTransaction& context) {
  tables_.tasks.last_transaction[task] = context;
}

void Cluster::SetPipelineEvicted(TaskId task, bool evicted) {
  tables_.tasks.pipeline_evicted[task] = evicted ? 1 : 0;
}

void Cluster::SetEvicted(TaskId task) {
  impl_->evicted[task] = 1;
  ++impl_->news;
}

NodeId Cluster::FindNode(absl::string_view name) const {
  const Symbol symbol = dictionary_->symbols.Find(name);
  if (!symbol.valid()) return {};
  auto it = impl_->node_by_name.find(symbol);
  return it == impl_->node_by_name.end() ? NodeId() : it->second;
}

TaskId Cluster::FindTask(absl::string_view uid) const {
  auto it = impl_->task_by_uid.find(uid);
  return it == impl_->task_by_uid.end() ? TaskId() : it->second;
}

JobId Cluster::FindJob(absl::string_view key) const {
  auto it = impl_->job_by_key.find(key);
  return it == impl_->job_by_key.end() ? JobId() : it->second;
}

QueueId Cluster::FindQueue(absl::string_view name) const {
  auto it = impl_->queue_by_name.find(name);
  return it == impl_->queue_by_name.end() ? QueueId() : it->second;
}

const std::vector<NodeTouch>& Cluster::touches() const { return impl_->touches; }
uint64_t Cluster::touches_trimmed() const { return impl_->touches_trimmed; }
const std::vector<JobId>& Cluster::dirty_jobs() const { return impl_->dirty_jobs.list(); }
const std::vector<QueueId>& Cluster::dirty_queues() const { return impl_->dirty_queues.list(); }
const std::vector<JobId>& Cluster::unpublished_jobs() const {
  return impl_->unpublished_jobs.list();
}
const std::vector<QueueId>& Cluster::unpublished_queues() const {
  return impl_->unpublished_queues.list();
}
bool Cluster::queue_tree_changed() const { return impl_->queue_tree_changed; }
const std::vector<JobId>& Cluster::waiting_jobs() const { return impl_->waiting_jobs; }
uint64_t Cluster::relief() const { return impl_->relief; }
void Cluster::NoteRelief() { ++impl_->relief; }
uint64_t Cluster::news() const { return impl_->news + impl_->relief; }
bool Cluster::has_coupled_pods() const { return impl_->interner.has_coupled_pods(); }
void Cluster::MarkUnpublished(JobId job) { impl_->unpublished_jobs.Mark(job); }

void Cluster::ClearDirty() {
  impl_->dirty_jobs.Clear();
  impl_->dirty_queues.Clear();
}

void Cluster::ClearUnpublished() {
  impl_->unpublished_jobs.Clear();
  impl_->unpublished_queues.Clear();
  impl_->queue_tree_changed = false;
  if (impl_->touches.size() <= kMaxTouches) return;
  const size_t dropped = impl_->touches.size() / 2;
  impl_->touches.erase(impl_->touches.begin(),
                       impl_->touches.begin() + static_cast<int64_t>(dropped));
  impl_->touches_trimmed += dropped;
}

void Cluster::SetObserver(TaskObserver* observer) { impl_->observer = observer; }

void Cluster::SortNodes() const {
  NodeTable& nodes = tables_.nodes;
  nodes.leaves.clear();
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes.live[NodeId(i)]) nodes.leaves.push_back(NodeId(i));
  }
  nodes.in_cluster_order = nodes.leaves;
  const auto& hash = impl_->node_hash;
  std::sort(nodes.leaves.begin(), nodes.leaves.end(), [&](NodeId a, NodeId b) {
    if (hash[a] != hash[b]) return hash[a] < hash[b];
    return nodes.spec[a]->name < nodes.spec[b]->name;
  });
  std::sort(nodes.in_cluster_order.begin(), nodes.in_cluster_order.end(), [&](NodeId a, NodeId b) {
    const NodeSpec& x = *nodes.spec[a];
    const NodeSpec& y = *nodes.spec[b];
    return x.creation != y.creation ? x.creation < y.creation : x.name < y.name;
  });
  nodes.leaf_position.assign(nodes.size(), UINT32_MAX);
  for (uint32_t i = 0; i < nodes.leaves.size(); ++i) nodes.leaf_position[nodes.leaves[i]] = i;
  ++nodes.order_generation;
  order_stale_ = false;
}

}  // namespace hekla::model
