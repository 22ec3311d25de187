#include "absl/strings/str_cat.h"
#include "pkg/framework/scheduler_metrics.h"
#include "pkg/plugins/common/jobs.h"
#include "pkg/plugins/gang/gang_plugin.h"

// What a session's end says about each gang it touched.
namespace hekla::plugins {
namespace {

using model::StatusCounts;
using model::TaskStatus;

constexpr absl::string_view kScheduled = "Scheduled";
constexpr absl::string_view kUnschedulable = "Unschedulable";
constexpr absl::string_view kReadyReason = "tasks in gang are ready to be scheduled";
constexpr absl::string_view kNotEnough = "NotEnoughResources";

// Nothing waits for room, and what is terminating still completes the gang: no word about it.
bool IsEndingInOrder(const model::JobTable& jobs, model::JobId job) {
  const StatusCounts& counts = jobs.counts[job];
  return jobs.releasing_on_node[job] > 0 && counts[TaskStatus::kPending] == 0 &&
         counts[TaskStatus::kPipelined] == 0 &&
         counts.Sum(model::kScheduledStatuses) + jobs.releasing_on_node[job] >=
             jobs.min_available[job];
}

}  // namespace

int32_t GangPlugin::Missing(model::JobId job) const {
  int32_t placed = view_->jobs.Ready(job);
  if (view_->jobs.counts[job][TaskStatus::kPending] > 0) {
    for (model::TaskId task : view_->jobs.tasks[job]) {
      if (view_->tasks.status[task] != TaskStatus::kPending) continue;
      const model::LastTransaction& last = view_->tasks.last_transaction[task];
      placed += last.set && model::IsOneOf(last.status, model::kAllocatedStatuses) ? 1 : 0;
    }
  }
  return view_->jobs.min_available[job] - placed;
}

// unschedule_task_count, unschedule_job_count and job_retry_counts. What upstream counts per cycle
// counts here for jobs that the cycle had to do with.
void GangPlugin::CountJob(framework::SchedulerMetrics& metrics, model::JobId job) {
  const model::JobTable& jobs = view_->jobs;
  Series* series = series_.Of(
      jobs, job,
      [&](const std::string&, const std::string& name) {
        return Series{metrics.unscheduled_tasks.With({name}), nullptr};
      },
      [&](const std::string&, const std::string& name) {
        metrics.unscheduled_tasks.Remove({name});
        metrics.job_retries.Remove({name});
      });
  const bool counts = series != nullptr && jobs.task_count[job] > 0;
  const bool unready = counts && !jobs.IsReady(job) && !IsEndingInOrder(jobs, job);
  uint8_t& known = unready_.Grow(job);
  unready_jobs_ += static_cast<int32_t>(unready) - known;
  known = unready ? 1 : 0;
  if (!counts) return;
  series->unscheduled->Set(unready ? Missing(job) : 0);
  if (!unready) return;
  if (series->retries == nullptr) {
    series->retries = metrics.job_retries.With({jobs.spec[job]->name});
  }
  series->retries->Add();
}

void GangPlugin::OnSessionClose(framework::Session& session) {
  const model::JobTable& jobs = view_->jobs;
  framework::SchedulerMetrics* metrics = session.deps().metrics;
  for (model::JobId job : session.cluster().unpublished_jobs()) {
    if (metrics != nullptr) CountJob(*metrics, job);
    if (!InSession(jobs, job) || jobs.task_count[job] == 0) continue;
    model::ConditionRow condition;
    condition.status = "True";
    condition.transition_id = session.uid();
    condition.last_transition = session.now();
    if (jobs.IsReady(job)) {
      condition.type = std::string(kScheduled);
      condition.reason = std::string(kReadyReason);
    } else if (IsEndingInOrder(jobs, job)) {
      continue;
    } else {
      condition.type = std::string(kUnschedulable);
      condition.reason = std::string(kNotEnough);
      condition.message =
          absl::StrCat(Missing(job), "/", jobs.task_count[job],
                       " tasks in gang unschedulable: ", session.JobFitErrorText(job));
    }
    session.SetJobCondition(job, std::move(condition));
  }
  if (metrics != nullptr) metrics->unscheduled_jobs.Set(unready_jobs_);
}

}  // namespace hekla::plugins
