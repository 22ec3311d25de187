#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/apis/ray/raycluster.h"
#include "pkg/ray/controllers/raycluster/observe.h"

namespace hekla::ray::controllers::raycluster {

// What ended the steps of a pass before their end.
struct StepError {
  std::string marker;  // of ReplicaFailure; empty: the condition stays as it is
  absl::Status status;
};

// The status that follows from what is there. Pure.
// Order:   of conditions on a fresh cluster: HeadPodReady, RayClusterProvisioned,
//          RayClusterSuspended, RayClusterSuspending; ReplicaFailure where it comes first or last.
// Errors:  kFailedPrecondition: no head service or several, one without address, several head pods;
//          then nothing is to be written.
// Source:  spec ray-cluster 5.
absl::StatusOr<apis::ray::RayClusterStatus> ComputeStatus(
    const Observed& observed, const std::optional<StepError>& step_error, bool with_conditions,
    absl::Time now);

// Whether `now` tells nothing but how far the pods have come: counts, addresses, reasons and texts.
// No state is entered, no condition turns (but in the first status that of the head), and nothing
// failed. Such a status may wait a little.
bool OnlyProgress(const apis::ray::RayClusterStatus& before,
                  const apis::ray::RayClusterStatus& now);

}  // namespace hekla::ray::controllers::raycluster
