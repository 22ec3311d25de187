#include "pkg/plugins/gang/gang_plugin.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace hekla::plugins {
namespace {

using framework::TaskSpan;
using framework::ValidResult;
using framework::VictimAnswer;
using framework::Vote;

}  // namespace

void GangPlugin::OnSessionOpen(framework::SessionBuilder& session) {
  view_ = &session.view();
  framework::Points& points = session.session().points();
  const framework::EnableFlags& on = session.enabled();
  session.At(points.job_valid, true).Add<&GangPlugin::JobValid>(*this);
  session.At(points.preemptable, on.preemptable).Add<&GangPlugin::Evictable>(*this);
  session.At(points.reclaimable, on.reclaimable).Add<&GangPlugin::Evictable>(*this);
  session.At(points.unified_evictable, true).Add<&GangPlugin::UnifiedEvictable>(*this);
  session.At(points.job_order, on.job_order).Add<&GangPlugin::JobOrder>(*this);
  session.At(points.sub_job_order, on.sub_job_order).Add<&GangPlugin::SubJobOrder>(*this);
  session.At(points.job_ready, on.job_ready).Add<&GangPlugin::JobReady>(*this);
  session.At(points.sub_job_ready, on.sub_job_ready).Add<&GangPlugin::SubJobReady>(*this);
  session.At(points.job_pipelined, on.job_pipelined).Add<&GangPlugin::JobPipelined>(*this);
  session.At(points.sub_job_pipelined, on.sub_job_pipelined)
      .Add<&GangPlugin::SubJobPipelined>(*this);
  session.At(points.job_starving, on.job_starving).Add<&GangPlugin::JobStarving>(*this);
}

ValidResult GangPlugin::JobValid(model::JobId job) {
  const model::JobTable& jobs = view_->jobs;
  if (!RolesPass(jobs, job, GangStage::kValid)) {
    return {false, "NotEnoughPodsOfTask", "Not enough valid pods of each task for gang-scheduling",
            framework::Cause::kNotEnoughPodsOfRole};
  }
  if (!SubGroupsPass(*view_, job, GangStage::kValid)) {
    return {false, "NotEnoughPodsOfTask",
            "Not enough valid subGroups of each task for gang-scheduling",
            framework::Cause::kNotEnoughSubGroups};
  }
  const int32_t valid = jobs.counts[job].Sum(model::kValidStatuses);
  if (valid < jobs.min_available[job]) {
    return {false, "NotEnoughTasks",
            absl::StrCat("Not enough valid tasks for gang-scheduling, valid: ", valid,
                         ", min: ", jobs.min_available[job]),
            framework::Cause::kNotEnoughPods};
  }
  return {};
}

bool GangPlugin::JobReady(model::JobId job) {
  return view_->jobs.IsReady(job) && RolesPass(view_->jobs, job, GangStage::kReady) &&
         SubGroupsPass(*view_, job, GangStage::kReady);
}

Vote GangPlugin::JobPipelined(model::JobId job) {
  const bool pipelined = view_->jobs.IsPipelined(job) &&
                         RolesPass(view_->jobs, job, GangStage::kPipelined) &&
                         SubGroupsPass(*view_, job, GangStage::kPipelined);
  return pipelined ? Vote::kPermit : Vote::kReject;
}

bool GangPlugin::SubJobReady(model::JobId job, model::SubJobId sub_job) {
  (void)job;
  return IsReady(view_->sub_jobs, sub_job);
}

Vote GangPlugin::SubJobPipelined(model::JobId job, model::SubJobId sub_job) {
  (void)job;
  return IsPipelined(view_->sub_jobs, sub_job) ? Vote::kPermit : Vote::kReject;
}

bool GangPlugin::JobStarving(model::JobId job) { return view_->jobs.IsStarving(job); }

int GangPlugin::JobOrder(model::JobId a, model::JobId b) {
  return static_cast<int>(view_->jobs.IsReady(a)) - static_cast<int>(view_->jobs.IsReady(b));
}

int GangPlugin::SubJobOrder(model::SubJobId a, model::SubJobId b) {
  return static_cast<int>(IsReady(view_->sub_jobs, a)) -
         static_cast<int>(IsReady(view_->sub_jobs, b));
}

VictimAnswer GangPlugin::Evictable(model::TaskId preemptor, TaskSpan candidates) {
  (void)preemptor;
  VictimAnswer answer{.vote = Vote::kPermit, .victims = {}};
  const model::JobTable& jobs = view_->jobs;
  absl::flat_hash_map<model::JobId, int32_t> left;
  absl::flat_hash_map<std::pair<model::JobId, model::Symbol>, int32_t> left_of_role;
  for (model::TaskId candidate : candidates) {
    const model::JobId job = view_->tasks.job[candidate];
    if (!job.valid()) continue;
    int32_t& count = left.try_emplace(job, jobs.Ready(job)).first->second;
    if (count <= jobs.min_available[job]) continue;
    const model::Symbol role = view_->tasks.role[candidate];
    const model::RoleRow* row = FindRole(jobs, job, role);
    if (row != nullptr && row->minimum > 0 && RolesEnforced(jobs, job)) {
      int32_t& placed =
          left_of_role.try_emplace(std::make_pair(job, role), Placed(*row)).first->second;
      if (placed <= row->minimum) continue;
      --placed;
    }
    --count;
    answer.victims.push_back(candidate);
  }
  return answer;
}

VictimAnswer GangPlugin::UnifiedEvictable(const framework::EvictContext& context,
                                          TaskSpan candidates) {
  (void)context;
  return {Vote::kPermit, {candidates.begin(), candidates.end()}};
}

}  // namespace hekla::plugins
