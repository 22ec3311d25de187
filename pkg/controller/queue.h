#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "absl/time/time.h"
#include "pkg/controller/queue_metrics.h"
#include "pkg/controller/rate_limiter.h"
#include "pkg/controller/reconciler.h"
#include "pkg/util/executor.h"

namespace hekla::controller {

// How a key is queued.
struct AddOptions {
  // Not before this time has passed. Zero or less: now.
  absl::Duration after = absl::ZeroDuration();
  // Counts a failure of the key; with `after` the shorter delay holds.
  bool rate_limited = false;
  // Higher goes first; absent: 0.
  std::optional<int> priority = std::nullopt;
};

// Priority of what was there when a controller started, and of resyncs: a real change overtakes it.
inline constexpr int kLowPriority = -100;

// The keys that wait for a reconcile.
//
//   Add, Done, Forget, Ask --> input buffer --> one organiser --> pending item per key
//                                                |  waiting (by ready time)
//                                                |  ready   (by priority, then order of arrival)
//                                                v
//                                          a worker that has asked;  the key is locked until Done
//
// - Every call only appends to the input buffer and returns. The organiser is a task on the
//   executor: it alone owns the items, so that they need no lock.
// - One pending item per key: the earliest ready time and the highest priority win. A priority that
//   is raised joins the end of its new level; it never goes down while the key is queued.
// - A waiting item moves to ready when its time has come; it then counts as having come just now.
// - A ready item is handed out only when a worker asks: highest priority first, first come first
//   served within a priority. A key that is handed out is locked until Done: what arrives for it
//   meanwhile merges into its next pending item and stays there, while other keys go on.
// - After ShutDown nothing is accepted and nothing handed out; pending keys are dropped, running
//   ones end in their own time.
// Passive: no thread of its own. With a ManualExecutor it runs under virtual time, with a
// ThreadExecutor beside real workers.
// Threads: any, unless said otherwise. `Take` comes on the executor.
// Source:  spec kube-machinery 2.1.
class PriorityQueue {
 public:
  struct Item {
    Request key;
    int priority = 0;
    // How long it was ready.
    absl::Duration waited = absl::ZeroDuration();
  };
  // nullopt: the queue is shut down.
  using Take = std::function<void(std::optional<Item>)>;

  struct Deps {
    util::Executor* executor = nullptr;  // the organiser's; also gives the time
    RateLimiter* limiter = nullptr;
    QueueMetrics* metrics = nullptr;  // may be null
    // Told on the executor, for reports: how long a key waited ready, and was worked on. May be
    // null.
    std::function<void(const Request& key, absl::Duration waited)> on_dispatch = nullptr;
    std::function<void(const Request& key, absl::Duration worked)> on_done = nullptr;
  };
  // As of the organiser's last step.
  struct Counts {
    size_t ready = 0;
    size_t waiting = 0;
    size_t locked = 0;
    size_t asking = 0;  // workers without work
    friend bool operator==(const Counts& a, const Counts& b) = default;
  };

  // Deps must outlive the queue.
  explicit PriorityQueue(Deps deps);
  // As ShutDown; what is still asked for is not answered any more. The executor stands still, or
  // calls this itself.
  ~PriorityQueue();
  PriorityQueue(const PriorityQueue&) = delete;
  PriorityQueue& operator=(const PriorityQueue&) = delete;

  void Add(Request key, const AddOptions& options = {});
  // One item for one worker, as soon as there is one.
  void Ask(Take take);
  // Ask, and waits for the answer; nullopt: shut down. Not on the executor.
  std::optional<Item> AskAndWait();
  // The worker has finished with the key.
  void Done(const Request& key);
  // The key's failures are forgotten.
  void Forget(const Request& key);
  int NumRequeues(const Request& key) const;
  void ShutDown();
  bool shutting_down() const;

  // For a driver that is its own executor (tests, the simulation); on the executor's thread only:
  // takes in what was added, moves what is due and hands out what is asked for.
  void Organise();
  // Organise, then the item that a worker who asks now would get, or nullopt.
  std::optional<Item> TryTake();
  // When, in the executor's uptime, the next waiting item becomes ready; InfiniteDuration: none
  // does. On the executor's thread.
  absl::Duration NextDue() const;
  Counts counts() const;

 private:
  class Core;
  const std::shared_ptr<Core> core_;
};

}  // namespace hekla::controller
