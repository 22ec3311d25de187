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

// Told of every task that comes to a node or leaves it (in whatever status; undo included). A task
// whose class, labels or deletion mark change on its node leaves and comes again.
class TaskObserver {
 public:
  virtual ~TaskObserver() = default;
  // The tables show the task on the node in both cases: before it leaves, after it has come.
  virtual void OnTaskMoved(TaskId task, NodeId node, bool added) = 0;
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
  void SetPipelineEvicted(TaskId task, bool evicted);
  // Marks a Releasing task as evicted by us: pod updates without a deletion mark leave it so.
  void SetEvicted(TaskId task);

  const Dictionary& dictionary() const { return *dictionary_; }
  const Options& options() const { return options_; }
  // Orders of nodes are up to date in what this returns; they change only by Apply.
  const Tables& tables() const {
    if (order_stale_) SortNodes();
    return tables_;
  }

  // Lookups by key: "name", "namespace/name", pod uid. Invalid ids where there is none.
  NodeId FindNode(absl::string_view name) const;
  TaskId FindTask(absl::string_view uid) const;
  JobId FindJob(absl::string_view key) const;
  QueueId FindQueue(absl::string_view name) const;

  // Log of touched nodes since the start; see NodeTouch. Readers keep their own position.
  const std::vector<NodeTouch>& touches() const;
  uint64_t touches_trimmed() const;  // entries dropped from the front so far
  // Dirty rows, each once, in no particular order, live or not. For open hooks: what changed (by
  // Apply, by the session before, by its undo) since the open hooks ran last. For close hooks and
  // statuses: what changed since the last close; a superset of what this session changed.
  const std::vector<JobId>& dirty_jobs() const;
  const std::vector<QueueId>& dirty_queues() const;
  const std::vector<JobId>& unpublished_jobs() const;
  const std::vector<QueueId>& unpublished_queues() const;
  // Whether a queue came, went or moved since the last close: sums over the tree may have changed
  // for queues that are not in the list.
  bool queue_tree_changed() const;
  void MarkUnpublished(JobId job);  // to be looked at by this close even if nothing changed
  void ClearDirty();                // the session, after the open hooks
  void ClearUnpublished();          // the session, at the end of its close

  // Jobs that an action may have something to do for: with a Pending or Pipelined task, or whose
  // phase is Pending. In no particular order.
  const std::vector<JobId>& waiting_jobs() const;

  // Grows with every change by Apply that may let a refused task find a place, or a job be
  // admitted: room that is freed, nodes, queues, volumes and namespaces that change, pods that go.
  uint64_t relief() const;
  // For a plugin by whose rules somebody may now get what was refused before (a queue deserves
  // more).
  void NoteRelief();
  // Grows with everything that Apply changes about tasks, jobs, queues or nodes, and with every
  // decision that is committed; not with what a session tries and takes back. While it stands still
  // a cycle would decide as the last one did.
  uint64_t news() const;
  bool has_coupled_pods() const;

  void SetObserver(TaskObserver* observer);  // at most one; nullptr: none

  // Recounts every account and CHECKs that the kept ones are equal. O(everything).
  void CheckConsistency() const;
  // A hash of everything a session may change. Equal for equal states, whatever led there.
  uint64_t Fingerprint() const;

 private:
  class Impl;
  void SortNodes() const;
  std::shared_ptr<Dictionary> dictionary_;
  Options options_;
  mutable Tables tables_;
  mutable bool order_stale_ = false;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hekla::model
