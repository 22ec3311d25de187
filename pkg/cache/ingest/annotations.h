#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/meta/object_meta.h"

// Small readings of annotations and labels that several kinds share. Source: spec
// scheduler-core 8.4, 8.6.
namespace hekla::cache {

// As Go's strconv.ParseBool: 1 t T TRUE true True 0 f F FALSE false False.
std::optional<bool> ParseBoolText(absl::string_view text);

// The annotation, else the label `volcano.sh/preemptable`; text that is no boolean counts as false.
bool ReadPreemptable(const apis::meta::ObjectMeta& meta, bool fallback);

// `*`, or "" for no zone.
std::string ReadRevocableZone(const apis::meta::ObjectMeta& meta);

// `volcano.sh/sla-waiting-time`, else `sla-waiting-time`, as a positive Go duration.
std::optional<absl::Duration> ReadSlaWaitingTime(const apis::meta::ObjectMeta& meta);

// Annotations whose key belongs to Volcano; these are what plugins read. Sorted by key.
std::vector<std::pair<std::string, std::string>> PluginAnnotations(
    const apis::meta::ObjectMeta& meta);

// Resource versions are numbers on every server we know; 0 for anything else.
int64_t ParseResourceVersion(absl::string_view text);

}  // namespace hekla::cache
