#include "glog/logging.h"
#include "pkg/model/cluster_impl.h"

namespace hekla::model {
namespace {

struct Recount {
  StatusCounts counts;
  int32_t best_effort = 0, gated = 0, releasing_on_node = 0;
  Resource allocated, pipelined, pending, total, gated_sum;
};

void CountTask(const TaskTable& k, TaskId task, Recount& r) {
  const TaskStatus status = k.status[task];
  const Resource& request = k.pod[task]->request;
  r.counts.Add(status, 1);
  r.total += request;
  if (k.gated[task] && !k.spec[task]->only_queue_gate) r.gated_sum += request;
  if (IsOneOf(status, kAllocatedStatuses)) r.allocated += request;
  if (status == TaskStatus::kPipelined) r.pipelined += request;
  if (status == TaskStatus::kReleasing && k.node[task].valid()) ++r.releasing_on_node;
  if (status != TaskStatus::kPending) return;
  r.pending += request;
  r.best_effort += k.best_effort[task];
  r.gated += k.gated[task];
}

void CheckNode(const Tables& t, NodeId node) {
  const NodeTable& n = t.nodes;
  Resource used, releasing, pipelined, requested;
  int64_t cpu = 0, memory = 0;
  for (TaskId task : n.tasks[node]) {
    CHECK(t.tasks.live[task] && t.tasks.node[task] == node);
    const PodTemplate& pod = *t.tasks.pod[task];
    const NodeUse use = UseOf(t.tasks.status[task], node);
    CHECK(use != NodeUse::kNone);
    requested += pod.request;
    cpu += pod.nonzero_cpu_milli;
    memory += pod.nonzero_memory_bytes;
    if (use == NodeUse::kPipelined) pipelined += pod.request;
    if (use == NodeUse::kUsed || use == NodeUse::kReleasing) used += pod.request;
    if (use == NodeUse::kReleasing) releasing += pod.request;
  }
  const size_t row = node.index();
  CHECK(n.used.Get(row) == used);
  CHECK(n.releasing.Get(row) == releasing);
  CHECK(n.pipelined.Get(row) == pipelined);
  CHECK(n.requested.Get(row) == requested);
  CHECK_EQ(n.nonzero_cpu_milli[node], cpu);
  CHECK_EQ(n.nonzero_memory_bytes[node], memory);
  CHECK_EQ(n.pod_count[node], n.tasks[node].size());
  Resource idle = n.live[node] ? n.spec[node]->allocatable : Resource();
  idle -= used;
  CHECK(n.idle.Get(row) == idle);
}

void CheckJob(const Tables& t, JobId job) {
  const JobTable& j = t.jobs;
  Recount all;
  std::vector<RoleRow> roles = j.roles[job];
  for (RoleRow& role : roles) {
    role.counts = StatusCounts();
    role.pending_best_effort = 0;
  }
  for (TaskId task : j.tasks[job]) {
    CHECK(t.tasks.live[task] && t.tasks.job[task] == job);
    CountTask(t.tasks, task, all);
    for (RoleRow& role : roles) {
      if (role.role != t.tasks.role[task]) continue;
      role.counts.Add(t.tasks.status[task], 1);
      if (t.tasks.status[task] == TaskStatus::kPending && t.tasks.best_effort[task]) {
        ++role.pending_best_effort;
      }
    }
  }
  CHECK(j.counts[job] == all.counts) << j.key[job];
  CHECK_EQ(static_cast<size_t>(j.task_count[job]), j.tasks[job].size());
  CHECK_EQ(j.pending_best_effort[job], all.best_effort);
  CHECK_EQ(j.pending_gated[job], all.gated);
  CHECK_EQ(j.releasing_on_node[job], all.releasing_on_node);
  CHECK(j.allocated[job] == all.allocated);
  CHECK(j.pipelined[job] == all.pipelined);
  CHECK(j.pending[job] == all.pending);
  CHECK(j.total[job] == all.total);
  CHECK(j.gated[job] == all.gated_sum);
  CHECK(j.roles[job] == roles);
  size_t members = 0;
  for (SubJobId s : j.sub_jobs[job]) {
    Recount sub;
    CHECK(t.sub_jobs.job[s] == job);
    members += t.sub_jobs.tasks[s].size();
    int32_t priority = 0;
    for (TaskId task : t.sub_jobs.tasks[s]) {
      CHECK(t.tasks.sub_job[task] == s);
      CountTask(t.tasks, task, sub);
      priority = std::max(priority, t.tasks.priority[task]);
    }
    CHECK(t.sub_jobs.counts[s] == sub.counts);
    CHECK_EQ(t.sub_jobs.pending_best_effort[s], sub.best_effort);
    CHECK_EQ(t.sub_jobs.priority[s], priority);
  }
  CHECK_EQ(members, j.tasks[job].size());
}

uint64_t Mix(uint64_t h, uint64_t value) {
  h ^= value + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdULL;
  return h ^ (h >> 33);
}

uint64_t MixResource(uint64_t h, const Resource& r) {
  for (size_t d = 0; d < r.size(); ++d) {
    const int64_t amount = r[static_cast<ResourceDim>(d)];
    if (amount != 0) h = Mix(Mix(h, d), static_cast<uint64_t>(amount));
  }
  return Mix(h, 77);
}

}  // namespace

void Cluster::CheckConsistency() const {
  const Tables& t = tables();
  size_t placed = 0;
  ResourceTotal total;
  for (uint32_t i = 0; i < t.nodes.size(); ++i) {
    if (!t.nodes.name[NodeId(i)].valid()) continue;
    CheckNode(t, NodeId(i));
    placed += t.nodes.tasks[NodeId(i)].size();
    if (t.nodes.live[NodeId(i)]) total.Add(t.nodes.spec[NodeId(i)]->allocatable);
  }
  CHECK(total == t.nodes.total_allocatable);
  util::IdVector<TaskClassId, uint32_t> live;
  live.resize(t.classes.size(), 0);
  size_t expected = 0;
  for (uint32_t i = 0; i < t.tasks.size(); ++i) {
    const TaskId task(i);
    if (!t.tasks.live[task]) continue;
    ++live[t.tasks.task_class[task]];
    if (UseOf(t.tasks.status[task], t.tasks.node[task]) != NodeUse::kNone) ++expected;
    CHECK(*t.classes.pod[t.tasks.task_class[task]] == *t.tasks.pod[task]);
  }
  CHECK_EQ(placed, expected);
  CHECK(live.items() == t.classes.live_tasks.items());
  util::IdVector<QueueId, Resource> allocated, pipelined, pending;
  for (auto* sums : {&allocated, &pipelined, &pending}) sums->resize(t.queues.size());
  for (uint32_t i = 0; i < t.jobs.size(); ++i) {
    const JobId job(i);
    if (!t.jobs.live[job]) continue;
    CheckJob(t, job);
    const QueueId queue = t.jobs.queue[job];
    if (!queue.valid()) continue;
    allocated[queue] += t.jobs.allocated[job];
    pipelined[queue] += t.jobs.pipelined[job];
    pending[queue] += t.jobs.pending[job];
  }
  for (uint32_t i = 0; i < t.queues.size(); ++i) {
    const QueueId queue(i);
    if (!t.queues.live[queue]) continue;
    CHECK(t.queues.allocated[queue] == allocated[queue]) << t.queues.name[queue];
    CHECK(t.queues.pipelined[queue] == pipelined[queue]);
    CHECK(t.queues.pending[queue] == pending[queue]);
  }
}

uint64_t Cluster::Fingerprint() const {
  const Tables& t = tables();
  uint64_t h = 1;
  for (uint32_t i = 0; i < t.tasks.size(); ++i) {
    const TaskId task(i);
    if (!t.tasks.live[task]) continue;
    h = Mix(h, static_cast<uint64_t>(t.tasks.status[task]));
    h = Mix(h, t.tasks.node[task].value());
    h = Mix(h, t.tasks.pipeline_evicted[task]);
  }
  for (uint32_t i = 0; i < t.nodes.size(); ++i) {
    const NodeTable& n = t.nodes;
    for (const ResourceMatrix* m : {&n.idle, &n.used, &n.releasing, &n.pipelined, &n.requested}) {
      h = MixResource(h, m->Get(i));
    }
    h = Mix(h, static_cast<uint64_t>(n.nonzero_cpu_milli[NodeId(i)]));
    h = Mix(h, static_cast<uint64_t>(n.nonzero_memory_bytes[NodeId(i)]));
    h = Mix(h, n.pod_count[NodeId(i)]);
  }
  for (uint32_t i = 0; i < t.jobs.size(); ++i) {
    const JobId job(i);
    if (!t.jobs.live[job]) continue;
    for (int32_t n : t.jobs.counts[job].n) h = Mix(h, static_cast<uint64_t>(n));
    for (const auto* sums : {&t.jobs.allocated, &t.jobs.pipelined, &t.jobs.pending}) {
      h = MixResource(h, (*sums)[job]);
    }
    h = Mix(h, static_cast<uint64_t>(t.jobs.phase[job]));
    h = Mix(h, static_cast<uint64_t>(t.jobs.pending_best_effort[job]));
    h = Mix(h, static_cast<uint64_t>(t.jobs.releasing_on_node[job]));
  }
  for (uint32_t i = 0; i < t.queues.size(); ++i) {
    h = MixResource(h, t.queues.allocated[QueueId(i)]);
    h = MixResource(h, t.queues.pipelined[QueueId(i)]);
    h = MixResource(h, t.queues.pending[QueueId(i)]);
  }
  return h;
}

}  // namespace hekla::model
