#include "pkg/actions/backfill/backfill_action.h"

#include "pkg/actions/common/job_queues.h"
#include "pkg/framework/node_search.h"
#include "pkg/framework/task_order.h"
#include "pkg/framework/tries.h"

namespace hekla::actions {

using framework::FitErrors;
using framework::NodeSet;
using framework::SearchOptions;
using framework::SearchResult;
using model::JobId;
using model::QueueId;
using model::TaskId;
using model::TaskStatus;

// Queue by queue, job by job; the orders are those at the start.
void BackfillAction::Collect(framework::Session& session) {
  const model::Tables& t = session.tables();
  std::vector<JobId> jobs;
  for (JobId job : session.cluster().waiting_jobs()) {
    if (!InSession(t.jobs, job) || t.jobs.IsPendingPhase(job)) continue;
    const bool pipelined = t.jobs.counts[job][TaskStatus::kPipelined] > 0;
    if (t.jobs.pending_best_effort[job] == 0 && !pipelined) continue;
    if (session.points().job_valid(job).pass) jobs.push_back(job);
  }
  framework::Tries(session).DropHopeless(jobs);
  tasks_.clear();
  if (jobs.empty()) return;
  JobQueues queues(session, jobs);
  while (!queues.empty()) {
    auto& waiting = queues.JobsOf(queues.PopQueue());
    while (!waiting.empty()) {
      const JobId job = waiting.Pop();
      const size_t first = tasks_.size();
      for (TaskId task : t.jobs.tasks[job]) {
        if (!t.tasks.best_effort[task]) continue;
        const TaskStatus status = t.tasks.status[task];
        const bool pending = status == TaskStatus::kPending && !t.tasks.gated[task];
        if (pending || status == TaskStatus::kPipelined) tasks_.push_back(task);
      }
      framework::SortTasks(session, absl::MakeSpan(tasks_).subspan(first));
    }
  }
}

void BackfillAction::Execute(framework::Session& session, const framework::Arguments& arguments) {
  (void)arguments;
  Collect(session);
  SearchOptions options;
  options.check_resources = false;
  for (TaskId task : tasks_) {
    if (session.tables().tasks.status[task] == TaskStatus::kPipelined) session.Unpipeline(task);
  }
  for (TaskId task : tasks_) {
    framework::Tries tries(session);
    const JobId job = session.tables().tasks.job[task];
    tries.Begin(job);
    const SearchResult found = session.search().Best(task, NodeSet(), options);
    tries.MarkTurn(job, found.node.valid());
    if (found.node.valid()) {
      session.AllocateAtOnce(task, found.node);
      continue;
    }
    FitErrors& errors = session.FitErrorsOf(task);
    errors = FitErrors();
    session.search().Explain(task, NodeSet(), options, errors);
  }
}

}  // namespace hekla::actions
