#include "pkg/actions/allocate/allocate_action.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
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

// Whether pods that others place in this very session could make room for the job: it wants to be
// near other pods, or spread evenly among them.
bool LooksAtOthers(const Session& session, JobId job) {
  const model::Tables& t = session.tables();
  for (const model::TaskId task : t.jobs.tasks[job]) {
    if (t.tasks.status[task] != model::TaskStatus::kPending) continue;
    const model::PodTemplate& pod = *t.tasks.pod[task];
    if (!pod.affinity.empty() || !pod.spread.empty()) return true;
  }
  return false;
}

// Leaves out jobs that would fare as they did the last time. One that only holds reservations must
// renew them as soon as anybody else gets a chance to take their room, and one that looks at other
// pods may be helped by anybody else.
void DropHopeless(Session& session, std::vector<JobId>& jobs) {
  bool anybody = false;
  std::vector<JobId> holding;
  const bool coupled = session.cluster().has_coupled_pods();
  framework::Tries tries(session);
  std::erase_if(jobs, [&](JobId job) {
    bool pipelined = false;
    if (tries.Worth(job, &pipelined) && !tries.StillBlocked(job)) {
      anybody = true;
      return false;
    }
    if (pipelined || (coupled && LooksAtOthers(session, job))) holding.push_back(job);
    return true;
  });
  if (anybody) jobs.insert(jobs.end(), holding.begin(), holding.end());
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
    session.SetJobFitError(job, "hyperNodes are not ready");
    return true;
  });
  DropHopeless(session, out);
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
        SayOverused(queue, waiting.items());
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
      if (sheet.empty()) return false;
      framework::Tries(session_).Begin(job);
    }
    Allocation allocation(session_, job, queue);
    Statement statement = session_.tables().jobs.spec[job]->sub_groups.empty()
                              ? allocation.TrySubJob(sheet.sub_jobs.front())
                              : allocation.TryJob(sheet);
    std::erase_if(sheet.sub_jobs, [](const SubJobSheet& part) { return part.empty(); });
    if (statement.empty()) return false;
    if (!session_.points().job_ready(job)) {
      framework::Tries(session_).MarkPipelined(job);
      statement.Keep();  // pipelined: what it reserves is held until the session closes
      return false;
    }
    statement.Commit();
    return !sheet.empty();
  }

  void SayOverused(QueueId queue, const std::vector<JobId>& jobs) {
    for (JobId job : jobs) {
      if (sheets_.contains(job)) continue;
      framework::Tries(session_).Begin(job);
      session_.SetJobFitError(
          job, absl::StrCat("queue \"", session_.tables().queues.name[queue], "\" is overused"));
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
