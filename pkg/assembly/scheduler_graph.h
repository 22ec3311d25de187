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
#include "pkg/http/client.h"
#include "pkg/kube/rest_client.h"
#include "pkg/metrics/registry.h"
#include "pkg/scheduler/config_file.h"
#include "pkg/scheduler/cycle_loop.h"
#include "pkg/scheduler/scheduler.h"
#include "pkg/util/clock.h"
#include "pkg/util/executor.h"

namespace hekla::assembly {

// The whole scheduler as objects without threads: client, informers, cache, bind channel, events,
// engine, cycle loop. Programs give it executors with threads, the simulation one that it drives.
// Threads: Build, Start and the destructor from the owner's thread; what runs, runs on the
// executors.
class SchedulerGraph {
 public:
  struct Options {
    std::vector<std::string> scheduler_names = {"volcano"};
    std::string default_queue = "default";
    scheduler::ConfigFile::Options config = {};
    // Used in place of a file: tests, the simulation. Not watched.
    std::optional<std::string> config_text = std::nullopt;
    std::string config_name = "configuration";  // of config_text, for messages
    scheduler::CycleLoop::Options cycles = {};
    double api_qps = 2000;  // of a client made from a transport; 0: no limit
    double api_burst = 2000;
    std::vector<std::string> node_selector = {};  // `key:value`, ORed
    bool priority_class = true;
    bool csi_storage = true;
    bool queue_admission_gates = false;  // feature gate SchedulingGatesQueueAdmission
    uint64_t seed = 1;
    // Watches are renewed after [min, 2 * min); a simulation of months wants them long.
    absl::Duration min_watch_time = absl::Minutes(5);
    // CPU time, memory and so on of this process are among the metrics.
    bool process_metrics = false;
    // Cycles run only through RunOnce, not by themselves.
    bool manual_cycles = false;
  };
  // All borrowed; they outlive the graph. `io` runs the client side (watches, decoding, writes),
  // `session` the cycles; they may be the same. Both are stopped before the graph goes.
  struct Deps {
    // A client that is there already (production: credentials, limits), or a transport from which
    // one is made with the options below.
    kube::RestClient* client = nullptr;
    http::Transport* transport = nullptr;
    util::Executor* io = nullptr;
    util::Executor* session = nullptr;
    const util::Clock* clock = nullptr;
    framework::SessionObserver* observer = nullptr;  // may be null
    // Where metrics go, and among them what the owner counts; null: a registry of the graph's own.
    metrics::Registry* registry = nullptr;
    // Called on the session executor when going on is impossible (a bad reload with
    // config.require).
    std::function<void(const absl::Status&)> on_fatal = nullptr;
  };

  // Reads the configuration and builds everything; nothing runs yet.
  // Errors: those of scheduler::ConfigFile::Load.
  static absl::StatusOr<std::unique_ptr<SchedulerGraph>> Build(Deps deps, Options options);
  ~SchedulerGraph();
  SchedulerGraph(const SchedulerGraph&) = delete;
  SchedulerGraph& operator=(const SchedulerGraph&) = delete;

  // Lists, watches and (unless manual_cycles) cycles begin.
  void Start();
  // No further cycle begins; what was decided is still sent. `done` comes on the io executor once
  // nothing is in flight.
  void Stop(std::function<void()> done);

  // Takes a configuration as if its file had been changed to this text: from the next cycle on;
  // what cannot be used leaves the one in force as it is. On the session executor only. Errors:
  // those of conf::ParseConfig.
  absl::Status Reload(const std::string& text);

  // One cycle at once, on the caller's thread, which must be the session's. False until the initial
  // lists are complete.
  bool RunOnce();

  // Every initial list of a needed kind is there. Any thread.
  bool Ready() const;
  // Writes (binds, statuses, events) that are queued or under way. Any thread.
  size_t PendingWrites() const;
  // Deltas that wait for the next cycle. Any thread.
  size_t PendingDeltas() const;
  // What cycles took so far. Any thread.
  scheduler::CycleStats Stats() const;
  // On the session executor only.
  scheduler::Scheduler& scheduler();
  // Asks Scheduler::Explain on the session executor, between cycles; `done` is called there with
  // the answer's JSON. Any thread; `done` may come after Stop, or not at all once the executor has
  // stopped.
  using Explained = std::function<void(absl::StatusOr<apis::json::Value>)>;
  void Explain(framework::explain::Subject subject, std::string key, Explained done);
  // Calls `look` on the session executor, between cycles, with the tables; null before the first
  // cycle. Any thread.
  void Inspect(std::function<void(const model::Cluster*)> look);
  // All metrics in the text format. Any thread.
  std::string MetricsText() const;

 private:
  struct Parts;
  explicit SchedulerGraph(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace hekla::assembly
