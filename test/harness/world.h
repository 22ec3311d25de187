#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/conf/config.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/scheduler_metrics.h"
#include "pkg/framework/session.h"
#include "pkg/metrics/registry.h"
#include "pkg/model/cluster.h"
#include "pkg/ports/snapshot_source.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/util/clock.h"
#include "test/harness/recording_sink.h"

namespace hekla::harness {

// A small cluster in memory and the scheduler's production code on it: objects go through the
// decoders and the ingest of the cache, cycles through scheduler::Scheduler, decisions into a
// RecordingSink. No thread, no network, a clock that stands still.
class World final : public ports::SnapshotSource {
 public:
  // Called inside a cycle, with the open session.
  using Hook = std::function<void(framework::Session&)>;

  struct Options {
    std::string default_queue = "default";
    uint64_t seed = 1;
    bool csi_storage = true;
    // Plugins by these names exist and do nothing.
    std::vector<std::string> silent_plugins;
  };
  World() : World(Options()) {}
  explicit World(Options options);
  ~World() override;

  // An object of any kind the scheduler reads; again replaces the earlier one.
  // Errors: what the decoder says; kUnimplemented for kinds the scheduler does not read.
  absl::Status Apply(const apis::json::Value& object);
  absl::Status Remove(const apis::json::Value& object);

  // The configuration for the cycles that follow. `actions`, where not empty, replace those of the
  // text.
  absl::Status Configure(absl::string_view yaml, const std::vector<std::string>& actions = {});
  // One cycle; `before` runs ahead of the first action, `after` behind the last one.
  void Run(Hook before = nullptr, Hook after = nullptr);
  // Why the pod or PodGroup "ns/name" is where it is, after a cycle.
  absl::StatusOr<framework::explain::Explanation> Explain(framework::explain::Subject subject,
                                                          absl::string_view key);
  // The API server accepts what was bound and evicted since the last call: bound pods run, evicted
  // ones are terminating.
  void Echo();

  model::Cluster& cluster() { return *cluster_; }
  const model::Tables& tables() const { return cluster_->tables(); }
  RecordingSink& sink() { return sink_; }
  util::FakeClock& clock() { return clock_; }
  framework::SchedulerMetrics& metrics() { return metrics_; }

  // "ns/name" of a task, name of its node ("" where it has none).
  std::string TaskName(model::TaskId task) const;
  std::string NodeName(model::NodeId node) const;
  // Invalid where there is none.
  model::TaskId FindTask(absl::string_view ns_and_name) const;

  bool Synced() const override { return true; }
  model::Cluster& Snapshot() override { return *cluster_; }

 private:
  class HookAction;
  class SilentPlugin;
  void MakeRegistries();

  Options options_;
  util::FakeClock clock_;
  std::shared_ptr<model::Dictionary> dictionary_;
  std::unique_ptr<model::Cluster> cluster_;
  struct Decoders;
  std::unique_ptr<Decoders> decoders_;
  RecordingSink sink_;
  metrics::Registry registry_;
  framework::SchedulerMetrics metrics_{registry_};
  framework::PluginRegistry plugins_;
  framework::ActionRegistry actions_;
  Hook before_, after_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  size_t echoed_binds_ = 0, echoed_evictions_ = 0;
  std::map<std::string, apis::json::Value> pods_;  // as last applied, by "ns/name"
};

}  // namespace hekla::harness
