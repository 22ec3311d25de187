#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

namespace hekla::scenario {

// What differed from a scenario's `expect`.
struct Finding {
  std::string field;  // "binds", "podGroupPhase.pg1", …
  std::string text;   // expected and found
};

// Runs one scenario (docs/testing.md has the format): builds its objects, runs its cycles on the
// scheduler's production code and compares with `expect`.
// Errors: kInvalidArgument for a file that is no scenario; unknown fields are such an error.
absl::Status RunScenario(const apis::json::Value& scenario, std::vector<Finding>& findings);

}  // namespace hekla::scenario
