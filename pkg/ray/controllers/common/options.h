#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "pkg/apis/ray/validation.h"
#include "pkg/ray/builders/build_options.h"
#include "pkg/ray/config/feature_gates.h"
#include "pkg/ray/config/operator_config.h"
#include "pkg/ray/config/operator_environment.h"

namespace hekla::ray::controllers {

// What configuration, gates, environment and the API server's capabilities say about the way
// RayClusters are looked after. Plain data, filled at start.
struct ClusterOptions {
  builders::BuildOptions build = {};
  apis::ray::ValidationGates gates = {};
  bool status_conditions = true;      // gate RayClusterStatusConditions
  bool cert_manager_present = false;  // discovered at start
  bool routes = false;                // OpenShift, and Ingress not asked for
  bool random_pod_delete = false;     // ENABLE_RANDOM_POD_DELETE
  bool redis_cleanup = true;          // ENABLE_GCS_FT_REDIS_CLEANUP
  // Between reconciles of a settled cluster; zero or less: none.
  absl::Duration periodic = absl::Seconds(300);
  // Which of the surplus pods go first: 0 by age; else an order drawn from it, for conformance
  // runs: upstream's order is chance.
  uint64_t surplus_seed = 0;
};

struct ServerFeatures {
  bool cert_manager = false;
  bool openshift = false;
  bool workloads = false;  // scheduling.k8s.io/v1alpha2
};

ClusterOptions MakeClusterOptions(const OperatorConfig& config, const FeatureGates& gates,
                                  const OperatorEnvironment& environment,
                                  const ServerFeatures& server);

}  // namespace hekla::ray::controllers
