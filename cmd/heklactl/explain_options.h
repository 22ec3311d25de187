#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/util/logging.h"

namespace hekla::cmd::heklactl {

struct ExplainOptions {
  enum class Kind { kAny, kPod, kPodGroup };  // kAny: a pod, else a PodGroup
  enum class Output { kText, kJson };

  Kind kind = Kind::kAny;
  std::string name;  // "ns/name"
  // Where the running scheduler answers; "": from the kubeconfig, else the default.
  std::string address;
  std::string kubeconfig;
  // Not empty: decided here, in a simulation of these.
  std::vector<std::string> manifests;
  std::string scheduler_conf;  // of the simulation
  Output output = Output::kText;
  util::LogOptions log;
  bool help = false;
};

// Where a scheduler answers unless it is told otherwise (--debug-address).
inline constexpr char kDefaultDebugUrl[] = "http://127.0.0.1:11252";

// Errors: kInvalidArgument.
absl::StatusOr<ExplainOptions> ParseExplainOptions(const std::vector<std::string>& arguments);

std::string ExplainUsage();

// The address of a scheduler that a kubeconfig names in its current cluster's extension
// `hekla.dev/debug`; "" where it names none.
// Errors: kInvalidArgument: no YAML.
absl::StatusOr<std::string> DebugUrlOf(absl::string_view kubeconfig);

}  // namespace hekla::cmd::heklactl
