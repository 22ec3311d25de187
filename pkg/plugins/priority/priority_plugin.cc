#include "pkg/plugins/priority/priority_plugin.h"

namespace hekla::plugins {
namespace {

using framework::EvictContext;
using framework::TaskSpan;
using framework::VictimAnswer;
using framework::Vote;

int HigherFirst(int32_t a, int32_t b) { return a == b ? 0 : (a > b ? -1 : 1); }

}  // namespace

void PriorityPlugin::OnSessionOpen(framework::SessionBuilder& session) {
  view_ = &session.view();
  framework::Points& points = session.session().points();
  const framework::EnableFlags& on = session.enabled();
  session.At(points.task_order, on.task_order).Add<&PriorityPlugin::TaskOrder>(*this);
  session.At(points.job_order, on.job_order).Add<&PriorityPlugin::JobOrder>(*this);
  session.At(points.sub_job_order, on.sub_job_order).Add<&PriorityPlugin::SubJobOrder>(*this);
  session.At(points.preemptable, on.preemptable).Add<&PriorityPlugin::Preemptable>(*this);
  session.At(points.unified_evictable, true).Add<&PriorityPlugin::UnifiedEvictable>(*this);
  session.At(points.job_starving, on.job_starving).Add<&PriorityPlugin::JobStarving>(*this);
}

int PriorityPlugin::TaskOrder(model::TaskId a, model::TaskId b) {
  return HigherFirst(view_->tasks.priority[a], view_->tasks.priority[b]);
}

int PriorityPlugin::JobOrder(model::JobId a, model::JobId b) {
  return HigherFirst(view_->jobs.priority[a], view_->jobs.priority[b]);
}

int PriorityPlugin::SubJobOrder(model::SubJobId a, model::SubJobId b) {
  return HigherFirst(view_->sub_jobs.priority[a], view_->sub_jobs.priority[b]);
}

VictimAnswer PriorityPlugin::Preemptable(model::TaskId preemptor, TaskSpan candidates) {
  VictimAnswer answer{.vote = Vote::kPermit, .victims = {}};
  const model::TaskTable& tasks = view_->tasks;
  const model::JobId job = tasks.job[preemptor];
  if (!job.valid()) return answer;
  const int32_t job_priority = view_->jobs.priority[job];
  for (model::TaskId candidate : candidates) {
    const model::JobId victim_job = tasks.job[candidate];
    if (!victim_job.valid()) continue;
    const bool victim = victim_job == job ? tasks.priority[candidate] < tasks.priority[preemptor]
                                          : view_->jobs.priority[victim_job] < job_priority;
    if (victim) answer.victims.push_back(candidate);
  }
  return answer;
}

VictimAnswer PriorityPlugin::UnifiedEvictable(const EvictContext& context, TaskSpan candidates) {
  VictimAnswer answer{.vote = Vote::kPermit, .victims = {}};
  if (context.kind != EvictContext::Kind::kGangPreempt) {
    answer.victims.assign(candidates.begin(), candidates.end());
    return answer;
  }
  if (!context.job.valid()) return answer;
  const int32_t job_priority = view_->jobs.priority[context.job];
  for (model::TaskId candidate : candidates) {
    const model::JobId victim_job = view_->tasks.job[candidate];
    if (victim_job.valid() && view_->jobs.priority[victim_job] < job_priority) {
      answer.victims.push_back(candidate);
    }
  }
  return answer;
}

bool PriorityPlugin::JobStarving(model::JobId job) {
  const model::JobTable& jobs = view_->jobs;
  return jobs.Ready(job) + jobs.Waiting(job) < jobs.task_count[job];
}

}  // namespace hekla::plugins
