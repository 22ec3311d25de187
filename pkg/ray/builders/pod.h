#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/ray/raycluster.h"
#include "pkg/ray/builders/build_options.h"

// The pods of a RayCluster: complete, ready to be posted but for what a batch scheduler adds.
// Source: spec ray-cluster 6.
namespace hekla::ray::builders {

// Everything but the two hash annotations comes from cluster and options; give the hash of
// apis::ray::UpgradeHash for the pod that will be created.
apis::json::Value BuildHeadPod(const apis::ray::RayCluster& cluster, const BuildOptions& options,
                               absl::string_view upgrade_hash);

// Place of a worker in its group (gate RayMultiHostIndexing).
struct WorkerIndex {
  int32_t replica_index = 0;
  // Only for groups with several hosts:
  std::string replica_name;
  int32_t host_index = 0;
};

// `index` is left out when the gate is off.
apis::json::Value BuildWorkerPod(const apis::ray::RayCluster& cluster,
                                 const apis::ray::WorkerGroupSpec& group,
                                 const BuildOptions& options,
                                 const std::optional<WorkerIndex>& index);

// Overwrites the two annotations that the Recreate strategy looks at (spec 4.8).
void SetUpgradeAnnotations(absl::string_view hash, const BuildOptions& options,
                           apis::json::Value& pod);

// The Job that empties the Redis storage of a deleted cluster, reduced from its head pod.
apis::json::Value BuildRedisCleanupJob(const apis::ray::RayCluster& cluster,
                                       const BuildOptions& options);

}  // namespace hekla::ray::builders
