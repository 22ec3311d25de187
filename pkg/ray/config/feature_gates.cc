#include "pkg/ray/config/feature_gates.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace hekla::ray {
namespace {

constexpr FeatureInfo kFeatures[kFeatureCount] = {
    {Feature::kRayClusterStatusConditions, "RayClusterStatusConditions", true, true},
    {Feature::kRayJobDeletionPolicy, "RayJobDeletionPolicy", true, true},
    {Feature::kRayMultiHostIndexing, "RayMultiHostIndexing", true, true},
    {Feature::kRayServiceIncrementalUpgrade, "RayServiceIncrementalUpgrade", true, true},
    {Feature::kRayCronJob, "RayCronJob", false, false},
    {Feature::kSidecarSubmitterRestart, "SidecarSubmitterRestart", false, false},
    {Feature::kRayClusterNetworkPolicy, "RayClusterNetworkPolicy", false, false},
    {Feature::kGcsFaultToleranceEmbeddedStorage, "GCSFaultToleranceEmbeddedStorage", false, false},
    {Feature::kRayClusterMtls, "RayClusterMTLS", false, false},
    {Feature::kRayClusterHistoryServer, "RayClusterHistoryServer", false, false},
    {Feature::kKubernetesWas, "KubernetesWAS", false, false},
};

// As Go reads a bool.
std::optional<bool> ParseBool(absl::string_view text) {
  for (absl::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return true;
  }
  for (absl::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

}  // namespace

FeatureGates::FeatureGates() {
  for (const FeatureInfo& info : kFeatures) Set(info.feature, info.default_on);
}

std::span<const FeatureInfo> FeatureGates::All() { return kFeatures; }

absl::Status FeatureGates::Parse(absl::string_view text) {
  std::optional<bool> all_alpha;
  std::optional<bool> all_beta;
  std::array<std::optional<bool>, kFeatureCount> named;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) continue;
    const std::pair<absl::string_view, absl::string_view> sides =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    const absl::string_view name = absl::StripAsciiWhitespace(sides.first);
    if (part.find('=') == absl::string_view::npos) {
      return absl::InvalidArgumentError(absl::StrCat("missing bool value for ", name));
    }
    const absl::string_view value = absl::StripAsciiWhitespace(sides.second);
    const std::optional<bool> on = ParseBool(value);
    if (!on.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat("invalid value of ", name, "=", value,
                                                     ", err: strconv.ParseBool: parsing \"", value,
                                                     "\": invalid syntax"));
    }
    if (name == "AllAlpha") {
      all_alpha = on;
    } else if (name == "AllBeta") {
      all_beta = on;
    } else {
      const auto info = std::find_if(std::begin(kFeatures), std::end(kFeatures),
                                     [name](const FeatureInfo& f) { return f.name == name; });
      if (info == std::end(kFeatures)) {
        return absl::InvalidArgumentError(absl::StrCat("unrecognized feature gate: ", name));
      }
      named[static_cast<size_t>(info->feature)] = on;
    }
  }
  for (const FeatureInfo& info : kFeatures) {
    const std::optional<bool>& of_stage = info.beta ? all_beta : all_alpha;
    const std::optional<bool>& own = named[static_cast<size_t>(info.feature)];
    if (own.has_value()) {
      Set(info.feature, *own);
    } else if (of_stage.has_value()) {
      Set(info.feature, *of_stage);
    }
  }
  return absl::OkStatus();
}

std::string FeatureGates::ToString() const {
  std::vector<std::string> out;
  for (const FeatureInfo& info : kFeatures) {
    out.push_back(absl::StrCat(info.name, "=", Enabled(info.feature) ? "true" : "false"));
  }
  std::sort(out.begin(), out.end());
  return absl::StrJoin(out, ",");
}

}  // namespace hekla::ray
