#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pkg/model/ids.h"
#include "pkg/model/specs.h"
#include "pkg/model/task_table.h"
#include "pkg/util/id_vector.h"

// HOT PATH
namespace hekla::model {

// Members of one role (label or annotation volcano.sh/task-spec) of a job.
struct RoleRow {
  Symbol role;
  int32_t minimum = 0;  // minTaskMember; 0 where the PodGroup names no minimum
  StatusCounts counts;
  int32_t pending_best_effort = 0;
  friend bool operator==(const RoleRow&, const RoleRow&) = default;
};

// A gang: one PodGroup with its pods, or a pod without PodGroup (solo). A row exists as soon as a
// pod names the group; `spec` is null until the PodGroup itself arrives, and such jobs are not
// scheduled. Key: "namespace/name"; solo jobs: "namespace/pod-name" with a mark that no PodGroup
// key can have.
struct JobTable {
  util::IdVector<JobId, uint8_t> live;
  util::IdVector<JobId, QueueId> queue;  // invalid: the queue does not exist
  util::IdVector<JobId, int32_t> min_available;
  util::IdVector<JobId, int32_t> priority;  // of the PriorityClass, or the global default, or 0
  util::IdVector<JobId, int64_t> creation_ns;
  util::IdVector<JobId, PodGroupPhase> phase;  // as the session has it
  util::IdVector<JobId, StatusCounts> counts;
  util::IdVector<JobId, int32_t> task_count;
  util::IdVector<JobId, int32_t> pending_best_effort;
  util::IdVector<JobId, int32_t> pending_gated;
  util::IdVector<JobId, int32_t> releasing_on_node;
  util::IdVector<JobId, int32_t> role_minimum_total;
  // Sums of requests over statuses. allocated: the four allocated statuses; pipelined: Pipelined;
  // pending: Pending (gated ones included); gated: tasks held back by gates other than the queue
  // gate.
  util::IdVector<JobId, Resource> allocated, pipelined, pending, total, gated;
  util::IdVector<JobId, std::vector<RoleRow>> roles;
  util::IdVector<JobId, std::vector<TaskId>> tasks;  // unordered
  util::IdVector<JobId, std::vector<SubJobId>> sub_jobs;
  // Grows with every change of the job's tasks, PodGroup or class; "untouched" compares it.
  util::IdVector<JobId, uint32_t> generation;
  // Null: no PodGroup (yet); such a job has no queue. A solo job has one made from its pod.
  util::IdVector<JobId, std::shared_ptr<const JobSpec>> spec;
  util::IdVector<JobId, uint8_t> solo;
  util::IdVector<JobId, std::string> key;
  util::IdVector<JobId, std::vector<ConditionRow>> conditions;  // as the session has them
  util::IdVector<JobId, HyperNodeId> allocated_hyper_node;

  size_t size() const { return live.size(); }

  int32_t Ready(JobId j) const { return counts[j].Sum(kReadyStatuses); }
  int32_t Waiting(JobId j) const { return counts[j][TaskStatus::kPipelined]; }
  // IsReady, IsPipelined, IsStarving: the count formulas of spec scheduler-core 8.6.
  bool IsReady(JobId j) const { return Ready(j) + pending_best_effort[j] >= min_available[j]; }
  bool IsPipelined(JobId j) const {
    return Waiting(j) + Ready(j) + pending_best_effort[j] >= min_available[j];
  }
  bool IsStarving(JobId j) const { return Waiting(j) + Ready(j) < min_available[j]; }
  bool IsPendingPhase(JobId j) const {
    return phase[j] == PodGroupPhase::kPending || phase[j] == PodGroupPhase::kNone;
  }
};

// Part of a job under one sub-group policy, or the default one that holds all other tasks.
struct SubJobTable {
  util::IdVector<SubJobId, uint8_t> live;
  util::IdVector<SubJobId, JobId> job;
  util::IdVector<SubJobId, int32_t>
      policy;  // index into JobSpec::sub_groups, -1 for the default one
  util::IdVector<SubJobId, int32_t> min_available;
  util::IdVector<SubJobId, int32_t> match_index;
  util::IdVector<SubJobId, int32_t> priority;
  util::IdVector<SubJobId, StatusCounts> counts;
  util::IdVector<SubJobId, int32_t> pending_best_effort;
  util::IdVector<SubJobId, std::vector<TaskId>> tasks;
  util::IdVector<SubJobId, std::string> id;  // "ns/pg/policy-value"
  util::IdVector<SubJobId, HyperNodeId> allocated_hyper_node, nominated_hyper_node;
  size_t size() const { return live.size(); }
};

struct QueueTable {
  util::IdVector<QueueId, uint8_t> live;
  util::IdVector<QueueId, std::shared_ptr<const QueueSpec>> spec;
  util::IdVector<QueueId, std::string> name;
  util::IdVector<QueueId, int64_t> creation_ns;
  util::IdVector<QueueId, std::vector<JobId>> jobs;  // unordered
  // Sums over the jobs in the queue, as in JobTable.
  util::IdVector<QueueId, Resource> allocated, pipelined, pending;
  util::IdVector<QueueId, uint32_t> generation;
  size_t size() const { return live.size(); }
  // Open, or no state set yet (a cluster without Volcano's controllers).
  bool IsOpen(QueueId q) const {
    return spec[q]->state == QueueState::kOpen || spec[q]->state == QueueState::kNone;
  }
};

}  // namespace hekla::model
