#include "pkg/actions/allocate/allocate_action.h"

#include "absl/container/flat_hash_map.h"
#include "pkg/actions/allocate/allocation.h"
#include "pkg/actions/common/job_queues.h"
#include "pkg/framework/tries.h"

namespace hekla::actions {
namespace {

using framework::Session;
using framework::Statement;
using model::JobId;
using model::QueueId;

bool HasTopology(const model::JobSpec& spec) {
  if (spec.topology.has_value()) return true;
  for (const model::SubGroupPolicy& policy : spec.sub_groups) {
    if (policy.topology.has_value()) return true;
  }
  return false;
}

// The jobs of this run; those that cannot take part are told why where nobody else does.
void CollectJobs(Session& session, std::vector<JobId>& out) {
  const model::JobTable& jobs = session.tables().jobs;
  const bool enqueues = session.HasAction("enqueue");
  out.clear();
  for (JobId job : session.cluster().waiting_jobs()) {
    if (InSession(jobs, job)) out.push_back(job);
  }
  std::erase_if(out, [&](JobId job) {
    if (jobs.IsPendingPhase(job)) {
      if (enqueues) return true;
      session.cluster().SetPhase(job, model::PodGroupPhase::kInqueue);
    }
    const model::StatusCounts& counts = jobs.counts[job];
    if (counts[model::TaskStatus::kPending] <= jobs.pending_best_effort[job]) return true;
    if (!session.points().job_valid(job).pass) return true;
    if (!HasTopology(*jobs.spec[job])) return false;
    session.SetJobFitError(job, framework::Cause::kHyperNodesNotReady);
    return true;
  });
  framework::Tries(session).DropHopeless(out);
}

// One run over queues and jobs.
class Run {
 public:
  explicit Run(Session& session) : session_(session) {}

  void Execute(const std::vector<JobId>& jobs) {
    JobQueues queues(session_, jobs);
    while (!queues.empty()) {
      const QueueId queue = queues.PopQueue();
      auto& waiting = queues.JobsOf(queue);
      if (waiting.empty()) continue;
      if (session_.points().overused(queue)) {
        SayOverused(waiting.items());
        continue;
      }
      const JobId job = waiting.Pop();
      if (TakeTurn(job, queue)) waiting.Push(job);
      queues.PushQueue(queue);
    }
  }

 private:
  // True if the job wants another turn.
  bool TakeTurn(JobId job, QueueId queue) {
    auto [it, first_turn] = sheets_.try_emplace(job);
    Worksheet& sheet = it->second;
    if (first_turn) {
      sheet = MakeWorksheet(session_, job);
      framework::Tries(session_).Begin(job);
      if (sheet.empty()) return false;
    }
    Allocation allocation(session_, job, queue);
    Statement statement = session_.tables().jobs.spec[job]->sub_groups.empty()
                              ? allocation.TrySubJob(sheet.sub_jobs.front())
                              : allocation.TryJob(sheet);
    std::erase_if(sheet.sub_jobs, [](const SubJobSheet& part) { return part.empty(); });
    framework::Tries(session_).MarkTurn(job, allocation.placed());
    if (statement.empty()) return false;
    if (!session_.points().job_ready(job)) {
      statement.Keep();  // pipelined: what it reserves is held until the session closes
      return false;
    }
    statement.Commit();
    return !sheet.empty();
  }

  void SayOverused(const std::vector<JobId>& jobs) {
    for (JobId job : jobs) {
      framework::Tries tries(session_);
      tries.Begin(job);
      tries.MarkTurn(job, false);
      if (sheets_.contains(job)) continue;
      session_.SetJobFitError(job, framework::Cause::kQueueOverused);
    }
  }

  Session& session_;
  absl::flat_hash_map<JobId, Worksheet> sheets_;
};

}  // namespace

void AllocateAction::Execute(Session& session, const framework::Arguments& arguments) {
  (void)arguments;
  CollectJobs(session, jobs_);
  if (!jobs_.empty()) Run(session).Execute(jobs_);
}

}  // namespace hekla::actions
