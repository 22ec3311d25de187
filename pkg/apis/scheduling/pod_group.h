#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apis/meta/selector.h"

// scheduling.volcano.sh/v1beta1 PodGroup.
namespace hekla::apis::scheduling {

inline constexpr absl::string_view kGroupVersion = "scheduling.volcano.sh/v1beta1";

struct NetworkTopology {
  bool soft = false;  // mode: soft; absent and anything else is hard
  std::optional<int32_t> highest_tier_allowed;
  std::string highest_tier_name;
};

struct SubGroupPolicy {
  std::string name;
  std::optional<meta::LabelSelector> label_selector;
  std::vector<std::string> match_label_keys;
  std::optional<int32_t> sub_group_size;
  std::optional<int32_t> min_sub_groups;
  std::optional<NetworkTopology> network_topology;
};

struct PodGroupCondition {
  std::string type;
  std::string status;
  std::string transition_id;
  absl::Time last_transition_time = meta::NoTime();
  std::string reason;
  std::string message;
};

struct PodGroupSpec {
  int32_t min_member = 0;
  std::vector<std::pair<std::string, int32_t>> min_task_member;  // sorted by role
  std::string queue;
  std::string priority_class_name;
  std::optional<meta::ResourceList> min_resources;
  std::optional<NetworkTopology> network_topology;
  std::vector<SubGroupPolicy> sub_group_policy;
};

struct PodGroupStatus {
  std::string phase;
  std::vector<PodGroupCondition> conditions;
  int32_t running = 0;
  int32_t succeeded = 0;
  int32_t failed = 0;
};

struct PodGroup {
  static constexpr absl::string_view kKind = "PodGroup";
  static constexpr absl::string_view kApiVersion = kGroupVersion;
  meta::ObjectMeta metadata;
  PodGroupSpec spec;
  PodGroupStatus status;
};

// Errors: kInvalidArgument with the path of the first wrong field.
absl::StatusOr<PodGroup> DecodePodGroup(const json::Value& value);

// Writes into `base` (null for a new object), keeping members these structs do not know.
json::Value EncodePodGroup(const PodGroup& group, json::Value base = json::Value());
// The status alone, into an object as the server sent it.
void WritePodGroupStatus(const PodGroupStatus& status, json::Value& group);

}  // namespace hekla::apis::scheduling
