#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/framework/explain/explanation.h"
#include "pkg/sim/auditor.h"
#include "pkg/sim/cycle_recorder.h"
#include "pkg/sim/manifests.h"
#include "pkg/sim/openb_trace.h"
#include "pkg/sim/usage_meter.h"

namespace hekla::sim {

struct Progress {
  absl::Time time;  // of the simulated cluster
  int64_t arrived = 0, to_arrive = 0;
  int64_t placed = 0, pending = 0, running = 0;
};

struct SimulationOptions {
  std::optional<std::string> scheduler_conf;  // text; none: the built-in configuration
  std::string scheduler_conf_name = "scheduler configuration";
  int64_t cycles = 0;  // 0: until idle
  bool kubelet = false;
  uint64_t seed = 1;
  std::vector<TraceNode> trace_nodes;
  std::vector<TracePod> trace_pods;
  std::function<void(const Progress&)> progress;  // now and then; may be null
};

// A whole cluster under virtual time in this thread: embedded API server, hollow kubelet, and the
// scheduler's production code (reflectors, cache, cycles, bind channel) over an in-process
// transport. The same inputs and seed give the same run. After every step an auditor looks at the
// cluster from outside.
class Simulation {
 public:
  explicit Simulation(SimulationOptions options);
  ~Simulation();

  // Sets up the cluster as the manifests describe it (sorted by SortForLoading). To be called once.
  // Errors: kInvalidArgument naming the manifest; a wrong configuration. Nothing has run then.
  absl::Status Load(const std::vector<Manifest>& manifests);
  // Runs the cycles asked for, or until nothing is left that could happen.
  // Errors: kDeadlineExceeded when cycles go on without a decision and without an end.
  absl::Status Run();

  struct ResultOptions {
    // Wall-clock seconds of the cycles go into `stats`, where they are zero otherwise, so that
    // equal runs have equal bytes.
    bool timings = false;
    bool explain = false;  // every pending pod has `explain`
  };
  // The outcome with the keys of design.md section 11.
  apis::json::Value Result(ResultOptions options);
  // Why the pod or PodGroup "ns/name" is where it is, as JSON. After Run.
  // Errors: as scheduler::Scheduler::Explain.
  absl::StatusOr<apis::json::Value> Explain(framework::explain::Subject subject,
                                            absl::string_view key);

  const Auditor& auditor() const;
  const UsageMeter& meter() const;
  absl::Time start() const;
  absl::Time now() const;

 private:
  struct World;
  absl::Status Import(const Manifest& manifest);
  bool Arrive();
  void RunCycle(absl::Duration gap);
  void Settle();
  absl::Time NextEvent() const;

  SimulationOptions options_;
  std::unique_ptr<World> world_;
};

}  // namespace hekla::sim
