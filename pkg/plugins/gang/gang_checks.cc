#include "pkg/plugins/gang/gang_checks.h"

namespace hekla::plugins {

using model::TaskStatus;

const model::RoleRow* FindRole(const model::JobTable& jobs, model::JobId job, model::Symbol role) {
  for (const model::RoleRow& row : jobs.roles[job]) {
    if (row.role == role) return &row;
  }
  return nullptr;
}

int32_t Placed(const model::RoleRow& role) {
  return role.counts.Sum(model::kReadyStatuses) + role.pending_best_effort;
}

bool RolesEnforced(const model::JobTable& jobs, model::JobId job) {
  return jobs.role_minimum_total[job] > 0 &&
         jobs.min_available[job] >= jobs.role_minimum_total[job];
}

bool RolesPass(const model::JobTable& jobs, model::JobId job, GangStage stage) {
  if (!RolesEnforced(jobs, job) || jobs.spec[job] == nullptr) return true;
  for (const auto& [role, minimum] : jobs.spec[job]->min_task_member) {
    const model::RoleRow* row = FindRole(jobs, job, role);
    int32_t count = 0;
    if (row != nullptr) {
      count = stage == GangStage::kValid ? row->counts.Sum(model::kValidStatuses) : Placed(*row);
      if (stage == GangStage::kPipelined) count += row->counts[TaskStatus::kPipelined];
    }
    if (count < minimum) return false;
  }
  return true;
}

bool SubGroupsPass(const model::Tables& tables, model::JobId job, GangStage stage) {
  const auto& spec = tables.jobs.spec[job];
  if (spec == nullptr || spec->sub_groups.empty()) return true;
  for (size_t policy = 0; policy < spec->sub_groups.size(); ++policy) {
    const int32_t minimum = spec->sub_groups[policy].min_sub_groups;
    if (minimum <= 0) continue;
    int32_t count = 0;
    for (model::SubJobId s : tables.jobs.sub_jobs[job]) {
      if (tables.sub_jobs.policy[s] != static_cast<int32_t>(policy)) continue;
      const bool counts = stage == GangStage::kValid   ? true
                          : stage == GangStage::kReady ? IsReady(tables.sub_jobs, s)
                                                       : IsPipelined(tables.sub_jobs, s);
      count += counts ? 1 : 0;
    }
    if (count < minimum) return false;
  }
  return true;
}

int32_t Ready(const model::SubJobTable& sub_jobs, model::SubJobId s) {
  return sub_jobs.counts[s].Sum(model::kReadyStatuses);
}

bool IsReady(const model::SubJobTable& sub_jobs, model::SubJobId s) {
  return Ready(sub_jobs, s) + sub_jobs.pending_best_effort[s] >= sub_jobs.min_available[s];
}

bool IsPipelined(const model::SubJobTable& sub_jobs, model::SubJobId s) {
  return Ready(sub_jobs, s) + sub_jobs.counts[s][TaskStatus::kPipelined] +
             sub_jobs.pending_best_effort[s] >=
         sub_jobs.min_available[s];
}

}  // namespace hekla::plugins
