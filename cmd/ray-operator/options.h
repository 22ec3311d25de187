#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pkg/ray/config/operator_config.h"
#include "pkg/util/logging.h"

namespace hekla::cmd::ray_operator {

// Form of a log line.
enum class Encoder { kJson, kConsole };

// Everything the command line of hekla-ray-operator says.
// Source: spec ray-cluster 1.1.
struct Options {
  ray::OperatorConfig config;  // by flags; --config replaces it as a whole
  std::string config_path;
  std::string feature_gates;
  std::string kubeconfig;
  Encoder file_encoder = Encoder::kJson;
  Encoder stdout_encoder = Encoder::kJson;
  util::LogOptions log;
  bool forced_cluster_upgrade = false;
  bool version = false;
  bool help = false;

  // What was given and does nothing.
  std::vector<std::string> ignored_arguments;
};

// Errors: kInvalidArgument: unknown flag, malformed value. The program prints it with Usage() and
// exits with 2.
absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& arguments);

std::string Usage();

// "json", "console", "" = json. Errors: kInvalidArgument.
absl::StatusOr<Encoder> ParseEncoder(absl::string_view name);

}  // namespace hekla::cmd::ray_operator
