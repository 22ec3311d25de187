#include "pkg/actions/enqueue/enqueue_action.h"

#include "pkg/actions/common/job_queues.h"

namespace hekla::actions {
namespace {

using framework::Cause;

// Quirk: without minResources nobody is asked, so that a job of a closed or full queue becomes
// Inqueue too.
bool Admit(framework::Session& session, model::JobId job, model::QueueId queue) {
  const model::JobTable& jobs = session.tables().jobs;
  if (!jobs.spec[job]->min_resources.has_value()) return true;
  if (session.points().job_enqueueable(job)) return true;
  const bool open = session.tables().queues.IsOpen(queue);
  session.SetJobFitError(job, open ? Cause::kEnqueueRefused : Cause::kQueueNotOpen);
  return false;
}

}  // namespace

void EnqueueAction::Execute(framework::Session& session, const framework::Arguments& arguments) {
  (void)arguments;
  if (!session.changed()) return;  // every plugin would say the same again
  const model::JobTable& jobs = session.tables().jobs;
  jobs_.clear();
  for (model::JobId job : session.cluster().waiting_jobs()) {
    if (InSession(jobs, job) && jobs.IsPendingPhase(job)) jobs_.push_back(job);
  }
  if (jobs_.empty()) return;
  JobQueues queues(session, jobs_);
  while (!queues.empty()) {
    const model::QueueId queue = queues.PopQueue();
    auto& pending = queues.JobsOf(queue);
    if (pending.empty()) continue;
    const model::JobId job = pending.Pop();
    if (Admit(session, job, queue)) {
      session.points().job_enqueued(job);
      session.ClearJobFitError(job);
      session.cluster().SetPhase(job, model::PodGroupPhase::kInqueue);
    }
    queues.PushQueue(queue);
  }
}

}  // namespace hekla::actions
