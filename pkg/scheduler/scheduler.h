#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/conf/config.h"
#include "pkg/framework/explain/explanation.h"
#include "pkg/framework/node_search.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"
#include "pkg/ports/decision_sink.h"
#include "pkg/ports/snapshot_source.h"
#include "pkg/util/clock.h"
#include "pkg/util/random.h"

namespace hekla::scheduler {

// What one cycle took; read by status lines, benchmarks and the simulation.
struct CycleStats {
  uint64_t cycles = 0;
  absl::Duration last = absl::ZeroDuration();
  absl::Duration longest = absl::ZeroDuration();
};

// Runs scheduling cycles, one per call.
// Threads: the session thread.
// Source:  spec scheduler-core 3.
class Scheduler {
 public:
  // Everything is borrowed and outlives the scheduler.
  struct Deps {
    ports::SnapshotSource* source = nullptr;
    ports::DecisionSink* sink = nullptr;
    const util::Clock* clock = nullptr;
    const framework::PluginRegistry* plugins = nullptr;
    const framework::ActionRegistry* actions = nullptr;
    framework::PluginDeps plugin_deps;
    framework::SchedulerMetrics* metrics = nullptr;  // may be null
    framework::SessionObserver* observer = nullptr;  // may be null
    bool queue_admission_gates = false;
    uint64_t seed = 0;  // of session ids
  };

  explicit Scheduler(Deps deps);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // The names that configurations may use.
  conf::Known known() const;
  // Takes effect at the start of the next cycle. `config` was read with known().
  void SetConfig(conf::Config config);
  // One cycle. False, and nothing happens, until every initial list is there.
  // Needs a configuration.
  bool RunOnce();

  // Why the pod or PodGroup "namespace/name" is where it is, as of the last cycle. Between cycles.
  // Errors: kNotFound; kUnavailable before the first cycle under the current configuration.
  absl::StatusOr<framework::explain::Explanation> Explain(framework::explain::Subject subject,
                                                          absl::string_view key);

  const CycleStats& stats() const { return stats_; }
  const conf::Config& config() const { return config_; }
  // The tables; for status lines and dumps between cycles. Null before the first cycle.
  const model::Cluster* cluster() const { return cluster_; }

 private:
  void Rebuild();
  framework::Action& ActionOf(const std::string& name);
  std::string NextUid();
  double Elapsed(absl::Duration since) const;  // milliseconds

  const Deps deps_;
  util::Random random_;
  conf::Config config_;
  bool config_changed_ = false;
  model::Cluster* cluster_ = nullptr;
  framework::ReasonTable reasons_;
  std::unique_ptr<framework::NodeSearch> search_;
  // An action lives as long as the process: arguments removed from the file keep their last value.
  std::map<std::string, std::unique_ptr<framework::Action>> actions_;
  std::vector<std::unique_ptr<framework::Plugin>> plugins_;
  std::unique_ptr<framework::Session> session_;
  CycleStats stats_;
};

}  // namespace hekla::scheduler
