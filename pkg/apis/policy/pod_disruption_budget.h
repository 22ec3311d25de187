#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/selector.h"

// policy/v1 PodDisruptionBudget.
namespace hekla::apis::policy {

struct PodDisruptionBudget {
  static constexpr absl::string_view kKind = "PodDisruptionBudget";
  static constexpr absl::string_view kApiVersion = "policy/v1";
  meta::ObjectMeta metadata;
  std::optional<meta::LabelSelector> selector;  // absent selects nothing
  std::string min_available;                    // a number or a percentage, "" where absent
  std::string max_unavailable;
  int32_t disruptions_allowed = 0;
  int32_t current_healthy = 0;
  int32_t desired_healthy = 0;
  int32_t expected_pods = 0;
  std::vector<std::string> disrupted_pods;  // names, sorted
};

// Errors: kInvalidArgument with the path of the first wrong field.
absl::StatusOr<PodDisruptionBudget> DecodePodDisruptionBudget(const json::Value& value);

}  // namespace hekla::apis::policy
