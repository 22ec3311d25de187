#include "pkg/util/manual_executor.h"

#include <algorithm>
#include <utility>

namespace hekla::util {

Executor::TimerId ManualExecutor::PostAfter(absl::Duration delay, Task task) {
  if (delay > absl::ZeroDuration() && own_ != nullptr) delay = own_->TrueDelay(delay);
  const absl::Time due = clock_->Now() + std::max(delay, absl::ZeroDuration());
  absl::MutexLock lock(&mutex_);
  const TimerId id = next_id_++;
  tasks_.emplace(Key(due, id), std::move(task));
  due_.emplace(id, due);
  return id;
}

bool ManualExecutor::Cancel(TimerId id) {
  Task dropped;  // destroyed after the lock is gone: it may own things that call back
  absl::MutexLock lock(&mutex_);
  auto it = due_.find(id);
  if (it == due_.end()) return false;
  auto task = tasks_.find(Key(it->second, id));
  dropped = std::move(task->second);
  tasks_.erase(task);
  due_.erase(it);
  return true;
}

bool ManualExecutor::RunOne() {
  Task task;
  {
    absl::MutexLock lock(&mutex_);
    if (tasks_.empty() || tasks_.begin()->first.first > clock_->Now()) return false;
    auto first = tasks_.begin();
    task = std::move(first->second);
    due_.erase(first->first.second);
    tasks_.erase(first);
  }
  task();
  return true;
}

size_t ManualExecutor::RunReady() {
  size_t count = 0;
  while (RunOne()) ++count;
  return count;
}

void ManualExecutor::AdvanceTo(absl::Time time) {
  RunReady();
  for (absl::Time next = NextDue(); next <= time; next = NextDue()) {
    clock_->Set(std::max(next, clock_->Now()));
    RunReady();
  }
  if (clock_->Now() < time) clock_->Set(time);
}

absl::Time ManualExecutor::NextDue() const {
  absl::MutexLock lock(&mutex_);
  return tasks_.empty() ? absl::InfiniteFuture() : tasks_.begin()->first.first;
}

size_t ManualExecutor::pending() const {
  absl::MutexLock lock(&mutex_);
  return tasks_.size();
}

}  // namespace hekla::util
