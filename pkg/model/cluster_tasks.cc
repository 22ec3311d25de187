#include <algorithm>
#include <charconv>

#include "glog/logging.h"
#include "pkg/model/cluster_impl.h"

namespace hekla::model {
namespace {

bool SameConstraints(const TaskSpec& a, const TaskSpec& b) {
  return (a.pod == b.pod || *a.pod == *b.pod) && (a.labels == b.labels || *a.labels == *b.labels) &&
         a.controller_kind == b.controller_kind && a.controller_name == b.controller_name &&
         a.deleting == b.deleting;
}

// Equal in everything a scheduling decision reads, status and node aside; what is left are echoes
// of our own writes.
bool SameButPlacement(const TaskSpec& a, const TaskSpec& b) {
  return SameConstraints(a, b) && a.creation == b.creation && a.job == b.job && a.solo == b.solo &&
         a.queue == b.queue && a.role == b.role && a.priority == b.priority &&
         a.priority_class == b.priority_class && a.preemptable == b.preemptable &&
         a.revocable_zone == b.revocable_zone && a.ours == b.ours && a.gated == b.gated &&
         a.only_queue_gate == b.only_queue_gate && a.queue_gate_opt_in == b.queue_gate_opt_in &&
         a.nominated_node == b.nominated_node && a.host_error == b.host_error;
}

// The number behind the last dash, of names with at least three parts.
int64_t PodIndex(absl::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == absl::string_view::npos || dash == 0 || name.rfind('-', dash - 1) == name.npos) {
    return -1;
  }
  const absl::string_view digits = name.substr(dash + 1);
  int64_t index = 0;
  const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  return r.ec == std::errc() && r.ptr == digits.data() + digits.size() ? index : -1;
}

}  // namespace

NamespaceId Cluster::Impl::FindOrMakeNamespace(absl::string_view name) {
  const Symbol symbol = dict.symbols.Intern(name);
  auto [it, fresh] = namespace_by_name.try_emplace(symbol);
  if (fresh) {
    it->second = t.namespaces.name.push_back(symbol);
    t.namespaces.labels.push_back({});
    t.namespaces.terminating.push_back(0);
  }
  return it->second;
}

TaskId Cluster::Impl::NewTask() {
  TaskTable& k = t.tasks;
  TaskId id;
  if (!free_tasks.empty()) {
    id = free_tasks.back();
    free_tasks.pop_back();
  } else {
    id = TaskId(static_cast<uint32_t>(k.size()));
    const size_t n = id.index() + 1;
    k.live.resize(n);
    k.serial.resize(n);
    k.status.resize(n);
    k.task_class.resize(n);
    k.job.resize(n);
    k.sub_job.resize(n);
    k.node.resize(n);
    k.priority.resize(n);
    k.creation_ns.resize(n);
    k.best_effort.resize(n);
    k.gated.resize(n);
    k.pipeline_evicted.resize(n);
    k.role.resize(n);
    k.pod_index.resize(n);
    k.namespace_id.resize(n);
    k.last_transaction.resize(n);
    k.pod.resize(n);
    k.spec.resize(n);
    node_slot.resize(n);
    job_slot.resize(n);
    sub_job_slot.resize(n);
    evicted.resize(n);
  }
  k.live[id] = 1;
  k.serial[id] = ++last_serial;
  k.status[id] = TaskStatus::kPending;
  k.node[id] = NodeId();
  k.job[id] = JobId();
  k.sub_job[id] = SubJobId();
  k.pipeline_evicted[id] = 0;
  k.last_transaction[id] = LastTransaction();
  evicted[id] = 0;
  return id;
}

void Cluster::Impl::ReplaceSpec(TaskId task, const std::shared_ptr<const TaskSpec>& spec) {
  std::shared_ptr<const TaskSpec>& held = t.tasks.spec[task];
  if (held != nullptr) {
    task_by_uid.erase(held->uid);
    task_by_name.erase(NameKey(held->namespace_name, held->name));
  }
  held = spec;
  if (spec != nullptr) {
    task_by_uid[spec->uid] = task;
    task_by_name[NameKey(spec->namespace_name, spec->name)] = task;
    t.tasks.pod[task] = spec->pod.get();
  }
}

void Cluster::Impl::SetColumns(TaskId task, const TaskSpec& spec) {
  TaskTable& k = t.tasks;
  k.priority[task] = spec.priority;
  k.creation_ns[task] = absl::ToUnixNanos(spec.creation);
  k.best_effort[task] = spec.pod->best_effort ? 1 : 0;
  k.gated[task] = spec.gated ? 1 : 0;
  k.role[task] = spec.role;
  k.pod_index[task] = PodIndex(spec.name);
  k.namespace_id[task] = FindOrMakeNamespace(spec.namespace_name);
}

void Cluster::Impl::EnterNode(TaskId task) {
  TaskTable& k = t.tasks;
  const NodeId node = k.node[task];
  const NodeUse use = UseOf(k.status[task], node);
  if (use == NodeUse::kNone) return;
  if (applying) ++news;
  AttachNode(task, node);
  BookNode(task, node, use, 1);
  Touch(node, false);
  if (observer != nullptr) observer->OnTaskMoved(task, node, true);
}

void Cluster::Impl::LeaveNode(TaskId task) {
  TaskTable& k = t.tasks;
  const NodeId node = k.node[task];
  const NodeUse use = UseOf(k.status[task], node);
  if (use == NodeUse::kNone) return;
  if (applying) ++relief;
  if (observer != nullptr) observer->OnTaskMoved(task, node, false);
  BookNode(task, node, use, -1);
  DetachNode(task, node);
  Touch(node, false);
}

// HOT PATH: every decision and every undo goes through here.
void Cluster::Impl::Place(TaskId task, TaskStatus status, NodeId node) {
  TaskTable& k = t.tasks;
  const NodeUse was = UseOf(k.status[task], k.node[task]);
  const NodeUse is = UseOf(status, node);
  const bool stays = was != NodeUse::kNone && is != NodeUse::kNone && k.node[task] == node;
  if (!stays) LeaveNode(task);
  if (status == TaskStatus::kBinding) ++news;
  BookJob(task, -1);
  if (stays && was != is) BookNode(task, node, was, -1);
  k.status[task] = status;
  k.node[task] = node;
  if (status != TaskStatus::kPipelined) k.pipeline_evicted[task] = 0;
  if (stays && was != is) {
    BookNode(task, node, is, 1);
    Touch(node, false);
    if (applying) ++relief;
  }
  BookJob(task, 1);
  if (!stays) EnterNode(task);
}

void Cluster::Impl::SetTask(TaskId task, const std::shared_ptr<const TaskSpec>& spec,
                            TaskStatus status, NodeId node) {
  TaskTable& k = t.tasks;
  const NodeId old_node = k.node[task];
  if (k.spec[task] != nullptr) {
    LeaveNode(task);
    DetachJob(task);
    interner.RemoveTask(k.task_class[task]);
  }
  ReplaceSpec(task, spec);
  SetColumns(task, *spec);
  k.status[task] = status;
  k.node[task] = node;
  k.task_class[task] = interner.Intern(*spec, k.namespace_id[task]);
  interner.AddTask(k.task_class[task]);
  if (spec->solo) {
    const JobId job = FindOrMakeJob(spec->namespace_name + "/" + spec->name + "~");
    UpdateSoloJob(job, *spec);
    AttachJob(task, job);
  } else if (!spec->job.empty()) {
    AttachJob(task, FindOrMakeJob(spec->namespace_name + "/" + spec->job));
  }
  EnterNode(task);
  if (old_node.valid() && old_node != node) FreeNodeIfUnused(old_node);
  ReinternIfStale();
}

void Cluster::Impl::UpsertTask(const std::shared_ptr<const TaskSpec>& spec) {
  CHECK(spec != nullptr && spec->pod != nullptr && spec->labels != nullptr);
  TaskTable& k = t.tasks;
  TaskId task = cluster.FindTask(spec->uid);
  TaskStatus status = spec->status;
  NodeId node = spec->node.empty() ? NodeId() : FindOrMakeNode(spec->node);
  if (!task.valid()) {
    auto same_name = task_by_name.find(NameKey(spec->namespace_name, spec->name));
    if (same_name != task_by_name.end()) EraseTask(same_name->second);
    SetTask(NewTask(), spec, status, node);
    return;
  }
  if (k.status[task] == TaskStatus::kBinding && spec->node.empty()) {
    if (!spec->deleting) return;  // older than our decision
    node = k.node[task];          // the binding may still arrive
  }
  if (spec->deleting) evicted[task] = 0;
  if (evicted[task] &&
      !IsOneOf(status, StatusBit(TaskStatus::kSucceeded) | StatusBit(TaskStatus::kFailed))) {
    status = TaskStatus::kReleasing;
    if (!node.valid()) node = k.node[task];
  }
  if (SameButPlacement(*k.spec[task], *spec)) {  // most updates
    const NodeId old_node = k.node[task];
    if (status != k.status[task] || node != old_node) Place(task, status, node);
    ReplaceSpec(task, spec);
    if (old_node.valid() && old_node != node) FreeNodeIfUnused(old_node);
    return;
  }
  SetTask(task, spec, status, node);
}

void Cluster::Impl::EraseTask(TaskId task) {
  TaskTable& k = t.tasks;
  const NodeId node = k.node[task];
  ++relief;
  LeaveNode(task);
  DetachJob(task);
  interner.RemoveTask(k.task_class[task]);
  ReplaceSpec(task, nullptr);
  k.pod[task] = nullptr;
  k.live[task] = 0;
  k.node[task] = NodeId();
  k.status[task] = TaskStatus::kUnknown;
  free_tasks.push_back(task);
  if (node.valid()) FreeNodeIfUnused(node);
}

void Cluster::Impl::RemoveTask(absl::string_view uid) {
  const TaskId task = cluster.FindTask(uid);
  if (task.valid()) EraseTask(task);
}

void Cluster::Impl::OnBindFailed(const BindFailed& failed) {
  const TaskId task = cluster.FindTask(failed.uid);
  if (!task.valid()) return;
  if (failed.now == nullptr) {
    EraseTask(task);
    return;
  }
  const bool assumed = t.tasks.status[task] == TaskStatus::kBinding;
  if (!assumed && failed.now->resource_version < t.tasks.spec[task]->resource_version) return;
  const NodeId node = failed.now->node.empty() ? NodeId() : FindOrMakeNode(failed.now->node);
  SetTask(task, failed.now, failed.now->status, node);
}

void Cluster::Impl::OnEvictFailed(const EvictFailed& failed) {
  const TaskId task = cluster.FindTask(failed.uid);
  if (!task.valid()) return;
  if (failed.now == nullptr) {
    EraseTask(task);
    return;
  }
  evicted[task] = 0;
  const NodeId node = failed.now->node.empty() ? NodeId() : FindOrMakeNode(failed.now->node);
  SetTask(task, failed.now, failed.now->status, node);
}

void Cluster::Impl::InternAllAnew() {
  TaskTable& k = t.tasks;
  for (uint32_t i = 0; i < k.size(); ++i) {
    const TaskId task(i);
    if (!k.live[task] || k.spec[task] == nullptr) continue;
    const TaskClassId fresh = interner.Intern(*k.spec[task], k.namespace_id[task]);
    const TaskClassId old = k.task_class[task];
    if (fresh == old) continue;
    const bool placed = UseOf(k.status[task], k.node[task]) != NodeUse::kNone;
    if (placed && observer != nullptr) observer->OnTaskMoved(task, k.node[task], false);
    interner.AddTask(fresh);
    k.task_class[task] = fresh;
    interner.RemoveTask(old);
    if (placed) Touch(k.node[task], false);
    if (placed && observer != nullptr) observer->OnTaskMoved(task, k.node[task], true);
  }
}

}  // namespace hekla::model
