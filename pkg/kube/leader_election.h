#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "pkg/kube/event_recorder.h"
#include "pkg/kube/executor.h"
#include "pkg/kube/rest_client.h"
#include "pkg/metrics/registry.h"

namespace hekla::kube {

// Makes sure that one of several processes leads, by a Lease (spec 1.18). Passive: answers of the
// client and timers of the executor drive it.
// How long a lease lasts is counted by this process's uptime, from the moment a change of the
// record was seen. The leader stops writing one renew deadline after it sent its last good renewal,
// others wait for the whole lease after they saw it; so there are never two, whatever becomes of
// clocks:
// - times of day may be apart by any amount and be set to anything; those in the record are for
//   readers, nothing is concluded from them;
// - time may pass at different rates on two machines, as long as the faster one gains less than
//   lease duration : renew deadline (3 : 2 as it is delivered), as with client-go;
// - a machine that was suspended has counted the time when it wakes.
// Not covered: a machine that is paused without knowing (its whole virtual machine is), until its
// clocks catch up; and a write that was sent in time and reaches the server later.
// Threads: the executor's; Start and Stop from any.
class LeaderElector {
 public:
  struct Options {
    std::string ns = {};
    std::string name = {};
    std::string identity = {};  // "<hostname>_<uuid>"
    absl::Duration lease_duration = absl::Seconds(15);
    absl::Duration renew_deadline = absl::Seconds(10);
    absl::Duration retry_period = absl::Seconds(2);
    // Gives the lease away on Stop and on loss, so that others need not wait for its end.
    bool release_on_cancel = false;
    uint64_t seed = 1;
  };
  struct Callbacks {
    std::function<void()> on_started_leading = nullptr;
    // Always called once in the end, even if this process never led.
    std::function<void()> on_stopped_leading = nullptr;
    std::function<void(const std::string& identity)> on_new_leader = nullptr;
  };

  // Errors: kInvalidArgument unless lease > renew deadline > 1.2 x retry > 0 and names are set.
  static absl::Status Validate(const Options& options);

  // `client` should have a connection of its own, and a time-out of at most half the renew
  // deadline, so that one lost answer does not cost the lease; `events` may be null. Options must
  // be valid.
  LeaderElector(RestClient* client, Executor* executor, EventRecorder* events, Options options,
                Callbacks callbacks);
  ~LeaderElector();

  void Start();
  // Gives up. `done` (may be empty) comes on the executor when the lease is released or cannot be.
  void Stop(std::function<void()> done);
  // Asks the clock too: false from one renew deadline after the last good renewal was sent, before
  // another process may have taken the lease. True again if a renewal succeeds all the same.
  bool IsLeader() const;
  // kUnavailable when this process leads and its last renewal is older than lease + `tolerance`.
  absl::Status Check(absl::Duration tolerance) const;

 private:
  class Core;
  const std::shared_ptr<Core> core_;
};

// `leader_election_master_status` by `name` of the lease: 1 while this process holds it.
metrics::GaugeFamily& LeaderStatus(metrics::Registry& registry);

}  // namespace hekla::kube
