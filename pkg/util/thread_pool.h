#pragma once

#include <deque>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"

namespace hekla::util {

// A fixed number of named threads that take tasks from one queue.
// Threads: all calls from any thread, Stop excepted.
class ThreadPool {
 public:
  using Task = std::function<void(std::stop_token)>;

  ThreadPool(const std::string& name, int threads);
  // As Stop.
  ~ThreadPool();

  // Tasks posted after Stop are dropped.
  void Post(Task task);
  // Asks running tasks to stop through their token, drops waiting ones, joins the threads.
  void Stop();

 private:
  void Loop(std::stop_token stop);

  absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;
};

// A named thread that runs `body` until it returns; joined by the destructor, which asks it to stop
// first. `body` gets the token and has to look at it.
class NamedThread {
 public:
  NamedThread() = default;
  NamedThread(const std::string& name, std::function<void(std::stop_token)> body);
  void RequestStop() { thread_.request_stop(); }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::jthread thread_;
};

}  // namespace hekla::util
