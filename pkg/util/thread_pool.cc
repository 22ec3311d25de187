#include "pkg/util/thread_pool.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/util/thread_name.h"

namespace hekla::util {

ThreadPool::ThreadPool(const std::string& name, int threads) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this, own_name = absl::StrCat(name, "-", i)](std::stop_token stop) {
      SetThreadName(own_name);
      Loop(std::move(stop));
    });
  }
}

ThreadPool::~ThreadPool() { Stop(); }

void ThreadPool::Post(Task task) {
  absl::MutexLock lock(&mutex_);
  if (!stopped_) tasks_.push_back(std::move(task));
}

void ThreadPool::Stop() {
  std::deque<Task> dropped;
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    dropped.swap(tasks_);
  }
  for (std::jthread& thread : threads_) thread.request_stop();
  for (std::jthread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void ThreadPool::Loop(std::stop_token stop) {
  const auto work = [this]()
                        ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return stopped_ || !tasks_.empty(); };
  while (true) {
    Task task;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&work));
      if (stopped_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task(stop);
  }
}

NamedThread::NamedThread(const std::string& name, std::function<void(std::stop_token)> body)
    : thread_([name, body = std::move(body)](std::stop_token stop) {
        SetThreadName(name);
        body(std::move(stop));
      }) {}

}  // namespace hekla::util
