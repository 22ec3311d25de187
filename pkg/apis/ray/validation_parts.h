#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "pkg/apis/ray/validation.h"

// The rules about optional parts of the spec, one function each; see validation.h.
namespace hekla::apis::ray {

using RuleError = std::optional<std::string>;

// Container 0 of the head has an environment entry of that name.
bool HeadHasEnv(const RayCluster& cluster, absl::string_view name);
// Autoscaler v2 by option or by environment of the head.
bool AutoscalerV2Enabled(const RayCluster& cluster);

RuleError FaultToleranceError(const RayCluster& cluster, const ValidationGates& gates);
RuleError HistoryServerError(const RayCluster& cluster, const ValidationGates& gates);
RuleError AuthError(const RayCluster& cluster);
RuleError NetworkPolicyError(const RayCluster& cluster, const ValidationGates& gates);
RuleError TlsError(const RayCluster& cluster, const ValidationGates& gates);

}  // namespace hekla::apis::ray
