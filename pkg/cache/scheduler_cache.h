#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/cache/ingest/resources.h"
#include "pkg/kube/event_recorder.h"
#include "pkg/kube/rest_client.h"
#include "pkg/metrics/registry.h"
#include "pkg/model/cluster.h"
#include "pkg/ports/decision_sink.h"
#include "pkg/ports/snapshot_source.h"
#include "pkg/util/executor.h"

namespace hekla::cache {

// The mirror of the cluster and the way out of the scheduler. Watches every kind that decisions
// depend on, turns objects into rows and queues them; the session thread applies what is queued
// when it takes a snapshot. Decisions come back through ports::DecisionSink and become API calls:
//   - bind > evict > PodGroup and Queue status > pod condition, in that order while the window of
//     calls in flight is full; the window adapts to the server (429, time-outs, 5xx);
//   - per object a newer status replaces a queued older one; what would change nothing is not sent;
//   - a bind or eviction that failed, or whose outcome is unknown, is settled by reading the pod
//     again, with back-off per pod, and comes back as a delta (BindFailed, EvictFailed);
//   - Bind emits `Scheduled`; Evict emits `Evict` on the pod and its PodGroup; a pod condition that
//   is
//     written emits `FailedScheduling`. All other events come from the session through Emit.
// A kind the server does not have counts as empty; one that is forbidden keeps Synced false.
//
// Threads: Snapshot and the DecisionSink calls from the session thread; everything else runs on
//          Deps::io. Getters of counts from any thread.
// Source:  design.md sections 2, 4, 5; spec scheduler-core section 9.
class SchedulerCache final : public ports::SnapshotSource, public ports::DecisionSink {
 public:
  struct Options {
    std::vector<std::string> scheduler_names = {"volcano"};
    std::string default_queue = "default";
    uint64_t seed = 0;
    bool priority_class = true;
    bool csi_storage = true;
    std::vector<std::string> node_selector = {};  // `key:value`, ORed
    RequestFeatures features = {};
    // Makes the queues `root` and default_queue where they are missing.
    bool create_queues = true;
    size_t max_in_flight = 256;
    absl::Duration min_watch_time = absl::Minutes(5);  // as kube::Reflector::Options
  };
  // All borrowed; they outlive the cache. `client` may be null: then nothing is watched or written,
  // objects come through Ingest and decisions are taken as done (tests, conformance runs).
  struct Deps {
    kube::RestClient* client = nullptr;
    util::Executor* io = nullptr;
    kube::EventRecorder* events = nullptr;  // may be null
    metrics::Registry* metrics = nullptr;   // may be null
    // Something a cycle should see has been queued. Any thread.
    std::function<void()> wake = nullptr;
  };

  SchedulerCache(Deps deps, Options options);
  ~SchedulerCache() override;
  SchedulerCache(const SchedulerCache&) = delete;
  SchedulerCache& operator=(const SchedulerCache&) = delete;

  // Lists and watches begin. On the io executor, or while it stands still.
  void Start();
  // Watches end; no further decision is accepted. `done` comes on the io executor once no write is
  // in flight.
  void Stop(std::function<void()> done);

  // One object as if a watch had brought it; `apiVersion` and `kind` tell what it is. Kinds that
  // scheduling does not look at are ignored.
  // Errors: kInvalidArgument with the field's path; the object is then left out.
  absl::Status Ingest(const apis::json::Value& object);
  // The initial lists count as complete (for use with Ingest).
  void MarkSynced();

  // SnapshotSource.
  bool Synced() const override;
  model::Cluster& Snapshot() override;

  // DecisionSink.
  void Bind(std::vector<ports::BindRequest> batch) override;
  void Evict(std::vector<ports::EvictRequest> batch) override;
  void WritePodGroup(ports::PodGroupStatus status) override;
  void WriteQueue(ports::QueueStatus status) override;
  void WritePodCondition(ports::PodConditionWrite write) override;
  void Emit(ports::EventWrite event) override;
  void RemoveGate(ports::GateRemoval removal) override;

  // Calls that are queued, waiting for their next try, or in flight. Any thread.
  size_t PendingWrites() const;
  // Asks whether calls are queued or in flight, those that wait for their next try or for a volume
  // apart; false once the cache has gone. On the io executor.
  std::function<bool()> IsWriting() const;
  // `quiet` is called on the io executor whenever that has ended. Set before Start.
  void OnQuiet(std::function<void()> quiet);
  // Rows that wait for the next snapshot. Any thread.
  size_t PendingDeltas() const;
  // Kinds whose initial list is still missing, and why ("pods: forbidden ..."). Any thread.
  std::vector<std::string> Missing() const;

 private:
  class Core;
  const std::shared_ptr<Core> core_;
};

}  // namespace hekla::cache
