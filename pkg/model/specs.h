#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "pkg/model/pod_template.h"
#include "pkg/model/resource.h"
#include "pkg/model/selector.h"
#include "pkg/model/task_status.h"

// What ingest knows of one object, compiled: the immutable rows that travel from ingest threads to
// the session thread. No wire types, no ids of tables.
namespace hekla::model {

struct ImageState {
  Symbol name;  // normalised, with tag
  int64_t size_bytes = 0;
  friend bool operator==(const ImageState&, const ImageState&) = default;
};

struct NodeSpec {
  std::string name;
  std::string uid;
  absl::Time creation;
  Resource allocatable;  // with oversubscription added
  Resource capacity;
  Labels labels;
  std::vector<Taint> taints;
  std::vector<ImageState> images;
  bool unschedulable = false;
  std::string revocable_zone;
  bool offline_job_evicting = false;
  // Annotations that some plugin reads (nodegroup, usage, devices), sorted by key.
  std::vector<std::pair<std::string, std::string>> annotations;
};

// A pod condition the scheduler itself writes, kept so that an equal one is not written again.
struct ConditionText {
  std::string status, reason, message;
  friend bool operator==(const ConditionText&, const ConditionText&) = default;
};

struct TaskSpec {
  std::string uid, namespace_name, name;
  int64_t resource_version = 0;
  absl::Time creation;
  std::shared_ptr<const PodTemplate> pod;
  std::shared_ptr<const Labels> labels;  // interned, never null
  std::string job;  // name of the PodGroup in the pod's namespace; "" where none
  // A pod that is ours but names no PodGroup is a gang of one, with this job key and queue.
  bool solo = false;
  std::string queue;  // only for solo tasks
  Symbol role;        // invalid: none
  Symbol controller_kind, controller_name, controller_uid;
  int32_t priority = 1;
  Symbol priority_class;
  bool preemptable = true;
  std::string revocable_zone;
  bool ours = true;  // schedulerName is one of ours
  bool gated = false;
  bool only_queue_gate = false;    // the only gate is Volcano's queue-allocation gate
  bool queue_gate_opt_in = false;  // annotation queue-allocation-gate: "true"
  bool deleting = false;
  TaskStatus status = TaskStatus::kPending;
  std::string node;  // spec.nodeName
  std::string nominated_node;
  std::string host_error;  // not "": the pod uses something not supported; the reason
  std::optional<ConditionText> scheduled_condition;  // PodScheduled as the API server has it
  // Sent with the binding (annotations of the pod as upstream's bind does are merged by the
  // server).
  std::vector<std::pair<std::string, std::string>> bind_annotations;
};

struct ConditionRow {
  std::string type, status, reason, message, transition_id;
  absl::Time last_transition;
  friend bool operator==(const ConditionRow&, const ConditionRow&) = default;
};

enum class PodGroupPhase : uint8_t {
  kNone,
  kPending,
  kRunning,
  kUnknown,
  kInqueue,
  kCompleted,
  kOther
};
absl::string_view PhaseName(PodGroupPhase phase);  // "" for kNone
PodGroupPhase ParsePhase(absl::string_view name);

struct NetworkTopology {
  enum class Mode : uint8_t { kHard, kSoft } mode = Mode::kHard;
  std::optional<int32_t> highest_tier_allowed;
  std::string highest_tier_name;
  friend bool operator==(const NetworkTopology&, const NetworkTopology&) = default;
};

struct SubGroupPolicy {
  std::string name;
  bool has_selector = false;
  Selector selector;
  std::vector<Symbol> match_label_keys;
  int32_t sub_group_size = 1;
  int32_t min_sub_groups = 0;
  std::optional<NetworkTopology> topology;
  friend bool operator==(const SubGroupPolicy&, const SubGroupPolicy&) = default;
};

// One PodGroup.
struct JobSpec {
  std::string namespace_name, name, uid;
  int64_t resource_version = 0;
  absl::Time creation;
  std::string queue;  // as in the spec; empty means the default queue
  int32_t min_member = 0;
  std::vector<std::pair<Symbol, int32_t>> min_task_member;  // per role
  std::optional<ResourceLimit> min_resources;               // only the named dimensions
  std::string priority_class;
  bool preemptable = false;
  std::string revocable_zone;
  std::optional<absl::Duration> sla_waiting_time;
  std::string budget_min_available, budget_max_unavailable;
  std::optional<NetworkTopology> topology;
  std::vector<SubGroupPolicy> sub_groups;
  PodGroupPhase phase = PodGroupPhase::kNone;
  std::vector<ConditionRow> conditions;
  int32_t running = 0, succeeded = 0, failed = 0;
  // Annotations that some plugin reads, sorted by key.
  std::vector<std::pair<std::string, std::string>> annotations;
};

enum class QueueState : uint8_t { kNone, kOpen, kClosed, kClosing, kUnknown };

struct QueueSpec {
  std::string name, uid;
  int64_t resource_version = 0;
  absl::Time creation;
  int32_t weight = 1;
  int32_t priority = 0;
  std::optional<bool> reclaimable;
  ResourceLimit capability, guarantee, deserved;
  std::string parent;
  std::string hierarchy, hierarchy_weights;  // annotations of HDRF
  std::vector<std::string> group_affinity;   // reserved for nodegroup: raw JSON of spec.affinity
  QueueState state = QueueState::kNone;      // kNone (empty) counts as Open
  std::vector<std::pair<std::string, std::string>> status_allocated;  // as the API server has it
  std::vector<std::pair<std::string, std::string>> annotations;
};

struct PriorityClassSpec {
  std::string name;
  int32_t value = 0;
  bool global_default = false;
};

struct NamespaceSpec {
  std::string name;
  Labels labels;
  bool terminating = false;
};

// Selects pods for default spread constraints: a Service, ReplicationController, ReplicaSet,
// StatefulSet.
struct PodOwnerSpec {
  enum class Kind : uint8_t { kService, kReplicationController, kReplicaSet, kStatefulSet } kind;
  std::string namespace_name, name;
  Selector selector;
};

// Volume objects; see volume_specs.h.
struct ClaimSpec;
struct VolumeSpec;
struct StorageClassSpec;
struct CsiNodeSpec;
struct CsiDriverSpec;
struct CsiCapacitySpec;
struct VolumeAttachmentSpec;

}  // namespace hekla::model
