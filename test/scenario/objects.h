#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "pkg/apis/json/value.h"

namespace hekla::scenario {

// The Kubernetes objects of a scenario in the order in which they are created: priority classes,
// queues, nodes, other `objects`, PodGroups, pods.
absl::StatusOr<std::vector<apis::json::Value>> BuildObjects(const apis::json::Value& scenario);

// The scenario's `config` as the scheduler's YAML; "" where the built-in one is meant.
absl::StatusOr<std::string> BuildConfig(const apis::json::Value& scenario);

// "name" in namespace default, "ns/name" else, to "ns/name".
std::string FullName(absl::string_view name);
// The other way round.
std::string ShortName(absl::string_view full);

}  // namespace hekla::scenario
