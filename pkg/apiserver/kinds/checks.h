#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/status/field_errors.h"

// Findings that the rules of many kinds share.
namespace hekla::apiserver::kinds {

inline constexpr char kNotNegative[] = "must be greater than or equal to 0";
inline constexpr char kPortRange[] = "must be between 1 and 65535, inclusive";

// One finding per problem with the value at `path`.
void InvalidEach(const std::string& path, const apis::json::Value& value,
                 const std::vector<std::string>& problems, FieldErrors& errors);
bool OneOf(absl::string_view text, const std::vector<std::string>& allowed);
// The member must be there and be one of `allowed`.
void CheckSupported(const apis::json::Value& object, absl::string_view name,
                    const std::string& path, const std::vector<std::string>& allowed,
                    FieldErrors& errors);
// As CheckSupported, but may be missing or empty.
void CheckSupportedIfGiven(const apis::json::Value& object, absl::string_view name,
                           const std::string& path, const std::vector<std::string>& allowed,
                           FieldErrors& errors);
void CheckRequired(const apis::json::Value& object, absl::string_view name, const std::string& path,
                   FieldErrors& errors);
// An integer member, where given, is not below zero.
void CheckNotNegative(const apis::json::Value& object, absl::string_view name,
                      const std::string& path, FieldErrors& errors);
// A count or a percentage, where given: a count not below zero, a percentage up to 100.
void CheckIntOrPercent(const apis::json::Value& object, absl::string_view name,
                       const std::string& path, FieldErrors& errors);
// As CheckIntOrPercent, without an upper limit.
void CheckCount(const apis::json::Value& object, absl::string_view name, const std::string& path,
                FieldErrors& errors);
// An address of either family.
void CheckIpAddress(const apis::json::Value& address, const std::string& path, FieldErrors& errors);
// The time that a token of a service account is asked for, where given.
void CheckTokenLife(const apis::json::Value& seconds, const std::string& path, FieldErrors& errors);
// What is wrong with the name of a port.
std::vector<std::string> PortNameProblems(absl::string_view name);
// A port by number or by name.
void CheckPort(const apis::json::Value& port, const std::string& path, FieldErrors& errors);
// What is wrong with a key of a config map or secret.
std::vector<std::string> ConfigKeyProblems(absl::string_view key);
// A path inside a volume: relative, without "..".
void CheckDescendingPath(const apis::json::Value& path_value, const std::string& path,
                         FieldErrors& errors);
// No part of the path is "..".
void CheckNoBacksteps(const apis::json::Value& path_value, const std::string& path,
                      FieldErrors& errors);

}  // namespace hekla::apiserver::kinds
