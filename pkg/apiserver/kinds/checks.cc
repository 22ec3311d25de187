#include "pkg/apiserver/kinds/checks.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace hekla::apiserver::kinds {

using apis::json::Value;

void InvalidEach(const std::string& path, const Value& value,
                 const std::vector<std::string>& problems, FieldErrors& errors) {
  for (const std::string& p : problems) errors.Invalid(path, value, p);
}

bool OneOf(absl::string_view text, const std::vector<std::string>& allowed) {
  return std::find(allowed.begin(), allowed.end(), text) != allowed.end();
}

void CheckSupported(const Value& object, absl::string_view name, const std::string& path,
                    const std::vector<std::string>& allowed, FieldErrors& errors) {
  const absl::string_view value = object.GetString(name);
  if (value.empty()) {
    errors.Required(Child(path, name));
  } else if (!OneOf(value, allowed)) {
    errors.NotSupported(Child(path, name), object.At(name), allowed);
  }
}

void CheckSupportedIfGiven(const Value& object, absl::string_view name, const std::string& path,
                           const std::vector<std::string>& allowed, FieldErrors& errors) {
  const absl::string_view value = object.GetString(name);
  if (!value.empty() && !OneOf(value, allowed)) {
    errors.NotSupported(Child(path, name), object.At(name), allowed);
  }
}

void CheckRequired(const Value& object, absl::string_view name, const std::string& path,
                   FieldErrors& errors) {
  if (object.GetString(name).empty()) errors.Required(Child(path, name));
}

void CheckNotNegative(const Value& object, absl::string_view name, const std::string& path,
                      FieldErrors& errors) {
  const Value& value = object.At(name);
  if (value.is_int() && value.as_int() < 0) errors.Invalid(Child(path, name), value, kNotNegative);
}

namespace {

void CheckAmount(const Value& object, absl::string_view name, const std::string& path,
                 bool up_to_all, FieldErrors& errors) {
  CheckNotNegative(object, name, path, errors);
  const Value& value = object.At(name);
  if (!value.is_string()) return;
  absl::string_view text = value.as_string();
  int percent = 0;
  const bool digits =
      absl::ConsumeSuffix(&text, "%") &&
      std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isdigit(c); }) &&
      absl::SimpleAtoi(text, &percent);
  if (!digits) {
    errors.Invalid(Child(path, name), value,
                   "a valid percent string must be a numeric string followed by an ending '%' "
                   "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')");
  } else if (up_to_all && percent > 100) {
    errors.Invalid(Child(path, name), value, "must not be greater than 100%");
  }
}

}  // namespace

void CheckIntOrPercent(const Value& object, absl::string_view name, const std::string& path,
                       FieldErrors& errors) {
  CheckAmount(object, name, path, true, errors);
}

void CheckCount(const Value& object, absl::string_view name, const std::string& path,
                FieldErrors& errors) {
  CheckAmount(object, name, path, false, errors);
}

void CheckIpAddress(const Value& address, const std::string& path, FieldErrors& errors) {
  const Value text = address.is_string() ? address : Value("");
  in6_addr bytes;
  if (inet_pton(AF_INET, text.as_string().c_str(), &bytes) == 1) return;
  if (inet_pton(AF_INET6, text.as_string().c_str(), &bytes) == 1) return;
  errors.Invalid(path, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

void CheckTokenLife(const Value& seconds, const std::string& path, FieldErrors& errors) {
  if (!seconds.is_int()) return;
  if (seconds.as_int() < 600) {
    errors.Invalid(path, seconds, "may not specify a duration less than 10 minutes");
  } else if (seconds.as_int() > int64_t{1} << 32) {
    errors.Invalid(path, seconds, "may not specify a duration larger than 2^32 seconds");
  }
}

std::vector<std::string> PortNameProblems(absl::string_view name) {
  std::vector<std::string> out;
  if (name.size() > 15) out.emplace_back("must be no more than 15 characters");
  if (!std::all_of(name.begin(), name.end(), [](char c) {
        return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
      })) {
    out.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (std::none_of(name.begin(), name.end(), [](char c) { return absl::ascii_islower(c); })) {
    out.emplace_back("must contain at least one letter (a-z)");
  }
  if (absl::StrContains(name, "--")) out.emplace_back("must not contain consecutive hyphens");
  if (absl::StartsWith(name, "-") || absl::EndsWith(name, "-")) {
    out.emplace_back("must not begin or end with a hyphen");
  }
  return out;
}

void CheckPort(const Value& port, const std::string& path, FieldErrors& errors) {
  if (port.is_string()) {
    InvalidEach(path, port, PortNameProblems(port.as_string()), errors);
  } else if (port.is_int() && (port.as_int() < 1 || port.as_int() > 65535)) {
    errors.Invalid(path, port, kPortRange);
  }
}

std::vector<std::string> ConfigKeyProblems(absl::string_view key) {
  constexpr size_t kMaxKey = 253;
  std::vector<std::string> out;
  if (key.size() > kMaxKey) out.emplace_back("must be no more than 253 characters");
  if (key.empty() || !std::all_of(key.begin(), key.end(), [](char c) {
        return absl::ascii_isalnum(c) || c == '-' || c == '_' || c == '.';
      })) {
    out.emplace_back(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
        "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation "
        "is '[-._a-zA-Z0-9]+')");
  }
  if (key == ".") out.emplace_back("must not be '.'");
  if (key == "..") {
    out.emplace_back("must not be '..'");
  } else if (absl::StartsWith(key, "..")) {
    out.emplace_back("must not start with '..'");
  }
  return out;
}

void CheckNoBacksteps(const Value& path_value, const std::string& path, FieldErrors& errors) {
  if (!path_value.is_string()) return;
  const std::vector<std::string> parts = absl::StrSplit(path_value.as_string(), '/');
  if (std::find(parts.begin(), parts.end(), "..") != parts.end()) {
    errors.Invalid(path, path_value, "must not contain '..'");
  }
}

void CheckDescendingPath(const Value& path_value, const std::string& path, FieldErrors& errors) {
  if (path_value.is_string() && absl::StartsWith(path_value.as_string(), "/")) {
    errors.Invalid(path, path_value, "must be a relative path");
  }
  CheckNoBacksteps(path_value, path, errors);
}

}  // namespace hekla::apiserver::kinds
