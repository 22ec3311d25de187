#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/string_map.h"
#include "pkg/ray/config/feature_gates.h"

namespace hekla::ray {

// What the operator is told, by flags or by the configuration file.
// Source: spec ray-cluster 1.1, 1.2.
struct OperatorConfig {
  std::string metrics_addr = ":8080";
  std::string probe_addr = ":8082";
  bool enable_leader_election = true;
  std::string leader_election_namespace = {};  // "": the pod's own
  int reconcile_concurrency = 1;
  std::string watch_namespace = {};  // comma separated; see WatchedNamespaces
  double qps = 100;
  int burst = 200;
  std::string log_file = {};
  // Of the file: read and not used, the encoders come from the flags (Quirk).
  std::string log_file_encoder = {};
  std::string log_stdout_encoder = {};
  std::string batch_scheduler = {};  // "volcano", "yunikorn", "kai-scheduler", "scheduler-plugins"
  bool enable_batch_scheduler = false;  // deprecated form of "volcano"
  bool use_kubernetes_proxy = false;
  bool enable_metrics = false;
  bool delete_ray_job_after_job_finishes = false;

  // The rest exists in the file only. Containers and variables are JSON objects, as in a pod.
  apis::json::Value::Array head_sidecar_containers = {};
  apis::json::Value::Array worker_sidecar_containers = {};
  apis::json::Value::Array default_container_envs = {};
  apis::meta::StringMap default_pod_annotations = {};
  apis::meta::StringMap default_pod_labels = {};

  // The chosen batch scheduler, with the deprecated flag taken in; "" for none.
  absl::string_view ChosenBatchScheduler() const {
    if (batch_scheduler.empty() && enable_batch_scheduler) return "volcano";
    return batch_scheduler;
  }
};

// A decoded file: `apiVersion: config.ray.io/v1alpha1, kind: Configuration`, as JSON. Absent fields
// have their defaults; unknown ones are ignored and named in `unknown`.
// Errors: kInvalidArgument: another kind or version; a field of the wrong type, with its path.
absl::StatusOr<OperatorConfig> ParseOperatorConfig(const apis::json::Value& document,
                                                   std::vector<std::string>* unknown = nullptr);

// Start-up checks that need nothing but configuration and gates (spec ray-cluster 1.3, step 3).
// Errors: kInvalidArgument.
absl::Status ValidateOperatorConfig(const OperatorConfig& config, const FeatureGates& gates);

// The namespaces of `watch_namespace`; {""} means all. Split at commas, nothing is trimmed.
// Quirk: "a," watches everything and "a, b" names a namespace " b" that cannot exist: kept, and
//        described by `warnings`, which may be null.
std::vector<std::string> WatchedNamespaces(absl::string_view watch_namespace,
                                           std::vector<std::string>* warnings);

}  // namespace hekla::ray
