#pragma once

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/ray/raycluster.h"

namespace hekla::ray::testing {

// YAML as JSON. Aborts where it does not parse.
apis::json::Value Yaml(absl::string_view text);

// A RayCluster `alpha` in namespace `ml` with UID `uid-1`: head and one group `gpu` with a plain
// container each. `changes` (YAML) is merged in as a JSON merge patch would be.
apis::json::Value ClusterObject(absl::string_view changes = "");
apis::ray::RayCluster Cluster(absl::string_view changes = "");

}  // namespace hekla::ray::testing
