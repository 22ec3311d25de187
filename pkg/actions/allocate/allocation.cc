#include "pkg/actions/allocate/allocation.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/actions/common/job_queues.h"
#include "pkg/framework/task_order.h"
#include "pkg/framework/tries.h"

namespace hekla::actions {

using framework::FitErrors;
using framework::NodeSet;
using framework::Room;
using framework::SearchOptions;
using framework::SearchResult;
using framework::Statement;
using model::NodeId;
using model::TaskId;
using model::TaskStatus;

Statement Allocation::TrySubJob(SubJobSheet& sheet) {
  Statement statement(session_);
  while (!sheet.empty()) {
    const TaskId task = sheet.tasks[sheet.next++];
    const Outcome outcome = TryTask(task, statement);
    const auto& classes = session_.tables().tasks.task_class;
    if (outcome == Outcome::kRefused && !refused_.valid()) refused_ = task;
    placed_ = placed_ || outcome == Outcome::kPlaced;
    const bool refused = outcome == Outcome::kRefused || outcome == Outcome::kRoleHasFailed;
    same_refusal_ =
        same_refusal_ && refused && refused_.valid() && classes[task] == classes[refused_];
    if (outcome == Outcome::kRefused && !NeedContinue(sheet.sub_job)) break;
    if (outcome == Outcome::kPlaced && session_.SubJobReady(sheet.sub_job)) break;
  }
  if (statement.empty()) NoteBlocked();
  if (session_.SubJobReady(sheet.sub_job) || session_.SubJobPipelined(sheet.sub_job)) {
    return statement;
  }
  statement.Discard();
  return statement;
}

void Allocation::NoteBlocked() {
  const model::JobTable& jobs = session_.tables().jobs;
  // Backfill has its own questions.
  if (jobs.sub_jobs[job_].size() != 1 || jobs.pending_best_effort[job_] > 0) return;
  if (same_refusal_ && refused_.valid()) {
    framework::Tries(session_).MarkBlocked(job_, refused_);
  }
}

Statement Allocation::TryJob(Worksheet& sheet) {
  Statement all(session_);
  Worksheet rest;
  std::vector<SubJobSheet> round = std::move(sheet.sub_jobs);
  size_t next = 0;
  while (next < round.size()) {
    SubJobSheet part = std::move(round[next++]);
    Statement statement = TrySubJob(part);
    if (statement.empty()) continue;  // a sub-job that gets nowhere is done with
    all.Merge(statement);
    const bool ready = session_.points().job_ready(job_);
    if (!part.empty()) {
      // In its place in the order again, behind what is required.
      auto before = [&](const SubJobSheet& a, const SubJobSheet& b) {
        if (a.required != b.required) return a.required;
        return session_.SubJobBefore(a.sub_job, b.sub_job);
      };
      size_t at = next;
      while (at < round.size() && before(round[at], part)) ++at;
      round.insert(round.begin() + static_cast<int64_t>(at), std::move(part));
    }
    if (ready) break;
  }
  rest.sub_jobs.assign(std::make_move_iterator(round.begin() + static_cast<int64_t>(next)),
                       std::make_move_iterator(round.end()));
  sheet = std::move(rest);
  if (!session_.points().job_ready(job_) && !session_.points().job_pipelined(job_)) all.Discard();
  return all;
}

bool Allocation::HeldByGate(TaskId task) {
  const model::TaskTable& tasks = session_.tables().tasks;
  if (!tasks.gated[task]) return false;
  const model::TaskSpec& spec = *tasks.spec[task];
  if (session_.deps().queue_admission_gates && spec.queue_gate_opt_in) {
    session_.deps().sink->RemoveGate({spec.uid, spec.namespace_name, spec.name});
  }
  return true;  // placed in a later cycle, once the gate is gone
}

bool Allocation::ExceedsCluster() const {
  const model::Tables& t = session_.tables();
  std::vector<TaskId> members = t.jobs.tasks[job_];
  const auto minimum = static_cast<size_t>(std::max(t.jobs.min_available[job_], 0));
  if (members.size() < minimum) return false;
  framework::SortTasks(session_, absl::MakeSpan(members));
  model::Resource sum;
  for (size_t i = 0; i < minimum; ++i) sum += t.tasks.pod[members[i]]->request;
  for (size_t d = 0; d < sum.size(); ++d) {
    const auto dim = static_cast<model::ResourceDim>(d);
    if (sum[dim] > t.nodes.total_allocatable[dim]) return true;
  }
  return false;
}

// A share is never more than the whole cluster: of a gang that is too large for all nodes together
// they are the reason, not the queue.
void Allocation::ExplainQueue(TaskId task) {
  const model::QueueTable& queues = session_.tables().queues;
  if (!queues.IsOpen(queue_)) {
    session_.SetJobFitError(job_, framework::Cause::kQueueNotOpen);
    return;
  }
  if (queue_said_) return;
  queue_said_ = true;
  if (ExceedsCluster() && !session_.search().MayFit(task)) {
    FitErrors& errors = framework::Tries(session_).AsideErrorsOf(task);
    session_.search().Explain(task, NodeSet(), SearchOptions(), errors);
    return;
  }
  session_.SetJobFitError(job_, framework::Cause::kQueueShareExceeded);
}

SearchResult Allocation::Search(TaskId task) {
  const model::Tables& t = session_.tables();
  const SearchOptions options;
  const std::string& nominated = t.tasks.spec[task]->nominated_node;
  if (!nominated.empty()) {
    const NodeId node = session_.cluster().FindNode(nominated);
    if (node.valid() && t.nodes.live[node]) {
      NodeSet set;
      set.only = absl::MakeConstSpan(&node, 1);
      const SearchResult found = session_.search().Best(task, set, options);
      if (found.node.valid()) return found;
    }
  }
  return session_.search().Best(task, NodeSet(), options);
}

Allocation::Outcome Allocation::TryTask(TaskId task, Statement& statement) {
  const model::TaskTable& tasks = session_.tables().tasks;
  if (!session_.points().allocatable(queue_, task)) {
    ExplainQueue(task);
    return Outcome::kSkipped;
  }
  if (HeldByGate(task)) return Outcome::kSkipped;
  if (session_.RoleHasFailed(task)) {
    FitErrors& errors = session_.FitErrorsOf(task);
    errors = FitErrors();
    errors.custom_head = absl::StrCat("Task ", tasks.spec[task]->name, " with role spec ",
                                      session_.dictionary().symbols.Text(tasks.role[task]),
                                      " has already predicated failed, skip");
    return Outcome::kRoleHasFailed;
  }
  const SearchResult found = Search(task);
  if (!found.node.valid()) {
    FitErrors& errors = session_.FitErrorsOf(task);
    errors = FitErrors();
    session_.search().Explain(task, NodeSet(), SearchOptions(), errors);
    return Outcome::kRefused;
  }
  if (found.room == Room::kIdle) {
    statement.Allocate(task, found.node);
  } else {
    statement.Pipeline(task, found.node, /*evictions=*/false);
  }
  VLOG(5) << "task placed task=" << tasks.spec[task]->name
          << " pipelined=" << (found.room == Room::kFutureIdle);
  return Outcome::kPlaced;
}

bool Allocation::NeedContinue(model::SubJobId sub_job) const {
  const model::Tables& t = session_.tables();
  const model::JobTable& jobs = t.jobs;
  if (jobs.min_available[job_] == jobs.task_count[job_]) return false;
  if (t.sub_jobs.min_available[sub_job] >= static_cast<int64_t>(t.sub_jobs.tasks[sub_job].size())) {
    return false;
  }
  if (!jobs.spec[job_]->sub_groups.empty()) return true;
  int32_t pending_in_roles = 0;
  int32_t hopeful = 0;
  bool minimum_lost = false;
  for (const model::RoleRow& row : jobs.roles[job_]) {
    const int32_t pending = row.counts[TaskStatus::kPending];
    pending_in_roles += pending;
    if (!session_.RoleHasFailed(sub_job, row.role)) {
      hopeful += pending;
      continue;
    }
    const int32_t placed = row.counts.Sum(model::kReadyStatuses) + row.pending_best_effort;
    minimum_lost = minimum_lost || (row.minimum > 0 && placed < row.minimum);
  }
  if (jobs.min_available[job_] < jobs.role_minimum_total[job_]) {
    if (!session_.RoleHasFailed(sub_job, model::Symbol())) {
      hopeful += jobs.counts[job_][TaskStatus::kPending] - pending_in_roles;
    }
    return jobs.Ready(job_) + hopeful >= jobs.min_available[job_];
  }
  return !minimum_lost;
}

}  // namespace hekla::actions
