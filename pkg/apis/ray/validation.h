#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "pkg/apis/ray/raycluster.h"

// What makes a RayCluster invalid. Pure; rules are tried in a fixed order, the first that fails is
// reported. Source: spec ray-cluster 3, 9.
namespace hekla::apis::ray {

// Which optional parts are switched on (feature gates of spec 1.4).
struct ValidationGates {
  bool ray_job_deletion_policy = true;
  bool network_policy = false;
  bool embedded_gcs_storage = false;
  bool mtls = false;
  bool history_server = false;
};

// A Warning event with action Validate.
struct Finding {
  absl::string_view reason;  // InvalidRayClusterMetadata, ...Spec, ...Status
  std::string note;          // the whole text of the event
};

struct ValidationResult {
  // Reported, but the cluster is reconciled all the same.
  std::optional<Finding> warning;
  // Reported, and nothing else is done.
  std::optional<Finding> failure;
  // The failure is an error that is tried again with back-off (status rules only).
  bool retry = false;
};

// All rules in order: metadata, spec, autoscaler warning, TLS, upgrade strategy, status.
ValidationResult ValidateRayCluster(const RayCluster& cluster, const ValidationGates& gates,
                                    bool cert_manager_present);

// The parts, for the webhook and for siblings. Each gives the error text of the first rule broken,
// nothing where all hold.
std::optional<std::string> MetadataError(const meta::ObjectMeta& metadata);
std::optional<std::string> SpecError(const RayCluster& cluster, const ValidationGates& gates);
std::optional<std::string> UpgradeStrategyError(const RayCluster& cluster);
std::optional<std::string> StatusError(const RayClusterStatus& status);
// Autoscaler v1 with worker pods that restart: names the groups.
std::optional<std::string> RestartPolicyWarning(const RayCluster& cluster);

}  // namespace hekla::apis::ray
