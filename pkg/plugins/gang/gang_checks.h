#pragma once

#include "pkg/model/cluster.h"

// HOT PATH
namespace hekla::plugins {

// The counts behind a gang's readiness. Source: spec scheduler-core 8.5, 8.6, example E9.
enum class GangStage : uint8_t {
  kValid,      // could ever start: pending tasks count
  kReady,      // allocated, succeeded and pending best-effort tasks
  kPipelined,  // as ready, and pipelined tasks
};

// Whether roles have minimums that are to be enforced (a job whose minMember is below their sum
// ignores them).
bool RolesEnforced(const model::JobTable& jobs, model::JobId job);
// Every role has its minimum.
bool RolesPass(const model::JobTable& jobs, model::JobId job, GangStage stage);
// Every sub-group policy has minSubGroups sub-jobs (that exist, are ready, are pipelined).
bool SubGroupsPass(const model::Tables& tables, model::JobId job, GangStage stage);

int32_t Ready(const model::SubJobTable& sub_jobs, model::SubJobId s);
bool IsReady(const model::SubJobTable& sub_jobs, model::SubJobId s);
bool IsPipelined(const model::SubJobTable& sub_jobs, model::SubJobId s);

// Tasks of the role that are placed: allocated, succeeded, or pending with an empty request.
int32_t Placed(const model::RoleRow& role);
// The row of a role; nullptr where the job has no such role.
const model::RoleRow* FindRole(const model::JobTable& jobs, model::JobId job, model::Symbol role);

}  // namespace hekla::plugins
