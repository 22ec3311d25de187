#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "pkg/util/executor.h"

namespace hekla::scheduler {

// Decides when cycles run: soon after something has happened, and at the latest after a while.
// Threads: Wake from any thread; the cycle runs as a task of the executor. All else from tasks of
//          the executor, or while it is not running.
class CycleLoop {
 public:
  struct Options {
    // Shortest time between the starts of two cycles.
    absl::Duration min_gap = absl::Milliseconds(10);
    // Longest time between the end of one cycle and the start of the next.
    absl::Duration period = absl::Seconds(1);
  };

  // `executor` must outlive the loop. Tasks that are still posted when the loop goes do nothing.
  CycleLoop(util::Executor* executor, Options options, std::function<void()> cycle);
  ~CycleLoop();
  CycleLoop(const CycleLoop&) = delete;
  CycleLoop& operator=(const CycleLoop&) = delete;

  // The first cycle runs at once.
  void Start();
  // Something has happened that a cycle should see. Cheap when a cycle is already on its way.
  void Wake();
  // No further cycle begins.
  void Stop();

 private:
  struct Core;
  const std::shared_ptr<Core> core_;
};

}  // namespace hekla::scheduler
