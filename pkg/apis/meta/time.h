#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

// Timestamps as the API writes them. An unset timestamp is kNoTime.
namespace hekla::apis::meta {

inline absl::Time NoTime() { return absl::InfinitePast(); }
inline bool IsSet(absl::Time t) { return t != absl::InfinitePast(); }

// RFC 3339 with any offset and any number of fractional digits; "" is NoTime().
// Errors: kInvalidArgument `invalid time "<text>"`.
absl::StatusOr<absl::Time> ParseTime(absl::string_view text);

// metav1.Time: whole seconds, UTC: 2026-01-02T15:04:05Z. NoTime() gives "".
std::string TimeToString(absl::Time t);
// metav1.MicroTime: six digits: 2026-01-02T15:04:05.000000Z. NoTime() gives "".
std::string MicroTimeToString(absl::Time t);

// As Go prints a duration: 5m0s, 1h0m0.5s, 20ms, 0s.
std::string GoDuration(absl::Duration d);

}  // namespace hekla::apis::meta
