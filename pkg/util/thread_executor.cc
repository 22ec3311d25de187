#include "pkg/util/thread_executor.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/time/clock.h"
#include "pkg/util/clock.h"
#include "pkg/util/thread_name.h"

namespace hekla::util {
namespace {

// One wait at most: far from what a steady time can express, and short enough that nobody minds to
// wake for it.
constexpr absl::Duration kLongestSleep = absl::Hours(1);

// A mutex that is held, under the names by which the standard library gives it up and takes it
// again.
class Held {
 public:
  explicit Held(absl::Mutex* mutex) : mutex_(*mutex) {}
  void lock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Lock(); }
  void unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }

 private:
  absl::Mutex& mutex_;
};

}  // namespace

ThreadExecutor::ThreadExecutor(const std::string& name)
    : thread_([this, name] {
        SetThreadName(name);
        Loop();
      }) {}

ThreadExecutor::~ThreadExecutor() { Stop(); }

void ThreadExecutor::Post(Task task) {
  absl::MutexLock lock(&mutex_);
  if (stopped_) return;
  ready_.push_back(std::move(task));
  if (idle_) wake_.notify_one();
}

Executor::TimerId ThreadExecutor::PostAfter(absl::Duration delay, Task task) {
  // Not through the list of ready tasks: this one can be cancelled until it begins.
  const absl::Duration due = SystemUptime() + delay;
  absl::MutexLock lock(&mutex_);
  const TimerId id = next_id_++;
  if (stopped_) return id;
  const bool first = timers_.empty() || due < timers_.begin()->first.first;
  timers_.emplace(Key(due, id), std::move(task));
  due_.emplace(id, due);
  if (first && idle_) wake_.notify_one();
  return id;
}

bool ThreadExecutor::Cancel(TimerId id) {
  Task dropped;  // destroyed after the lock is gone: it may own things that call back
  absl::MutexLock lock(&mutex_);
  auto it = due_.find(id);
  if (it == due_.end()) return false;
  auto task = timers_.find(Key(it->second, id));
  dropped = std::move(task->second);
  timers_.erase(task);
  due_.erase(it);
  return true;
}

absl::Time ThreadExecutor::Now() const { return absl::Now(); }
absl::Duration ThreadExecutor::Uptime() const { return SystemUptime(); }

void ThreadExecutor::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    wake_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  std::vector<Task> ready;
  std::map<Key, Task> timers;
  absl::MutexLock lock(&mutex_);
  ready.swap(ready_);
  timers.swap(timers_);
  due_.clear();
}

bool ThreadExecutor::Take(std::vector<Task>& batch) {
  absl::MutexLock lock(&mutex_);
  while (!stopped_) {
    if (!timers_.empty() && timers_.begin()->first.first <= SystemUptime()) {
      // One at a time, so that the one after it can still be cancelled by this one.
      due_.erase(timers_.begin()->first.second);
      batch.push_back(std::move(timers_.begin()->second));
      timers_.erase(timers_.begin());
      return true;
    }
    if (!ready_.empty()) {
      batch.swap(ready_);
      return true;
    }
    idle_ = true;
    Sleep();
    idle_ = false;
  }
  return false;
}

void ThreadExecutor::Sleep() {
  const absl::Duration left =
      timers_.empty() ? absl::InfiniteDuration() : timers_.begin()->first.first - SystemUptime();
  Held held(&mutex_);
  wake_.wait_until(held, std::chrono::steady_clock::now() +
                             absl::ToChronoNanoseconds(std::min(left, kLongestSleep)));
}

void ThreadExecutor::Loop() {
  std::vector<Task> batch;
  while (Take(batch)) {
    for (Task& task : batch) {
      task();
      task = nullptr;  // what it owns goes on this thread, before the next one runs
    }
    batch.clear();
  }
}

}  // namespace hekla::util
