#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "pkg/model/class_interner.h"
#include "pkg/model/cluster.h"

// Inside of Cluster; included by cluster*.cc only.
namespace hekla::model {

// Rows that changed, each once.
template <typename IdType>
class DirtySet {
 public:
  void Mark(IdType id) {
    uint8_t& flag = flags_.Grow(id);
    if (flag) return;
    flag = 1;
    list_.push_back(id);
  }
  void Clear() {
    for (IdType id : list_) flags_[id] = 0;
    list_.clear();
  }
  const std::vector<IdType>& list() const { return list_; }

 private:
  std::vector<IdType> list_;
  util::IdVector<IdType, uint8_t> flags_;
};

// What a task takes of its node.
enum class NodeUse : uint8_t { kNone, kUsed, kReleasing, kPipelined };
NodeUse UseOf(TaskStatus status, NodeId node);

void AddSigned(Resource& to, const Resource& amounts, int sign);

class Cluster::Impl {
 public:
  explicit Impl(Cluster& cluster);

 private:
  friend class Cluster;
  struct Applier;  // one overload per kind of delta

  // Nodes (cluster_nodes.cc).
  NodeId FindOrMakeNode(absl::string_view name);
  void UpsertNode(const std::shared_ptr<const NodeSpec>& spec);
  void RemoveNode(absl::string_view name);
  void FreeNodeIfUnused(NodeId node);
  void WidenIfNeeded();
  void Touch(NodeId node, bool static_change) {
    touches.push_back({node, static_change});
    if (static_change) ++relief;
  }
  void AttachNode(TaskId task, NodeId node);
  void DetachNode(TaskId task, NodeId node);
  void BookNode(TaskId task, NodeId node, NodeUse use, int sign);

  // Tasks (cluster_tasks.cc).
  void UpsertTask(const std::shared_ptr<const TaskSpec>& spec);
  void RemoveTask(absl::string_view uid);
  void OnBindFailed(const BindFailed& failed);
  void OnEvictFailed(const EvictFailed& failed);
  TaskId NewTask();
  void SetTask(TaskId task, const std::shared_ptr<const TaskSpec>& spec, TaskStatus status,
               NodeId node);
  void SetColumns(TaskId task, const TaskSpec& spec);
  void ReplaceSpec(TaskId task, const std::shared_ptr<const TaskSpec>& spec);
  void EraseTask(TaskId task);
  void Place(TaskId task, TaskStatus status, NodeId node);
  void LeaveNode(TaskId task);
  void EnterNode(TaskId task);
  void InternAllAnew();
  NamespaceId FindOrMakeNamespace(absl::string_view name);

  // Jobs (cluster_jobs.cc).
  JobId FindOrMakeJob(const std::string& key);
  void UpsertJob(const std::shared_ptr<const JobSpec>& spec);
  void RemoveJob(const std::string& key);
  void ApplyJobSpec(JobId job, const std::shared_ptr<const JobSpec>& spec);
  void UpdateSoloJob(JobId job, const TaskSpec& pod);
  void FreeJobIfUnused(JobId job);
  void AttachJob(TaskId task, JobId job);
  void DetachJob(TaskId task);
  void BookJob(TaskId task, int sign);
  RoleRow& RoleOf(JobId job, Symbol role);
  void RebuildSubJobs(JobId job);
  SubJobId SubJobFor(TaskId task, JobId job);
  SubJobId FindOrMakeSubJob(JobId job, int32_t policy, std::string id, int32_t match_index);
  void EnterSubJob(TaskId task, SubJobId sub_job);
  void LeaveSubJob(TaskId task);
  void FreeSubJob(SubJobId sub_job);
  int32_t PriorityOf(const JobSpec& spec) const;
  void SetQueue(JobId job, QueueId queue);
  QueueId QueueOf(const JobSpec& spec) const;
  void MarkJob(JobId job);
  void UpdateWaiting(JobId job);

  // Queues and everything else (cluster_queues.cc).
  void UpsertQueue(const std::shared_ptr<const QueueSpec>& spec);
  void RemoveQueue(const std::string& name);
  void MarkQueue(QueueId queue);
  void UpsertPriorityClass(const std::shared_ptr<const PriorityClassSpec>& spec);
  void RemovePriorityClass(const std::string& name);
  void RecomputePriorities();
  void UpsertNamespace(const NamespaceSpec& spec);
  void RemoveNamespace(const std::string& name);

  void ReinternIfStale() {
    if (interner.TakeStale()) InternAllAnew();
  }

  Cluster& cluster;
  Tables& t;
  Dictionary& dict;
  ClassInterner interner;
  TaskObserver* observer = nullptr;

  absl::flat_hash_map<Symbol, NodeId> node_by_name;
  util::IdVector<NodeId, uint64_t> node_hash;
  std::vector<NodeId> free_nodes;

  using NameKey = std::pair<absl::string_view, absl::string_view>;
  absl::flat_hash_map<absl::string_view, TaskId> task_by_uid;  // views into the task's spec
  absl::flat_hash_map<NameKey, TaskId> task_by_name;
  uint64_t last_serial = 0;  // of a task
  util::IdVector<TaskId, uint32_t> node_slot, job_slot, sub_job_slot;
  util::IdVector<TaskId, uint8_t> evicted;  // by us, not yet confirmed
  std::vector<TaskId> free_tasks;

  absl::flat_hash_map<std::string, JobId> job_by_key;
  util::IdVector<JobId, uint32_t> queue_slot;
  std::vector<JobId> waiting_jobs;
  util::IdVector<JobId, uint32_t> waiting_slot;  // 1 + position in waiting_jobs; 0: not there
  std::vector<JobId> free_jobs;
  util::IdVector<SubJobId, std::vector<std::pair<int32_t, int32_t>>> priority_counts;
  std::vector<SubJobId> free_sub_jobs;

  absl::flat_hash_map<std::string, QueueId> queue_by_name;
  std::vector<QueueId> free_queues;
  absl::flat_hash_map<std::string, std::shared_ptr<const PriorityClassSpec>> priority_classes;
  std::string global_default_class;
  absl::flat_hash_map<Symbol, NamespaceId> namespace_by_name;

  bool applying = false;  // inside of Apply, not of a session
  uint64_t relief = 0;
  uint64_t news = 0;  // beside relief
  std::vector<NodeTouch> touches;
  uint64_t touches_trimmed = 0;
  DirtySet<JobId> dirty_jobs, unpublished_jobs;
  DirtySet<QueueId> dirty_queues, unpublished_queues;
  bool queue_tree_changed = false;
};

}  // namespace hekla::model
