#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "pkg/model/delta.h"
#include "pkg/model/dictionary.h"
#include "pkg/model/job_table.h"
#include "pkg/model/node_table.h"
#include "pkg/model/task_table.h"
#include "pkg/model/volume_table.h"

// HOT PATH
namespace hekla::model {

// One entry per change that a node-level answer can depend on; readers remember how far they have
// read.
struct NodeTouch {
  NodeId node;
  bool static_change = false;  // else only the dynamic row (accounts, tasks)
};

// All tables. Read by everyone, written by Cluster alone.
struct Tables {
  NodeTable nodes;
  TaskTable tasks;
  TaskClassTable classes;
  JobTable jobs;
  SubJobTable sub_jobs;
  QueueTable queues;
  VolumeTable volumes;
  NamespaceTable namespaces;
};

// The dense mirror of the cluster: all tables, their accounts, and the only code that changes them.
//
// Apply takes what ingest has seen; MoveTask is the one way in which a session changes a task. Both
// keep every account (node rows, counts of jobs, sub-jobs and roles, sums of jobs and queues)
// exact. A committed decision stays as *assumed*: a task in Binding ignores pod updates without a
// node name until its echo (Bound, Running), its removal, or BindFailed arrives; one we evicted
// stays Releasing.
//
// Threads: the session thread only; Dictionary may be shared.
// Cost:    Apply and MoveTask are O(dimensions) plus the size of the changed object.
class Cluster {
 public:
  struct Options {
    std::string default_queue = "default";
    // Seed of the order among equal scores (leaf order and tie choice).
    uint64_t seed = 0;
  };
  Cluster(std::shared_ptr<Dictionary> dictionary, Options options);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  ~Cluster();

  void Apply(const Delta& delta);

  // Puts a task into a status and onto a node (invalid: none) and books the difference.
  // Pipelined, Allocated and Binding need a node. Legal for every pair of statuses: undo uses it
  // too.
  void MoveTask(TaskId task, TaskStatus status, NodeId node);
  void SetPhase(JobId job, PodGroupPhase phase);
  void SetConditions(JobId job, std::vector<ConditionRow> conditions);
  void SetLastTransaction(TaskId task, const LastTransaction& context);

  const Dictionary& dictionary() const { return *dictionary_; }
  const Options& options() const { return options_; }
  const Tables& tables() const { return tables_; }

  // Lookups by key: "name", "namespace/name", pod uid. Invalid ids where there is none.
  NodeId FindNode(absl::string_view name) const;
  TaskId FindTask(absl::string_view uid) const;
  JobId FindJob(absl::string_view key) const;
  QueueId FindQueue(absl::string_view name) const;

  // Log of touched nodes since the start; see NodeTouch. Readers keep their own position.
  const std::vector<NodeTouch>& touches() const;
  uint64_t touches_trimmed() const;  // entries dropped from the front so far
  // Jobs and queues changed since the last ClearDirty, each once, in no particular order.
  const std::vector<JobId>& dirty_jobs() const;
  const std::vector<QueueId>& dirty_queues() const;
  void ClearDirty();

 private:
  struct Impl;
  std::shared_ptr<Dictionary> dictionary_;
  Options options_;
  Tables tables_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hekla::model
