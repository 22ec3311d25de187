#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hekla::ray {

// The operator's feature gates, in the order of spec ray-cluster 1.4.
enum class Feature : uint8_t {
  kRayClusterStatusConditions,
  kRayJobDeletionPolicy,
  kRayMultiHostIndexing,
  kRayServiceIncrementalUpgrade,
  kRayCronJob,
  kSidecarSubmitterRestart,
  kRayClusterNetworkPolicy,
  kGcsFaultToleranceEmbeddedStorage,
  kRayClusterMtls,
  kRayClusterHistoryServer,
  kKubernetesWas,
};
inline constexpr size_t kFeatureCount = 11;

struct FeatureInfo {
  Feature feature;
  absl::string_view name;  // "RayClusterStatusConditions"
  bool default_on;
  bool beta;  // else alpha
};

// Which features are on. A value; cheap to copy.
class FeatureGates {
 public:
  // All at their defaults.
  FeatureGates();

  static std::span<const FeatureInfo> All();

  bool Enabled(Feature feature) const { return on_[static_cast<size_t>(feature)]; }
  void Set(Feature feature, bool on) { on_[static_cast<size_t>(feature)] = on; }

  // `A=true,B=false`, added to what is set. `AllAlpha` and `AllBeta` set every gate of that stage
  // that the same text does not name itself, wherever they stand in it.
  // Errors: kInvalidArgument for an unknown gate, a missing or a bad value; nothing is changed.
  absl::Status Parse(absl::string_view text);
  // `A=true,B=false,...` of all gates, sorted by name.
  std::string ToString() const;

 private:
  std::array<bool, kFeatureCount> on_;
};

}  // namespace hekla::ray
