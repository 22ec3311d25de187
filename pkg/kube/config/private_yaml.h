#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "pkg/yaml/yaml.h"

namespace hekla::kube {

// As yaml::ParseOne, for text that holds credentials: errors tell line and column, but nothing of
// what stands there.
inline absl::StatusOr<yaml::Document> ParsePrivateYaml(absl::string_view text) {
  absl::StatusOr<yaml::Document> parsed = yaml::ParseOne(text);
  if (parsed.ok()) return parsed;
  const absl::string_view message = parsed.status().message();
  const absl::string_view place = message.substr(0, message.find(": "));
  if (!absl::StartsWith(place, "line ")) return absl::InvalidArgumentError("malformed YAML");
  return absl::InvalidArgumentError(absl::StrCat(place, ": malformed YAML"));
}

}  // namespace hekla::kube
