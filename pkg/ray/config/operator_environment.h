#pragma once

#include <functional>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace hekla::ray {

// The environment variables that change what the operator does. Asked at use time, so that a test
// or a conformance run can give each case its own.
// Source: spec ray-cluster 1.5.
// Threads: any, if `lookup` allows it.
class OperatorEnvironment {
 public:
  using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

  // Nothing is set: every default.
  OperatorEnvironment() = default;
  explicit OperatorEnvironment(Lookup lookup) : lookup_(std::move(lookup)) {}

  // RAYCLUSTER_DEFAULT_REQUEUE_SECONDS_ENV, 300 s where it is no integer. Zero or less: no periodic
  // reconcile.
  absl::Duration DefaultRequeue() const;
  // ENABLE_GCS_FT_REDIS_CLEANUP, on unless "false".
  bool RedisCleanup() const { return !Is("ENABLE_GCS_FT_REDIS_CLEANUP", "false"); }
  bool RandomPodDelete() const { return Is("ENABLE_RANDOM_POD_DELETE", "true"); }
  bool InitContainerInjection() const { return !Is("ENABLE_INIT_CONTAINER_INJECTION", "false"); }
  bool ProbesInjection() const { return !Is("ENABLE_PROBES_INJECTION", "false"); }
  bool HeadClusterIpService() const { return Is("ENABLE_RAY_HEAD_CLUSTER_IP_SERVICE", "true"); }
  bool DeterministicHeadPodName() const { return Is("ENABLE_DETERMINISTIC_HEAD_POD_NAME", "true"); }
  bool LoginShell() const { return Is("ENABLE_LOGIN_SHELL", "true"); }
  // CLUSTER_DOMAIN, "cluster.local" where empty.
  std::string ClusterDomain() const;
  bool UseIngressOnOpenShift() const { return Is("USE_INGRESS_ON_OPENSHIFT", "true"); }
  // Exactly "true".
  bool Webhooks() const { return Get("ENABLE_WEBHOOKS") == "true"; }
  bool DeleteRayJobAfterJobFinishes() const {
    return Get("DELETE_RAYJOB_CR_AFTER_JOB_FINISHES") == "true";
  }

  // "" where not set.
  std::string Get(const std::string& name) const;

 private:
  // The variable in lower case equals `value`.
  bool Is(const std::string& name, const std::string& value) const;

  Lookup lookup_ = nullptr;
};

}  // namespace hekla::ray
