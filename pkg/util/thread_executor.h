#pragma once

#include <condition_variable>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "pkg/util/executor.h"

namespace hekla::util {

// An executor with one named thread of its own and the system's time. Delays go on while somebody
// sets the time of day. While the machine is suspended Uptime goes on, but a timer wakes nobody: it
// may come late by as long as it still had to go.
class ThreadExecutor final : public Executor {
 public:
  // `name`: at most 15 characters are visible in tools.
  explicit ThreadExecutor(const std::string& name);
  // As Stop.
  ~ThreadExecutor() override;

  void Post(Task task) override;
  TimerId PostAfter(absl::Duration delay, Task task) override;
  bool Cancel(TimerId id) override;
  absl::Time Now() const override;
  absl::Duration Uptime() const override;

  // Waits for the tasks at hand, drops the others and joins the thread. What is posted
  // later is dropped. Not from a task.
  void Stop();

 private:
  using Key = std::pair<absl::Duration, TimerId>;  // due, in uptime

  // Waits for work; false once stopped.
  bool Take(std::vector<Task>& batch);
  // Waits until woken, or until the first timer is due.
  void Sleep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Loop();

  absl::Mutex mutex_;
  // Not abseil's: what that waits for is a time of day, and a clock that is set back stops it.
  std::condition_variable_any wake_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool idle_ ABSL_GUARDED_BY(mutex_) = false;
  TimerId next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  std::vector<Task> ready_ ABSL_GUARDED_BY(mutex_);
  std::map<Key, Task> timers_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<TimerId, absl::Duration> due_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace hekla::util
