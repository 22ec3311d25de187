#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

namespace hekla::conformance {

// One recorded cluster with what was decided for it.
struct Case {
  std::string name;
  std::string conf;
  std::vector<std::string> actions;
  bool all_plugins = true;  // else only `plugins` exist
  std::vector<std::string> plugins;
  apis::json::Value special, objects, decided;
};

// Errors: kInvalidArgument.
absl::StatusOr<Case> ParseCase(absl::string_view line);

// Names of the plugins that the configuration lists and that exist in this case, sorted.
absl::StatusOr<std::vector<std::string>> UsedPlugins(const Case& recorded);

}  // namespace hekla::conformance
