#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/framework/arguments.h"
#include "pkg/framework/plugin_option.h"

namespace hekla::conf {

// What the scheduler's YAML file says, checked.
// Source: spec scheduler-core 2.
struct Config {
  std::vector<std::string> actions;  // in order, repetition allowed
  std::vector<framework::Tier> tiers;
  // Arguments of actions in the order of the file; see ArgumentsOf.
  std::vector<std::pair<std::string, framework::Arguments>> configurations;
  std::map<std::string, std::string> metrics;
  // What the file says without effect: unknown keys, wrongly prefixed flags. "file:line: text".
  std::vector<std::string> warnings;

  // Arguments of an action: the first entry with its name, else none.
  const framework::Arguments& ArgumentsOf(absl::string_view action) const;
};

// The names that the program has; everything else in a file is an error that lists them.
struct Known {
  std::vector<std::string> actions;
  std::vector<std::string> plugins;
};

// Reads a configuration. `file` is only for messages.
// Errors: kInvalidArgument, "file:line: key: what is wrong; accepted: ...": malformed YAML, an
// unknown
//         action or plugin, a value of the wrong type, drf with hierarchy beside proportion.
absl::StatusOr<Config> ParseConfig(absl::string_view text, absl::string_view file,
                                   const Known& known);

// The configuration without a file. Source: spec scheduler-core 2.4.
absl::string_view BuiltInConfigText();

}  // namespace hekla::conf
