#include "pkg/util/thread_executor.h"

#include <utility>

#include "absl/time/clock.h"
#include "pkg/util/thread_name.h"

namespace hekla::util {

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
  if (idle_) wake_.Signal();
}

Executor::TimerId ThreadExecutor::PostAfter(absl::Duration delay, Task task) {
  // Not through the list of ready tasks: this one can be cancelled until it begins.
  const absl::Time due = absl::Now() + delay;
  absl::MutexLock lock(&mutex_);
  const TimerId id = next_id_++;
  if (stopped_) return id;
  const bool first = timers_.empty() || due < timers_.begin()->first.first;
  timers_.emplace(Key(due, id), std::move(task));
  due_.emplace(id, due);
  if (first && idle_) wake_.Signal();
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

void ThreadExecutor::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    wake_.Signal();
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
    if (!timers_.empty() && timers_.begin()->first.first <= absl::Now()) {
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
    wake_.WaitWithDeadline(&mutex_,
                           timers_.empty() ? absl::InfiniteFuture() : timers_.begin()->first.first);
    idle_ = false;
  }
  return false;
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
