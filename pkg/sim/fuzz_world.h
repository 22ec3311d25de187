#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/hollow/hollow_cluster.h"
#include "pkg/apiserver/hollow/local_watch.h"
#include "pkg/apiserver/server.h"
#include "pkg/sim/auditor.h"
#include "pkg/sim/decision_auditor.h"
#include "pkg/sim/faults/fault_transport.h"
#include "pkg/sim/faults/lease_auditor.h"
#include "pkg/sim/scheduler_life.h"
#include "pkg/util/clock.h"

namespace hekla::sim {

// The cluster around one scheduler, or two that stand for election, under virtual time, with
// auditors that see every change, every decision and every binding.
class FuzzWorld {
 public:
  struct Options {
    uint64_t seed = 1;
    FaultPlan plan = {};
    bool check_gangs = false;  // bindings cannot fail: a gang arrives whole
    int lives = 1;             // 2: with leader election
    bool clocks_apart = false;
    std::string config;
    FaultBook* book = nullptr;  // may be null
  };
  explicit FuzzWorld(Options options);
  ~FuzzWorld();

  // Moves virtual time, running everything that is due in its order, and audits.
  void Advance(absl::Duration d);
  // Kills a scheduler, and starts another.
  void Kill(size_t life);
  // That scheduler stands still for a while.
  void Freeze(size_t life, absl::Duration d);
  // Somebody sets the time of day of that scheduler's machine. Only there: the API server and the
  // nodes have the true time.
  void StepClock(size_t life, absl::Duration d);
  // The API server cannot be reached for a while.
  void TakeServerAway(absl::Duration d);
  void BreakConnections();
  // All schedulers take this configuration, and those to come.
  void Reload(const std::string& config);
  // No fault from now on, and what stands still goes on.
  void EndFaults();

  apiserver::ApiServer& server() { return server_; }
  const ClusterMirror& mirror() const { return auditor_.mirror(); }
  absl::Time now() const { return clock_.Now(); }
  size_t lives() const { return lives_.size(); }

  int64_t cycles() const;
  int64_t faults() const;
  int64_t bindings() const { return auditor_.bindings(); }
  int64_t leaders() const { return lease_.changes(); }
  bool clean() const { return Violations().empty(); }
  std::vector<Violation> Violations() const;

 private:
  // A process without a name needs none.
  bool HoldsLease(const std::string& identity) const {
    return identity.empty() || identity == lease_.holder();
  }
  void Watch(const char* path);
  void Observe(absl::string_view type, const apis::json::Value& object);
  void StartLife();
  void EndLife(size_t i);
  void PumpWatches();
  void Settle();

  const Options options_;
  util::FakeClock clock_;
  apiserver::ApiServer server_;
  std::unique_ptr<apiserver::hollow::HollowCluster> hollow_;
  Auditor auditor_;
  DecisionAuditor decisions_;
  std::vector<std::unique_ptr<apiserver::hollow::LocalWatch>> watches_;
  std::string config_;
  LeaseAuditor lease_;
  uint64_t next_life_ = 0;
  bool faults_on_ = true;
  absl::Time away_until_ = absl::InfinitePast();
  int64_t past_faults_ = 0, past_cycles_ = 0;
  std::vector<Violation> past_violations_;
  std::vector<std::unique_ptr<SchedulerLife>> lives_;
};

}  // namespace hekla::sim
