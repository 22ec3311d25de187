#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pkg/apis/json/value.h"
#include "pkg/apiserver/hollow/hollow_cluster.h"
#include "pkg/apiserver/hollow/local_watch.h"
#include "pkg/apiserver/server.h"
#include "pkg/assembly/scheduler_graph.h"
#include "pkg/framework/session_observer.h"
#include "pkg/http/loopback_transport.h"
#include "pkg/sim/auditor.h"
#include "pkg/sim/faults/fault_transport.h"
#include "pkg/util/clock.h"
#include "pkg/util/manual_executor.h"

namespace hekla::sim {

// One life of the scheduler process: its own executor, connections and objects. Destroying it is a
// crash: what is in flight is lost, what the API server has is kept.
class SchedulerLife {
 public:
  SchedulerLife(util::FakeClock* clock, apiserver::ApiServer* server, uint64_t seed, FaultPlan plan,
                framework::SessionObserver* observer);
  ~SchedulerLife();

  util::ManualExecutor& executor() { return executor_; }
  FaultTransport& faults() { return faults_; }
  http::LoopbackTransport& connections() { return loopback_; }
  assembly::SchedulerGraph& graph() { return *graph_; }

 private:
  util::ManualExecutor executor_;
  http::LoopbackTransport loopback_;
  FaultTransport faults_;
  std::unique_ptr<assembly::SchedulerGraph> graph_;
};

// The cluster around the scheduler under virtual time, with an auditor that sees every change.
class FuzzWorld {
 public:
  FuzzWorld(uint64_t seed, bool faults, FaultPlan plan);
  ~FuzzWorld();

  // Moves virtual time, running everything that is due in its order.
  void Advance(absl::Duration d);
  // Kills the scheduler and starts another.
  void Restart(uint64_t seed);

  apiserver::ApiServer& server() { return server_; }
  SchedulerLife& life() { return *life_; }
  Auditor& auditor() { return auditor_; }
  absl::Time now() const { return clock_.Now(); }
  int64_t cycles() const;
  int64_t faults() const { return past_faults_ + life_->faults().faults(); }
  // Adds findings about decisions: gangs whose first members left without the others.
  const std::vector<Violation>& decision_findings() const;

 private:
  class GangWatch;
  void Settle();

  util::FakeClock clock_;
  apiserver::ApiServer server_;
  std::unique_ptr<apiserver::hollow::HollowCluster> hollow_;
  Auditor auditor_;
  std::vector<std::unique_ptr<apiserver::hollow::LocalWatch>> watches_;
  std::unique_ptr<GangWatch> gangs_;
  FaultPlan plan_;
  int64_t past_faults_ = 0;
  std::unique_ptr<SchedulerLife> life_;
};

}  // namespace hekla::sim
