#pragma once

#include <array>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "pkg/apiserver/server.h"
#include "pkg/assembly/scheduler_graph.h"
#include "pkg/framework/session_observer.h"
#include "pkg/http/loopback_transport.h"
#include "pkg/kube/leader_election.h"
#include "pkg/kube/rest_client.h"
#include "pkg/sim/binding_watcher.h"
#include "pkg/sim/cluster_mirror.h"
#include "pkg/sim/decision_auditor.h"
#include "pkg/sim/faults/fault_transport.h"
#include "pkg/sim/faults/machine_clock.h"
#include "pkg/util/clock.h"
#include "pkg/util/manual_executor.h"

namespace hekla::sim {

// One life of the scheduler process: its own executor, connections and objects, on one thread.
// Destroying it is a crash: what is in flight is lost, what the API server has is kept. The network
// has an executor of its own, so that it goes on while the process stands still; it counts the true
// time, the process that of its machine.
class SchedulerLife {
 public:
  struct Options {
    uint64_t seed = 1;
    FaultPlan faults = {};
    std::string config;    // "": the built-in one
    std::string identity;  // stands for election under this name; "": leads at once
    MachineClock clock = {};
  };
  // All borrowed.
  struct Deps {
    util::FakeClock* clock = nullptr;
    apiserver::ApiServer* server = nullptr;
    FaultBook* book = nullptr;  // may be null
    DecisionAuditor* decisions = nullptr;
    const ClusterMirror* mirror = nullptr;
    // Whether the process of that name holds the lease now, whatever it believes.
    std::function<bool(const std::string& identity)> holds_lease;
  };

  SchedulerLife(Deps deps, Options options);
  ~SchedulerLife();

  // Does one thing that is due now, of the network first; false when there was nothing.
  bool Step();
  absl::Time NextDue() const;
  // The process has ended by itself or by a fault: it is to be destroyed.
  bool over() const { return lost_ || faults_.killed(); }
  // It stands still until then, as one that has been stopped by a signal.
  void Freeze(absl::Time until);
  // Somebody sets its time of day.
  void StepClock(absl::Duration d) { own_clock_.Step(d); }
  // Takes this configuration as if its file had been changed.
  void Reload(const std::string& config);

  FaultTransport& faults() { return faults_; }
  http::LoopbackTransport& connections() { return loopback_; }
  BindingWatcher& bindings() { return bindings_; }
  const std::string& identity() const { return options_.identity; }
  int64_t cycles() const { return cycles_; }

 private:
  class Observer;
  bool frozen() const { return deps_.clock->Now() < frozen_until_; }
  Knowledge Known() const;

  const Deps deps_;
  const Options options_;
  util::SkewedClock own_clock_;
  util::ManualExecutor network_;
  util::ManualExecutor process_;
  http::LoopbackTransport loopback_;
  FaultTransport faults_;
  BindingWatcher bindings_;
  std::unique_ptr<Observer> observer_;
  kube::RestClient client_;
  kube::RestClient election_client_;
  std::unique_ptr<assembly::SchedulerGraph> graph_;
  std::unique_ptr<kube::LeaderElector> elector_;
  // What had reached it when it began to stand still, by collection of kAuditedPaths.
  std::array<absl::Time, std::size(kAuditedPaths)> known_then_;
  absl::Time frozen_until_ = absl::InfinitePast();
  int64_t cycles_ = 0;
  bool lost_ = false;
};

}  // namespace hekla::sim
