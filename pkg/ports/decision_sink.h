#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "pkg/model/specs.h"

// Where decisions leave the scheduler. Everything here is by value and by name, so that the
// receiver may carry it to other threads; nothing refers to the tables.
namespace hekla::ports {

// Claims and volumes to be written before a pod is bound (VolumeBinding's PreBind).
struct VolumeWrites {
  struct BindVolume {  // pre-bind a PersistentVolume to a claim
    std::string volume, claim_namespace, claim_name, claim_uid;
  };
  struct SelectNode {  // annotate a claim for delayed provisioning
    std::string claim_namespace, claim_name;
  };
  std::vector<BindVolume> bind_volumes;
  std::vector<SelectNode> select_nodes;
  absl::Duration timeout = absl::Seconds(600);
  bool empty() const { return bind_volumes.empty() && select_nodes.empty(); }
};

struct BindRequest {
  std::string uid, namespace_name, name;
  std::string node;
  std::vector<std::pair<std::string, std::string>>
      annotations;  // merged into the pod by the binding
  VolumeWrites volumes;
};

struct EvictRequest {
  std::string uid, namespace_name, name;
  std::string job_namespace, job_name;  // of the victim's PodGroup
  std::string reason;                   // "preempt", "reclaim", …
};

// What the PodGroup should look like; only what differs from the API server is written.
struct PodGroupStatus {
  std::string namespace_name, name, uid;
  int64_t resource_version = 0;
  model::PodGroupPhase phase = model::PodGroupPhase::kNone;
  std::vector<model::ConditionRow> conditions;
  int32_t running = 0, succeeded = 0, failed = 0;
  // Only condition texts differ: may be written late (at most once per second per object).
  bool message_only = false;
};

struct QueueStatus {
  std::string name;
  int64_t resource_version = 0;
  std::vector<std::pair<std::string, std::string>> allocated;  // resource → quantity
};

// PodScheduled=False with this reason and message, and optionally a nominated node. Where that
// changes the pod, a warning `FailedScheduling` with the same message goes out with it.
struct PodConditionWrite {
  std::string uid, namespace_name, name;
  std::string reason, message;
  std::string nominated_node;  // "" leaves it alone
};

struct EventWrite {
  enum class Object : uint8_t { kPod, kPodGroup, kQueue } object = Object::kPod;
  std::string namespace_name, name, uid;
  bool warning = false;
  std::string reason, message;
};

struct GateRemoval {
  std::string uid, namespace_name, name;
};

// Threads: called by the session thread; returns at once. Outcomes come back as deltas.
// Order:   per object, a newer write replaces a queued older one; classes of writes keep the order
// of
//          design.md section 5 when the budget is short.
class DecisionSink {
 public:
  virtual ~DecisionSink() = default;
  virtual void Bind(std::vector<BindRequest> batch) = 0;
  virtual void Evict(std::vector<EvictRequest> batch) = 0;
  virtual void WritePodGroup(PodGroupStatus status) = 0;
  virtual void WriteQueue(QueueStatus status) = 0;
  virtual void WritePodCondition(PodConditionWrite write) = 0;
  virtual void Emit(EventWrite event) = 0;
  virtual void RemoveGate(GateRemoval removal) = 0;
};

}  // namespace hekla::ports
