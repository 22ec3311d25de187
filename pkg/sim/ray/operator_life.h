#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "pkg/apiserver/server.h"
#include "pkg/assembly/operator_graph.h"
#include "pkg/http/inline_transport.h"
#include "pkg/http/loopback_transport.h"
#include "pkg/kube/rest_client.h"
#include "pkg/metrics/registry.h"
#include "pkg/sim/faults/fault_transport.h"
#include "pkg/sim/faults/machine_clock.h"
#include "pkg/util/manual_executor.h"

namespace hekla::sim {

// One life of the Ray operator: its own executors, connections and objects, under virtual time and
// on one thread. Destroying it is a crash: what is in flight is lost, what the API server has is
// kept.
class OperatorLife {
 public:
  struct Options {
    // Its host and seed are set from here.
    assembly::OperatorGraph::Options graph = {};
    uint64_t seed = 1;
    FaultPlan watch_faults = {};  // of lists, watches and events
    // Sees every call of a reconciler; null: nothing.
    http::InlineTransport::Intercept intercept = nullptr;
    // Stands for election under this name; "": leads at once.
    std::string identity = {};
    // Called with every write that leaves, but for those of the election; null: nothing.
    std::function<void(const http::Request&)> on_write = nullptr;
    MachineClock clock = {};
  };
  OperatorLife(util::FakeClock* clock, apiserver::ApiServer* server, Options options);
  ~OperatorLife();

  // Does one thing that is due now: an executor task or, where there is none, a reconcile of each
  // controller; false when there was nothing.
  bool Step();
  absl::Time NextDue() const;
  // It stands still until then, as one that has been stopped by a signal. When it goes on, its
  // workers are faster than its timers, as threads may be.
  void Freeze(absl::Time until) { frozen_until_ = until; }

  // Somebody sets its time of day.
  void StepClock(absl::Duration d) { own_clock_.Step(d); }

  FaultTransport& faults() { return faults_; }
  http::LoopbackTransport& connections() { return loopback_; }
  // The lease was lost: a process would end now.
  bool lost() const { return lost_; }
  // Of RayClusters, so far.
  int64_t reconciles() const { return reconciles_; }
  // Whether the last reconcile of that RayCluster failed.
  bool Failing(const controller::Request& cluster) const;

 private:
  class WriteWatcher;
  bool MayWrite() const;
  util::FakeClock* const clock_;
  const std::unique_ptr<WriteWatcher> writes_;
  util::SkewedClock own_clock_;
  util::ManualExecutor network_;   // in true time
  util::ManualExecutor executor_;  // in that of the machine
  http::LoopbackTransport loopback_;
  FaultTransport faults_;
  http::InlineTransport inline_;
  metrics::Registry registry_;
  kube::RestClient watch_client_;
  kube::RestClient write_client_;
  kube::RestClient election_client_;
  std::unique_ptr<assembly::OperatorGraph> graph_;
  absl::Time frozen_until_ = absl::InfinitePast();
  int64_t reconciles_ = 0;
  bool lost_ = false;
};

}  // namespace hekla::sim
