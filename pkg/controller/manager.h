#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "pkg/controller/cache.h"
#include "pkg/controller/controller.h"
#include "pkg/controller/queue_metrics.h"
#include "pkg/kube/leader_election.h"
#include "pkg/util/executor.h"

namespace hekla::controller {

// Brings the parts of an operator up and down in the right order: caches, then (once this process
// leads, where it has to) the controllers' sources, then the workers. Passive: it tells through
// `on_ready` that workers may begin; who calls Controller::Work is not its business.
// Threads: Start and Stop from any; what runs, runs on `io`. Ready and IsLeading from any.
// Source:  spec kube-machinery 2.7.
class Manager {
 public:
  struct Deps {
    util::Executor* io = nullptr;
    Cache* cache = nullptr;
    ControllerMetrics* metrics = nullptr;
    // Every cache is complete and every source has queued what is there. On `io`, once.
    std::function<void()> on_ready = nullptr;
    // The lease is lost: the process must end at once. On the election's executor.
    std::function<void(const absl::Status&)> on_lost = nullptr;
  };
  struct Election {
    // With a connection of its own; the executor is the election's.
    kube::RestClient* client = nullptr;
    util::Executor* executor = nullptr;
    kube::EventRecorder* events = nullptr;  // may be null
    kube::LeaderElector::Options options = {};
  };

  // Deps must outlive the manager, which goes while `io` stands still. Without an election this
  // process always leads.
  Manager(Deps deps, std::optional<Election> election);
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // Borrowed; before Start.
  void Add(Controller* controller);
  void Start();
  // Workers get no further keys; running reconciles, on the caller's threads, end by themselves.
  // The lease is kept.
  void StopWork();
  // Ends caches and the election. The lease is given away only if the election says so. `done`
  // comes on the election's executor, or on `io` without one.
  void Stop(std::function<void()> done);

  // Caches are complete. A standby is ready too.
  bool Ready() const;
  bool IsLeading() const { return leading_; }
  // Asks the clock too: false once another process may have taken the lease, even if this one stood
  // still and no timer has told so yet. Without an election always true. Any thread.
  bool MayWrite() const;
  // Workers may run: leading, and all sources are in.
  bool Working() const { return working_; }

 private:
  void MakeElector();
  void Lead();
  // All caches are complete: sources queue what is there, and workers may begin. On io.
  void Begin();
  void Complain();

  const Deps deps_;
  std::optional<Election> election_;
  std::unique_ptr<kube::LeaderElector> elector_;  // from the beginning
  std::vector<Controller*> controllers_;
  std::atomic<bool> leading_ = false;
  std::atomic<bool> working_ = false;
  std::atomic<bool> stopping_ = false;
  util::Executor::TimerId complaint_ = 0;  // on io
  std::shared_ptr<metrics::Gauge> leader_gauge_;
  const std::shared_ptr<bool> alive_;
};

}  // namespace hekla::controller
