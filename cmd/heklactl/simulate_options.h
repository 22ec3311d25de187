#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "pkg/util/logging.h"

namespace hekla::cmd::heklactl {

// Source: design.md section 11.
struct SimulateOptions {
  enum class Output { kJson, kTable, kNone };

  std::string scheduler_conf;
  int cycles = 0;  // 0: until idle
  bool until_idle = false;
  bool kubelet = false;
  int seed = 1;
  Output output = Output::kTable;
  std::string trace, trace_format, nodes;
  bool trace_forever = false;
  int trace_time_scale = 1;  // arrivals of the trace come this many times sooner
  std::string report;
  bool timings = false;
  bool explain = false;
  std::vector<std::string> manifests;
  util::LogOptions log;
  bool help = false;
};

// Errors: kInvalidArgument: unknown flag, flags that exclude each other, nothing to simulate.
absl::StatusOr<SimulateOptions> ParseSimulateOptions(const std::vector<std::string>& arguments);

std::string SimulateUsage();

}  // namespace hekla::cmd::heklactl
