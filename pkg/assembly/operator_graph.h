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
#include "pkg/controller/cache.h"
#include "pkg/controller/client.h"
#include "pkg/controller/controller.h"
#include "pkg/controller/manager.h"
#include "pkg/kube/rest_client.h"
#include "pkg/metrics/registry.h"
#include "pkg/ray/config/feature_gates.h"
#include "pkg/ray/config/operator_config.h"
#include "pkg/ray/config/operator_environment.h"
#include "pkg/ray/controllers/common/options.h"
#include "pkg/util/clock.h"
#include "pkg/util/executor.h"

namespace hekla::assembly {

// The whole Ray operator as objects without threads: caches, controllers with their queues, event
// recorders, manager. Programs give it executors and worker threads; the simulation and the
// conformance runner drive it step by step.
// Threads: Build, Start and the destructor from the owner's thread; what runs, runs on the
//          executors and on whoever calls Work or ProcessNext.
class OperatorGraph {
 public:
  struct Options {
    ray::OperatorConfig config = {};
    ray::FeatureGates gates = {};
    ray::OperatorEnvironment environment = {};
    ray::controllers::ServerFeatures server = {};
    // Of the reporter in events.
    std::string host = {};
    // Upstream's operator has no bucket over all keys (spec ray-cluster 1.8).
    controller::RateLimiter::Options limiter = {.bucket_per_second = 0};
    // Off: the backlog of a start is queued like real changes.
    bool low_priority_initial = true;
    absl::Duration min_watch_time = absl::Minutes(5);
    uint64_t seed = 1;
    // As in ClusterOptions.
    uint64_t surplus_seed = 0;
  };
  // All borrowed; they outlive the graph. The executors are stopped before the graph goes.
  struct Deps {
    // Lists, watches and events. Where there is an election, MayWrite is to decide on the writes of
    // both (kube::RestClient::Options::may_write).
    kube::RestClient* watch_client = nullptr;
    // What reconcilers write: each call blocks its worker. May be the same client; over a
    // http::InlineTransport no second thread is needed.
    kube::RestClient* write_client = nullptr;
    util::Executor* io = nullptr;      // watches, caches, events
    util::Executor* queues = nullptr;  // the organiser of the queues; may be `io`
    const util::Clock* clock = nullptr;
    metrics::Registry* registry = nullptr;
    // Without it this process always leads.
    std::optional<controller::Manager::Election> election = std::nullopt;
    // On `io`, once: caches and sources are complete, workers may begin.
    std::function<void()> on_ready = nullptr;
    // The lease is lost: the process must end at once.
    std::function<void(const absl::Status&)> on_lost = nullptr;
    // For reports, on `queues`: how long a RayCluster waited ready and was worked on.
    std::function<void(const controller::Request&, absl::Duration waited)> on_dispatch = nullptr;
    std::function<void(const controller::Request&, absl::Duration worked)> on_done = nullptr;
    // Bytes fit for secrets; null: from `seed`, for simulations only.
    std::function<std::string(size_t)> secret_bytes = nullptr;
  };

  // Errors: kInvalidArgument: a configuration that ValidateOperatorConfig refuses.
  static absl::StatusOr<std::unique_ptr<OperatorGraph>> Build(Deps deps, Options options);
  ~OperatorGraph();
  OperatorGraph(const OperatorGraph&) = delete;
  OperatorGraph& operator=(const OperatorGraph&) = delete;

  void Start();
  // Workers get no further keys; those that run end by themselves.
  void StopWork();
  // After the workers have ended: ends caches and election. `done` as in Manager::Stop.
  void Stop(std::function<void()> done);

  // Reconciles at most one key of each controller on the caller's thread, which must be that of
  // `queues`; false when there was none.
  bool ProcessNext();

  // Caches are complete. Any thread.
  bool Ready() const;
  bool IsLeading() const;
  // To be asked before every write: false once another process may hold the lease. Any thread.
  bool MayWrite() const;
  // Workers may run.
  bool Working() const;
  // Keys that are ready, waiting or worked on, over all controllers. Any thread.
  size_t PendingKeys() const;
  // Events that are queued or under way. Any thread.
  size_t PendingEvents() const;

  // The RayCluster controller is the first.
  const std::vector<controller::Controller*>& controllers() const;
  controller::Cache& cache();
  controller::Client& client();

 private:
  struct Parts;
  explicit OperatorGraph(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace hekla::assembly
