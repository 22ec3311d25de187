#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pkg/model/ids.h"
#include "pkg/model/specs.h"
#include "pkg/model/task_status.h"
#include "pkg/util/id_vector.h"

// HOT PATH
namespace hekla::model {

// What a discarded statement leaves behind for "can possibly be assigned" messages.
struct LastTransaction {
  bool set = false;
  TaskStatus status = TaskStatus::kPending;
  NodeId node;
  bool evictions = false;
  friend bool operator==(const LastTransaction&, const LastTransaction&) = default;
};

struct TaskTable {
  util::IdVector<TaskId, uint8_t> live;
  // Of the pod in the row, for notes that outlive it: rows are used again, serials are not; never
  // 0.
  util::IdVector<TaskId, uint64_t> serial;
  util::IdVector<TaskId, TaskStatus> status;
  util::IdVector<TaskId, TaskClassId> task_class;
  util::IdVector<TaskId, JobId> job;  // invalid: occupies its node, belongs to no gang
  util::IdVector<TaskId, SubJobId> sub_job;
  util::IdVector<TaskId, NodeId> node;
  util::IdVector<TaskId, int32_t> priority;
  util::IdVector<TaskId, int64_t> creation_ns;
  util::IdVector<TaskId, uint8_t> best_effort;
  util::IdVector<TaskId, uint8_t> gated;
  util::IdVector<TaskId, uint8_t> pipeline_evicted;  // pipelined onto room that evictions make
  util::IdVector<TaskId, Symbol> role;
  util::IdVector<TaskId, int64_t> pod_index;  // number at the end of the name; -1: none
  util::IdVector<TaskId, NamespaceId> namespace_id;
  util::IdVector<TaskId, LastTransaction> last_transaction;
  util::IdVector<TaskId, const PodTemplate*> pod;  // borrowed from spec
  util::IdVector<TaskId, std::shared_ptr<const TaskSpec>> spec;

  size_t size() const { return status.size(); }
};

// Task counts by status, of a job, sub-job or role.
struct StatusCounts {
  std::array<int32_t, kTaskStatusCount> n{};
  int32_t operator[](TaskStatus s) const { return n[static_cast<size_t>(s)]; }
  void Add(TaskStatus s, int32_t delta) { n[static_cast<size_t>(s)] += delta; }
  int32_t Sum(uint32_t statuses) const {
    int32_t total = 0;
    for (int s = 0; s < kTaskStatusCount; ++s) {
      if (statuses & (1u << s)) total += n[static_cast<size_t>(s)];
    }
    return total;
  }
  friend bool operator==(const StatusCounts&, const StatusCounts&) = default;
};

// Tasks of one class: the same pod template, and the same labels and namespace as far as live
// selectors can tell them apart.
struct TaskClassTable {
  util::IdVector<TaskClassId, const PodTemplate*> pod;
  util::IdVector<TaskClassId, Labels> projected_labels;
  util::IdVector<TaskClassId, NamespaceId> namespace_id;  // invalid: no selector cares
  // Classes with equal static keys (selectors, affinity, tolerations) have equal static answers.
  util::IdVector<TaskClassId, uint32_t> static_key;
  util::IdVector<TaskClassId, uint32_t> live_tasks;
  // Grows when a row that no task has used for long is given to another class.
  util::IdVector<TaskClassId, uint32_t> generation;
  size_t size() const { return pod.size(); }
};

}  // namespace hekla::model
