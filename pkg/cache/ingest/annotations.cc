#include "pkg/cache/ingest/annotations.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "glog/logging.h"
#include "pkg/apis/meta/well_known.h"

namespace hekla::cache {

using apis::meta::ObjectMeta;

std::optional<bool> ParseBoolText(absl::string_view text) {
  for (absl::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return true;
  }
  for (absl::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

bool ReadPreemptable(const ObjectMeta& meta, bool fallback) {
  const std::string* text = meta.annotations.Find(apis::meta::kPreemptableKey);
  if (text == nullptr) text = meta.labels.Find(apis::meta::kPreemptableKey);
  if (text == nullptr) return fallback;
  return ParseBoolText(*text).value_or(false);
}

std::string ReadRevocableZone(const ObjectMeta& meta) {
  const std::string* zone = meta.annotations.Find(apis::meta::kRevocableZoneKey);
  if (zone != nullptr) return *zone == "*" ? "*" : "";
  const std::string* preemptable = meta.annotations.Find(apis::meta::kPreemptableKey);
  if (preemptable == nullptr) return "";
  return ParseBoolText(*preemptable).value_or(false) ? "*" : "";
}

std::optional<absl::Duration> ReadSlaWaitingTime(const ObjectMeta& meta) {
  const std::string* text = meta.annotations.Find(apis::meta::kVolcanoSlaWaitingTime);
  if (text == nullptr) text = meta.annotations.Find(apis::meta::kSlaWaitingTime);
  if (text == nullptr) return std::nullopt;
  absl::Duration duration;
  if (absl::ParseDuration(*text, &duration) && duration > absl::ZeroDuration() &&
      duration != absl::InfiniteDuration()) {
    return duration;
  }
  LOG(WARNING) << "sla-waiting-time is no positive duration object=" << meta.Key()
               << " value=" << *text;
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> PluginAnnotations(const ObjectMeta& meta) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [key, value] : meta.annotations) {
    if (absl::StrContains(key, "volcano.sh/") || key == apis::meta::kSlaWaitingTime) {
      out.emplace_back(key, value);
    }
  }
  return out;
}

int64_t ParseResourceVersion(absl::string_view text) {
  int64_t number = 0;
  return absl::SimpleAtoi(text, &number) ? number : 0;
}

}  // namespace hekla::cache
