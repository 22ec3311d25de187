#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "pkg/controller/controller.h"

namespace hekla::controller {

// The threads that reconcile: as many per controller as it may run at once. The only part of this
// library with threads; made by programs, never by the simulation.
class WorkerPool {
 public:
  WorkerPool() = default;
  // As Join.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Starts the controller's workers; they end when its queue is shut down.
  void Start(Controller* controller);
  // Waits for all of them. The queues must be shut down, and their executors still run.
  void Join();

 private:
  std::vector<std::thread> threads_;
};

}  // namespace hekla::controller
