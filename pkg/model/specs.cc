#include "pkg/model/specs.h"

namespace hekla::model {
namespace {

constexpr std::pair<PodGroupPhase, absl::string_view> kPhases[] = {
    {PodGroupPhase::kNone, ""},           {PodGroupPhase::kPending, "Pending"},
    {PodGroupPhase::kRunning, "Running"}, {PodGroupPhase::kUnknown, "Unknown"},
    {PodGroupPhase::kInqueue, "Inqueue"}, {PodGroupPhase::kCompleted, "Completed"}};

}  // namespace

absl::string_view PhaseName(PodGroupPhase phase) {
  for (const auto& [value, name] : kPhases) {
    if (value == phase) return name;
  }
  return "Other";
}

PodGroupPhase ParsePhase(absl::string_view name) {
  for (const auto& [value, text] : kPhases) {
    if (text == name) return value;
  }
  return PodGroupPhase::kOther;
}

}  // namespace hekla::model
