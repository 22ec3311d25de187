#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"

// Reader of the "openb" GPU cluster trace: one CSV of nodes, one of pods. Column names are looked
// up in the header line, so that files with other columns or another order can be read too.
namespace hekla::sim {

// GPUs are shared there in thousandths: a scalar resource, a node has 1000 of it per GPU.
inline constexpr absl::string_view kOpenbGpuResource = "alibabacloud.com/gpu-milli";
// Label with the GPU model of a node; `gpu_spec` of a pod ("A|B") is a required affinity on it.
inline constexpr absl::string_view kOpenbModelLabel = "alibabacloud.com/gpu-card-model";

struct TraceNode {
  std::string name;
  int64_t cpu_milli = 0, memory_mib = 0, gpus = 0;
  std::string model = {};
};

struct TracePod {
  std::string name;
  int64_t cpu_milli = 0, memory_mib = 0, num_gpu = 0, gpu_milli = 0;
  std::vector<std::string> models = {};
  int64_t creation_second = 0;
  int64_t run_seconds = -1;  // -1: for ever
};

// Errors: kInvalidArgument naming file, row (the header is row 1) and column: a missing column, a
// field
//         that is no whole number or negative, an empty name, a row with too few fields.
absl::StatusOr<std::vector<TraceNode>> ParseOpenbNodes(absl::string_view text,
                                                       absl::string_view file);
// Pods by creation time, then in order of the file. A pod without deletion or scheduling time runs
// for ever; with `forever` all do.
absl::StatusOr<std::vector<TracePod>> ParseOpenbPods(absl::string_view text, absl::string_view file,
                                                     bool forever);

// The same pods in the same order, `scale` (>= 1) times as fast: arrival times are divided, rounded
// down; run times stay.
void CompressArrivals(std::vector<TracePod>& pods, int scale);

// The Kubernetes objects they stand for. Pods use schedulerName volcano and carry their run time in
// annotation hekla.dev/run-seconds.
apis::json::Value ToObject(const TraceNode& node, absl::Time created);
apis::json::Value ToObject(const TracePod& pod, absl::Time created);

}  // namespace hekla::sim
