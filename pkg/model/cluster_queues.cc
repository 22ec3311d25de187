#include "glog/logging.h"
#include "pkg/model/cluster_impl.h"

namespace hekla::model {
namespace {

bool SameForScheduling(const QueueSpec& a, const QueueSpec& b) {
  return a.uid == b.uid && a.creation == b.creation && a.weight == b.weight &&
         a.priority == b.priority && a.reclaimable == b.reclaimable &&
         a.capability == b.capability && a.guarantee == b.guarantee && a.deserved == b.deserved &&
         a.parent == b.parent && a.hierarchy == b.hierarchy &&
         a.hierarchy_weights == b.hierarchy_weights && a.group_affinity == b.group_affinity &&
         a.state == b.state && a.annotations == b.annotations;
}

}  // namespace

void Cluster::Impl::MarkQueue(QueueId queue) {
  ++t.queues.generation[queue];
  dirty_queues.Mark(queue);
  unpublished_queues.Mark(queue);
}

void Cluster::Impl::UpsertQueue(const std::shared_ptr<const QueueSpec>& spec) {
  QueueTable& q = t.queues;
  auto [it, fresh] = queue_by_name.try_emplace(spec->name);
  if (fresh) {
    QueueId id;
    if (!free_queues.empty()) {
      id = free_queues.back();
      free_queues.pop_back();
    } else {
      id = QueueId(static_cast<uint32_t>(q.size()));
      const size_t n = id.index() + 1;
      q.live.resize(n);
      q.spec.resize(n);
      q.name.resize(n);
      q.creation_ns.resize(n);
      q.jobs.resize(n);
      q.allocated.resize(n);
      q.pipelined.resize(n);
      q.pending.resize(n);
      q.generation.resize(n);
    }
    it->second = id;
    q.live[id] = 1;
    q.name[id] = spec->name;
  }
  const QueueId id = it->second;
  const std::shared_ptr<const QueueSpec> old = q.spec[id];
  q.spec[id] = spec;
  q.creation_ns[id] = absl::ToUnixNanos(spec->creation);
  if (old != nullptr && SameForScheduling(*old, *spec)) {
    if (old->status_allocated != spec->status_allocated) unpublished_queues.Mark(id);
    return;
  }
  ++relief;
  MarkQueue(id);
  if (fresh || old->parent != spec->parent) queue_tree_changed = true;
  // A queue's state decides about its jobs; a new queue takes those that have waited for it.
  for (JobId job : q.jobs[id]) MarkJob(job);
  if (!fresh) return;
  for (uint32_t i = 0; i < t.jobs.size(); ++i) {
    const JobId job(i);
    if (!t.jobs.live[job] || t.jobs.spec[job] == nullptr || t.jobs.queue[job].valid()) continue;
    SetQueue(job, QueueOf(*t.jobs.spec[job]));
  }
}

void Cluster::Impl::RemoveQueue(const std::string& name) {
  auto it = queue_by_name.find(name);
  if (it == queue_by_name.end()) return;
  ++relief;
  const QueueId id = it->second;
  queue_by_name.erase(it);
  QueueTable& q = t.queues;
  const std::vector<JobId> jobs = q.jobs[id];
  for (JobId job : jobs) SetQueue(job, QueueId());
  MarkQueue(id);
  queue_tree_changed = true;
  q.live[id] = 0;
  q.spec[id] = nullptr;
  q.name[id].clear();
  for (auto* sums : {&q.allocated, &q.pipelined, &q.pending}) (*sums)[id].Clear();
  free_queues.push_back(id);
}

void Cluster::Impl::UpsertPriorityClass(const std::shared_ptr<const PriorityClassSpec>& spec) {
  priority_classes[spec->name] = spec;
  if (spec->global_default) {
    global_default_class = spec->name;  // of two defaults the one seen last counts
  } else if (global_default_class == spec->name) {
    global_default_class.clear();
  }
  RecomputePriorities();
}

void Cluster::Impl::RemovePriorityClass(const std::string& name) {
  if (priority_classes.erase(name) == 0) return;
  if (global_default_class == name) {
    global_default_class.clear();
    for (const auto& [other, spec] : priority_classes) {
      // Another default takes over: the first by name, so that it does not depend on the map.
      if (!spec->global_default) continue;
      if (global_default_class.empty() || other < global_default_class) {
        global_default_class = other;
      }
    }
  }
  RecomputePriorities();
}

void Cluster::Impl::RecomputePriorities() {
  JobTable& j = t.jobs;
  for (uint32_t i = 0; i < j.size(); ++i) {
    const JobId job(i);
    if (!j.live[job] || j.spec[job] == nullptr) continue;
    const int32_t priority = PriorityOf(*j.spec[job]);
    if (priority == j.priority[job]) continue;
    j.priority[job] = priority;
    MarkJob(job);
  }
}

void Cluster::Impl::UpsertNamespace(const NamespaceSpec& spec) {
  const NamespaceId id = FindOrMakeNamespace(spec.name);
  NamespaceTable& n = t.namespaces;
  n.terminating[id] = spec.terminating ? 1 : 0;
  if (n.labels[id] == spec.labels) return;
  n.labels[id] = spec.labels;
  ++n.generation;
}

void Cluster::Impl::RemoveNamespace(const std::string& name) {
  const NamespaceId id = FindOrMakeNamespace(name);
  t.namespaces.terminating[id] = 0;
  if (t.namespaces.labels[id].empty()) return;
  t.namespaces.labels[id].clear();
  ++t.namespaces.generation;
}

}  // namespace hekla::model
