#pragma once

#include <optional>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

namespace hekla::yaml {

// What an unquoted scalar without tag means under YAML 1.1 as Go's decoder implements it.
// Returns nullopt for what JSON cannot hold (.inf, .nan).
std::optional<apis::json::Value> ResolvePlain(absl::string_view text);

// Whether a string must be quoted so that it is read back as the same string.
bool NeedsQuotes(absl::string_view text);

}  // namespace hekla::yaml
