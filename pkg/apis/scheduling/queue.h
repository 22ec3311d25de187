#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/quantity.h"

// scheduling.volcano.sh/v1beta1 Queue and scheduling.k8s.io/v1 PriorityClass.
namespace hekla::apis::scheduling {

struct NodeGroupAffinity {
  std::vector<std::string> required;
  std::vector<std::string> preferred;
  bool empty() const { return required.empty() && preferred.empty(); }
};

struct QueueSpec {
  int32_t weight = 1;
  int32_t priority = 0;
  std::optional<bool> reclaimable;  // absent counts as true
  meta::ResourceList capability;
  meta::ResourceList guarantee;  // spec.guarantee.resource
  meta::ResourceList deserved;
  std::string parent;
  std::string type;
  std::string dequeue_strategy;
  NodeGroupAffinity node_group_affinity;
  NodeGroupAffinity node_group_anti_affinity;
};

struct QueueStatus {
  std::string state;  // Open, Closed, Closing, Unknown or ""
  int32_t unknown = 0;
  int32_t pending = 0;
  int32_t running = 0;
  int32_t inqueue = 0;
  int32_t completed = 0;
  meta::ResourceList allocated;
};

struct Queue {
  static constexpr absl::string_view kKind = "Queue";
  static constexpr absl::string_view kApiVersion = "scheduling.volcano.sh/v1beta1";
  meta::ObjectMeta metadata;
  QueueSpec spec;
  QueueStatus status;
};

struct PriorityClass {
  static constexpr absl::string_view kKind = "PriorityClass";
  static constexpr absl::string_view kApiVersion = "scheduling.k8s.io/v1";
  meta::ObjectMeta metadata;
  int32_t value = 0;
  bool global_default = false;
  std::string preemption_policy;
};

// Errors of both: kInvalidArgument with the path of the first wrong field.
absl::StatusOr<Queue> DecodeQueue(const json::Value& value);
absl::StatusOr<PriorityClass> DecodePriorityClass(const json::Value& value);

// Writes into `base` (null for a new object), keeping members these structs do not know. Of the
// spec only what is set is written.
json::Value EncodeQueue(const Queue& queue, json::Value base = json::Value());

}  // namespace hekla::apis::scheduling
