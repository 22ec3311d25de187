#include <algorithm>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"
#include "pkg/model/cluster_impl.h"

namespace hekla::model {
namespace {

// Sub-job ids keep readable values up to this length.
constexpr size_t kMaxIdSuffix = 128;

// FNV-32a in decimal, written with letters and digits that form no words.
std::string ShortHash(const std::string& text) {
  static constexpr absl::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  uint32_t h = 2166136261u;
  for (char c : text) {
    h ^= static_cast<unsigned char>(c);
    h *= 16777619u;
  }
  std::string out = absl::StrCat(h);
  for (char& c : out) c = kAlphabet[static_cast<unsigned char>(c) % kAlphabet.size()];
  return out;
}

struct SubGroupMatch {
  int32_t policy = -1;
  std::string suffix;
  int32_t match_index = 0;
};

SubGroupMatch MatchPolicies(const JobSpec& spec, const Labels& labels, const SymbolTable& symbols) {
  for (size_t p = 0; p < spec.sub_groups.size(); ++p) {
    const SubGroupPolicy& policy = spec.sub_groups[p];
    if (policy.has_selector && !Matches(policy.selector, labels, symbols)) continue;
    std::vector<absl::string_view> values;
    for (Symbol key : policy.match_label_keys) {
      const absl::string_view value = symbols.Text(FindLabel(labels, key));
      if (value.empty()) break;
      values.push_back(value);
    }
    // Quirk: a policy without keys groups nothing.
    if (values.empty() || values.size() != policy.match_label_keys.size()) continue;
    SubGroupMatch match;
    match.policy = static_cast<int32_t>(p);
    match.suffix = absl::StrJoin(values, "-");
    if (match.suffix.size() > kMaxIdSuffix) match.suffix = ShortHash(match.suffix);
    const absl::string_view first = values.front();
    int32_t index = 0;
    const auto end = first.data() + first.size();
    if (auto r = std::from_chars(first.data(), end, index); r.ec == std::errc() && r.ptr == end) {
      match.match_index = index;
    }
    return match;
  }
  return {};
}

// What a decision reads of a PodGroup; not its status.
bool SameForScheduling(const JobSpec& a, const JobSpec& b) {
  return a.uid == b.uid && a.creation == b.creation && a.queue == b.queue &&
         a.min_member == b.min_member && a.min_task_member == b.min_task_member &&
         a.min_resources == b.min_resources && a.priority_class == b.priority_class &&
         a.preemptable == b.preemptable && a.revocable_zone == b.revocable_zone &&
         a.sla_waiting_time == b.sla_waiting_time &&
         a.budget_min_available == b.budget_min_available &&
         a.budget_max_unavailable == b.budget_max_unavailable && a.topology == b.topology &&
         a.sub_groups == b.sub_groups && a.annotations == b.annotations;
}

}  // namespace

void Cluster::Impl::MarkJob(JobId job) {
  ++t.jobs.generation[job];
  if (applying) ++news;
  dirty_jobs.Mark(job);
  unpublished_jobs.Mark(job);
  if (t.jobs.queue[job].valid()) MarkQueue(t.jobs.queue[job]);
  UpdateWaiting(job);
}

void Cluster::Impl::UpdateWaiting(JobId job) {
  const JobTable& j = t.jobs;
  const StatusCounts& counts = j.counts[job];
  const bool waits =
      j.live[job] && j.spec[job] != nullptr &&
      (counts[TaskStatus::kPending] + counts[TaskStatus::kPipelined] > 0 || j.IsPendingPhase(job));
  uint32_t& slot = waiting_slot.Grow(job);
  if (waits == (slot != 0)) return;
  if (waits) {
    waiting_jobs.push_back(job);
    slot = static_cast<uint32_t>(waiting_jobs.size());
    return;
  }
  const JobId last = waiting_jobs.back();
  waiting_jobs[slot - 1] = last;
  waiting_slot[last] = slot;
  waiting_jobs.pop_back();
  slot = 0;
}

JobId Cluster::Impl::FindOrMakeJob(const std::string& key) {
  auto [it, fresh] = job_by_key.try_emplace(key);
  if (!fresh) return it->second;
  JobTable& j = t.jobs;
  JobId id;
  if (!free_jobs.empty()) {
    id = free_jobs.back();
    free_jobs.pop_back();
  } else {
    id = JobId(static_cast<uint32_t>(j.size()));
    const size_t n = id.index() + 1;
    j.live.resize(n);
    j.queue.resize(n);
    j.min_available.resize(n);
    j.priority.resize(n);
    j.creation_ns.resize(n);
    j.phase.resize(n);
    j.counts.resize(n);
    j.task_count.resize(n);
    j.pending_best_effort.resize(n);
    j.pending_gated.resize(n);
    j.releasing_on_node.resize(n);
    j.role_minimum_total.resize(n);
    for (auto* sums : {&j.allocated, &j.pipelined, &j.pending, &j.total, &j.gated}) {
      sums->resize(n);
    }
    j.roles.resize(n);
    j.tasks.resize(n);
    j.sub_jobs.resize(n);
    j.generation.resize(n);
    j.spec.resize(n);
    j.solo.resize(n);
    j.key.resize(n);
    j.conditions.resize(n);
    j.allocated_hyper_node.resize(n);
    queue_slot.resize(n);
  }
  j.live[id] = 1;
  j.queue[id] = QueueId();
  j.min_available[id] = 0;
  j.priority[id] = 0;
  j.creation_ns[id] = 0;
  j.phase[id] = PodGroupPhase::kNone;
  j.role_minimum_total[id] = 0;
  j.solo[id] = 0;
  j.key[id] = key;
  j.allocated_hyper_node[id] = HyperNodeId();
  it->second = id;
  RebuildSubJobs(id);
  MarkJob(id);
  return id;
}

void Cluster::Impl::FreeJobIfUnused(JobId job) {
  JobTable& j = t.jobs;
  if (!j.tasks[job].empty() || (j.spec[job] != nullptr && !j.solo[job])) return;
  SetQueue(job, QueueId());
  for (SubJobId s : j.sub_jobs[job]) FreeSubJob(s);
  j.sub_jobs[job].clear();
  j.roles[job].clear();
  j.conditions[job].clear();
  j.spec[job] = nullptr;
  for (auto* sums : {&j.allocated, &j.pipelined, &j.pending, &j.total, &j.gated}) {
    (*sums)[job].Clear();
  }
  j.live[job] = 0;
  MarkJob(job);
  job_by_key.erase(j.key[job]);
  free_jobs.push_back(job);
}

int32_t Cluster::Impl::PriorityOf(const JobSpec& spec) const {
  auto it = priority_classes.find(spec.priority_class);
  if (it == priority_classes.end()) it = priority_classes.find(global_default_class);
  return it == priority_classes.end() ? 0 : it->second->value;
}

QueueId Cluster::Impl::QueueOf(const JobSpec& spec) const {
  return cluster.FindQueue(spec.queue.empty() ? cluster.options_.default_queue : spec.queue);
}

void Cluster::Impl::SetQueue(JobId job, QueueId queue) {
  JobTable& j = t.jobs;
  QueueTable& q = t.queues;
  const QueueId old = j.queue[job];
  if (old == queue) return;
  if (old.valid()) {
    q.allocated[old] -= j.allocated[job];
    q.pipelined[old] -= j.pipelined[job];
    q.pending[old] -= j.pending[job];
    std::vector<JobId>& list = q.jobs[old];
    list[queue_slot[job]] = list.back();
    queue_slot[list.back()] = queue_slot[job];
    list.pop_back();
    MarkQueue(old);
  }
  j.queue[job] = queue;
  if (queue.valid()) {
    q.allocated[queue] += j.allocated[job];
    q.pipelined[queue] += j.pipelined[job];
    q.pending[queue] += j.pending[job];
    queue_slot[job] = static_cast<uint32_t>(q.jobs[queue].size());
    q.jobs[queue].push_back(job);
  }
  MarkJob(job);
}

void Cluster::Impl::UpsertJob(const std::shared_ptr<const JobSpec>& spec) {
  const JobId job = FindOrMakeJob(spec->namespace_name + "/" + spec->name);
  ApplyJobSpec(job, spec);
}

void Cluster::Impl::ApplyJobSpec(JobId job, const std::shared_ptr<const JobSpec>& spec) {
  JobTable& j = t.jobs;
  const std::shared_ptr<const JobSpec> old = j.spec[job];
  j.spec[job] = spec;
  if (!j.solo[job]) {
    // Conditions decide nothing: an echo of our own (times cut to seconds) must not look like news.
    j.conditions[job] = spec->conditions;
    if (j.phase[job] != spec->phase) {
      j.phase[job] = spec->phase;
      MarkJob(job);
    }
  }
  // The written status must be compared with what the API server holds now.
  if (old == nullptr || old->resource_version != spec->resource_version) {
    unpublished_jobs.Mark(job);
  }
  if (old != nullptr && SameForScheduling(*old, *spec)) return;
  j.min_available[job] = spec->min_member;
  j.creation_ns[job] = absl::ToUnixNanos(spec->creation);
  j.priority[job] = PriorityOf(*spec);
  for (RoleRow& role : j.roles[job]) role.minimum = 0;
  j.role_minimum_total[job] = 0;
  for (const auto& [role, minimum] : spec->min_task_member) {
    RoleOf(job, role).minimum = minimum;
    j.role_minimum_total[job] += minimum;
  }
  SetQueue(job, QueueOf(*spec));
  RebuildSubJobs(job);
  MarkJob(job);
}

void Cluster::Impl::RemoveJob(const std::string& key) {
  const JobId job = cluster.FindJob(key);
  if (!job.valid() || t.jobs.spec[job] == nullptr) return;
  JobTable& j = t.jobs;
  ++relief;
  SetQueue(job, QueueId());
  j.spec[job] = nullptr;
  j.phase[job] = PodGroupPhase::kNone;
  j.conditions[job].clear();
  j.min_available[job] = 0;
  j.role_minimum_total[job] = 0;
  for (RoleRow& role : j.roles[job]) role.minimum = 0;
  RebuildSubJobs(job);
  MarkJob(job);
  FreeJobIfUnused(job);
}

void Cluster::Impl::UpdateSoloJob(JobId job, const TaskSpec& pod) {
  JobTable& j = t.jobs;
  if (!j.solo[job]) {
    j.solo[job] = 1;
    const bool placed = IsOneOf(pod.status, kScheduledStatuses);
    j.phase[job] = placed ? PodGroupPhase::kRunning : PodGroupPhase::kPending;
  }
  auto spec = std::make_shared<JobSpec>();
  spec->namespace_name = pod.namespace_name;
  spec->name = pod.name;
  spec->uid = pod.uid;
  spec->creation = pod.creation;
  spec->queue = pod.queue;
  spec->min_member = 1;
  spec->min_resources.emplace();
  const Resource& request = pod.pod->request;
  for (size_t d = 0; d < request.size(); ++d) {
    const auto dim = static_cast<ResourceDim>(d);
    if (request[dim] > 0) spec->min_resources->Set(dim, request[dim]);
  }
  spec->priority_class = std::string(dict.symbols.Text(pod.priority_class));
  spec->preemptable = pod.preemptable;
  spec->revocable_zone = pod.revocable_zone;
  ApplyJobSpec(job, spec);
}

RoleRow& Cluster::Impl::RoleOf(JobId job, Symbol role) {
  for (RoleRow& row : t.jobs.roles[job]) {
    if (row.role == role) return row;
  }
  t.jobs.roles[job].push_back({});
  t.jobs.roles[job].back().role = role;
  return t.jobs.roles[job].back();
}

// HOT PATH
void Cluster::Impl::BookJob(TaskId task, int sign) {
  const TaskTable& k = t.tasks;
  const JobId job = k.job[task];
  if (!job.valid()) return;
  JobTable& j = t.jobs;
  const TaskStatus status = k.status[task];
  const Resource& request = k.pod[task]->request;
  const QueueId queue = j.queue[job];
  j.counts[job].Add(status, sign);
  const SubJobId sub_job = k.sub_job[task];
  if (sub_job.valid()) t.sub_jobs.counts[sub_job].Add(status, sign);
  RoleRow* role = k.role[task].valid() ? &RoleOf(job, k.role[task]) : nullptr;
  if (role != nullptr) role->counts.Add(status, sign);
  if (IsOneOf(status, kAllocatedStatuses)) {
    AddSigned(j.allocated[job], request, sign);
    if (queue.valid()) AddSigned(t.queues.allocated[queue], request, sign);
  } else if (status == TaskStatus::kPipelined) {
    AddSigned(j.pipelined[job], request, sign);
    if (queue.valid()) AddSigned(t.queues.pipelined[queue], request, sign);
  } else if (status == TaskStatus::kPending) {
    AddSigned(j.pending[job], request, sign);
    if (queue.valid()) AddSigned(t.queues.pending[queue], request, sign);
    if (k.gated[task]) j.pending_gated[job] += sign;
    if (k.best_effort[task]) {
      j.pending_best_effort[job] += sign;
      if (sub_job.valid()) t.sub_jobs.pending_best_effort[sub_job] += sign;
      if (role != nullptr) role->pending_best_effort += sign;
    }
  } else if (status == TaskStatus::kReleasing && k.node[task].valid()) {
    j.releasing_on_node[job] += sign;
  }
  MarkJob(job);
}

void Cluster::Impl::AttachJob(TaskId task, JobId job) {
  JobTable& j = t.jobs;
  t.tasks.job[task] = job;
  job_slot[task] = static_cast<uint32_t>(j.tasks[job].size());
  j.tasks[job].push_back(task);
  ++j.task_count[job];
  const Resource& request = t.tasks.pod[task]->request;
  j.total[job] += request;
  if (t.tasks.gated[task] && !t.tasks.spec[task]->only_queue_gate) j.gated[job] += request;
  EnterSubJob(task, SubJobFor(task, job));
  BookJob(task, 1);
}

void Cluster::Impl::DetachJob(TaskId task) {
  const JobId job = t.tasks.job[task];
  if (!job.valid()) return;
  JobTable& j = t.jobs;
  BookJob(task, -1);
  LeaveSubJob(task);
  std::vector<TaskId>& list = j.tasks[job];
  list[job_slot[task]] = list.back();
  job_slot[list.back()] = job_slot[task];
  list.pop_back();
  --j.task_count[job];
  const Resource& request = t.tasks.pod[task]->request;
  j.total[job] -= request;
  if (t.tasks.gated[task] && !t.tasks.spec[task]->only_queue_gate) j.gated[job] -= request;
  t.tasks.job[task] = JobId();
  FreeJobIfUnused(job);
}

void Cluster::Impl::RebuildSubJobs(JobId job) {
  JobTable& j = t.jobs;
  for (TaskId task : j.tasks[job]) {
    BookJob(task, -1);
    LeaveSubJob(task);
  }
  for (SubJobId s : j.sub_jobs[job]) FreeSubJob(s);
  j.sub_jobs[job].clear();
  const bool policies = j.spec[job] != nullptr && !j.spec[job]->sub_groups.empty();
  if (!policies) FindOrMakeSubJob(job, -1, j.key[job], 0);
  for (TaskId task : j.tasks[job]) {
    EnterSubJob(task, SubJobFor(task, job));
    BookJob(task, 1);
  }
}

SubJobId Cluster::Impl::SubJobFor(TaskId task, JobId job) {
  const JobTable& j = t.jobs;
  const std::string& key = j.key[job];
  if (j.spec[job] == nullptr || j.spec[job]->sub_groups.empty()) {
    return FindOrMakeSubJob(job, -1, key, 0);
  }
  const JobSpec& spec = *j.spec[job];
  const SubGroupMatch match = MatchPolicies(spec, *t.tasks.spec[task]->labels, dict.symbols);
  if (match.policy < 0) return FindOrMakeSubJob(job, -1, key, 0);
  const std::string& name = spec.sub_groups[static_cast<size_t>(match.policy)].name;
  return FindOrMakeSubJob(job, match.policy, absl::StrCat(key, "/", name, "-", match.suffix),
                          match.match_index);
}

SubJobId Cluster::Impl::FindOrMakeSubJob(JobId job, int32_t policy, std::string id,
                                         int32_t match_index) {
  SubJobTable& s = t.sub_jobs;
  for (SubJobId known : t.jobs.sub_jobs[job]) {
    if (s.policy[known] == policy && s.id[known] == id) return known;
  }
  SubJobId row;
  if (!free_sub_jobs.empty()) {
    row = free_sub_jobs.back();
    free_sub_jobs.pop_back();
  } else {
    row = SubJobId(static_cast<uint32_t>(s.size()));
    const size_t n = row.index() + 1;
    s.live.resize(n);
    s.job.resize(n);
    s.policy.resize(n);
    s.min_available.resize(n);
    s.match_index.resize(n);
    s.priority.resize(n);
    s.counts.resize(n);
    s.pending_best_effort.resize(n);
    s.tasks.resize(n);
    s.id.resize(n);
    s.allocated_hyper_node.resize(n);
    s.nominated_hyper_node.resize(n);
    priority_counts.resize(n);
  }
  const JobSpec* spec = t.jobs.spec[job].get();
  s.live[row] = 1;
  s.job[row] = job;
  s.policy[row] = policy;
  s.match_index[row] = match_index;
  s.priority[row] = 0;
  s.id[row] = std::move(id);
  s.allocated_hyper_node[row] = HyperNodeId();
  s.nominated_hyper_node[row] = HyperNodeId();
  if (policy >= 0) {
    s.min_available[row] = spec->sub_groups[static_cast<size_t>(policy)].sub_group_size;
  } else {
    const bool whole_job = spec == nullptr || spec->sub_groups.empty();
    s.min_available[row] = whole_job ? t.jobs.min_available[job] : 1;
  }
  t.jobs.sub_jobs[job].push_back(row);
  return row;
}

void Cluster::Impl::EnterSubJob(TaskId task, SubJobId sub_job) {
  SubJobTable& s = t.sub_jobs;
  t.tasks.sub_job[task] = sub_job;
  sub_job_slot[task] = static_cast<uint32_t>(s.tasks[sub_job].size());
  s.tasks[sub_job].push_back(task);
  const int32_t priority = t.tasks.priority[task];
  auto& counts = priority_counts[sub_job];
  auto it = std::find_if(counts.begin(), counts.end(),
                         [&](const auto& entry) { return entry.first == priority; });
  if (it == counts.end()) it = counts.insert(counts.end(), {priority, 0});
  ++it->second;
  s.priority[sub_job] = std::max(s.priority[sub_job], priority);
}

void Cluster::Impl::LeaveSubJob(TaskId task) {
  SubJobTable& s = t.sub_jobs;
  const SubJobId sub_job = t.tasks.sub_job[task];
  std::vector<TaskId>& list = s.tasks[sub_job];
  list[sub_job_slot[task]] = list.back();
  sub_job_slot[list.back()] = sub_job_slot[task];
  list.pop_back();
  auto& counts = priority_counts[sub_job];
  const int32_t priority = t.tasks.priority[task];
  std::erase_if(counts,
                [&](auto& entry) { return entry.first == priority && --entry.second == 0; });
  s.priority[sub_job] = 0;
  for (const auto& [value, count] : counts) {
    s.priority[sub_job] = std::max(s.priority[sub_job], value);
  }
  t.tasks.sub_job[task] = SubJobId();
}

void Cluster::Impl::FreeSubJob(SubJobId sub_job) {
  SubJobTable& s = t.sub_jobs;
  DCHECK(s.tasks[sub_job].empty());
  s.live[sub_job] = 0;
  s.counts[sub_job] = StatusCounts();
  s.pending_best_effort[sub_job] = 0;
  s.id[sub_job].clear();
  priority_counts[sub_job].clear();
  free_sub_jobs.push_back(sub_job);
}

}  // namespace hekla::model
