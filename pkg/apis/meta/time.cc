#include "pkg/apis/meta/time.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace hekla::apis::meta {
namespace {

// Two digits at `at`, or -1.
int TwoDigits(absl::string_view s, size_t at) {
  if (!absl::ascii_isdigit(s[at]) || !absl::ascii_isdigit(s[at + 1])) return -1;
  return (s[at] - '0') * 10 + (s[at + 1] - '0');
}

bool InRange(int value, int low, int high) { return value >= low && value <= high; }

// The form nearly all timestamps have, without the cost of the general parser.
bool ParseSeconds(absl::string_view s, absl::Time& out) {
  if (s.size() != 20 || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' ||
      s[16] != ':' || s[19] != 'Z') {
    return false;
  }
  const int century = TwoDigits(s, 0);
  const int year = TwoDigits(s, 2);
  const int month = TwoDigits(s, 5);
  const int day = TwoDigits(s, 8);
  const int hour = TwoDigits(s, 11);
  const int minute = TwoDigits(s, 14);
  const int second = TwoDigits(s, 17);
  if (century < 0 || year < 0 || !InRange(month, 1, 12) || !InRange(day, 1, 31) ||
      !InRange(hour, 0, 23) || !InRange(minute, 0, 59) || !InRange(second, 0, 59)) {
    return false;
  }
  const absl::CivilSecond civil(century * 100 + year, month, day, hour, minute, second);
  if (civil.day() != day) return false;  // such as February 30
  out = absl::FromCivil(civil, absl::UTCTimeZone());
  return true;
}

}  // namespace

absl::StatusOr<absl::Time> ParseTime(absl::string_view text) {
  if (text.empty()) return NoTime();
  absl::Time t;
  if (ParseSeconds(text, t)) return t;
  std::string error;
  if (absl::ascii_isdigit(text[0]) && absl::ParseTime(absl::RFC3339_full, text, &t, &error)) {
    return t;
  }
  return absl::InvalidArgumentError(absl::StrCat("invalid time \"", text, "\""));
}

std::string TimeToString(absl::Time t) {
  if (!IsSet(t)) return "";
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", t, absl::UTCTimeZone());
}

std::string MicroTimeToString(absl::Time t) {
  if (!IsSet(t)) return "";
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", t, absl::UTCTimeZone());
}

std::string GoDuration(absl::Duration d) {
  if (d < absl::ZeroDuration()) return absl::StrCat("-", GoDuration(-d));
  if (d == absl::ZeroDuration()) return "0s";
  if (d < absl::Seconds(1)) {
    // The same, but for the sign of a microsecond.
    std::string text = absl::FormatDuration(d);
    if (const size_t at = text.find("us"); at != std::string::npos) text.replace(at, 2, "µs");
    return text;
  }
  // Zero parts before the seconds stay, once a larger one was written.
  const int64_t hours = absl::IDivDuration(d, absl::Hours(1), &d);
  const int64_t minutes = absl::IDivDuration(d, absl::Minutes(1), &d);
  std::string text;
  if (hours > 0) absl::StrAppend(&text, hours, "h");
  if (hours > 0 || minutes > 0) absl::StrAppend(&text, minutes, "m");
  const int64_t seconds = absl::IDivDuration(d, absl::Seconds(1), &d);
  absl::StrAppend(&text, seconds);
  if (const int64_t nanos = absl::ToInt64Nanoseconds(d); nanos > 0) {
    std::string fraction = absl::StrFormat(".%09d", nanos);
    while (fraction.back() == '0') fraction.pop_back();
    absl::StrAppend(&text, fraction);
  }
  return absl::StrCat(text, "s");
}

}  // namespace hekla::apis::meta
