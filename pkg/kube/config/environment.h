#pragma once

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace hekla::kube {

// What the surroundings of the process say. Tests give their own.
struct Environment {
  // nullopt: not set.
  std::function<std::optional<std::string>(const std::string& name)> variable;
  // The in-cluster files live below this; "" in production.
  std::string root = {};

  static Environment OfProcess();
};

// Errors: kNotFound, or kUnavailable for other failures, with the path.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace hekla::kube
