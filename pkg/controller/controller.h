#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/controller/cache.h"
#include "pkg/controller/queue.h"
#include "pkg/controller/queue_metrics.h"
#include "pkg/controller/rate_limiter.h"
#include "pkg/controller/reconciler.h"
#include "pkg/controller/source.h"
#include "pkg/util/executor.h"

namespace hekla::controller {

// One kind's reconcile loop: sources feed its queue, workers take keys from it, and the outcome of
// a reconcile decides when the key comes again. Passive: workers are whoever calls Work or
// ProcessNext.
//
//   outcome, first match wins    queue                                     `result`
//   terminal error               nothing                                   error
//   other error                  again, rate limited                       error
//   requeue_after > 0            forget, again after that time             requeue_after
//   requeue                      again, rate limited                       requeue
//   else                         forget                                    success
//
// An exception out of a reconcile counts as a panic and becomes the error `panic: V [recovered]`.
// Quirk:   upstream keeps the failure count after a terminal error, so that the next error waits
//          longer; here it is forgotten, as users expect.
// Source:  spec kube-machinery 2.3.
class Controller {
 public:
  struct Options {
    std::string name = {};  // of metrics and logs: the lower-case kind
    int max_concurrent = 1;
    // Off: the initial list is queued like real changes.
    bool low_priority_initial = true;
    RateLimiter::Options limiter = {};
  };
  struct Deps {
    Reconciler* reconciler = nullptr;
    util::Executor* executor = nullptr;  // the queue's organiser
    ControllerMetrics* metrics = nullptr;
    std::function<void(const Request& key, absl::Duration waited)> on_dispatch = nullptr;
    std::function<void(const Request& key, absl::Duration worked)> on_done = nullptr;
  };

  // Deps must outlive the controller.
  Controller(Deps deps, Options options);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Before Start.
  void Watch(Source source);
  // Connects the sources to the cache. On the io executor, or while it stands still; the cache must
  // know the kinds.
  void Start(Cache& cache);
  // Every source has queued its initial list. Workers begin after that.
  bool Synced() const;

  // Takes keys and reconciles them until the queue is shut down. Blocks: one call per worker
  // thread. On return nothing of this worker is under way.
  void Work();
  // Reconciles one key on the caller's thread, which must be the executor's; false where none is
  // ready.
  bool ProcessNext();

  // No further key is handed out; running reconciles end in their own time. Any thread.
  void ShutDown() { queue_->ShutDown(); }

  PriorityQueue& queue() { return *queue_; }
  const Options& options() const { return options_; }

 private:
  void Run(const PriorityQueue::Item& item);
  absl::StatusOr<Result> Reconcile(const Request& request);
  void Settle(const PriorityQueue::Item& item, const absl::StatusOr<Result>& result);
  struct Series;

  const Deps deps_;
  const Options options_;
  const std::unique_ptr<Series> series_;
  RateLimiter limiter_;
  QueueMetrics queue_metrics_;
  std::unique_ptr<PriorityQueue> queue_;
  std::vector<Source> sources_;
  std::atomic<bool> started_ = false;
  std::shared_ptr<std::atomic<int>> unsynced_;  // sources without their initial list
};

}  // namespace hekla::controller
