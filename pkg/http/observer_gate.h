#pragma once

#include <thread>

#include "absl/synchronization/mutex.h"
#include "pkg/http/client.h"

namespace hekla::http {

// Stands between a transport's thread and a StreamObserver that may go away: after Close has
// returned, the observer is not called any more.
class ObserverGate {
 public:
  explicit ObserverGate(StreamObserver* observer) : observer_(observer) {}

  // Calls `f(observer)` unless closed. On one thread at a time.
  template <typename F>
  bool Call(F f) {
    StreamObserver* observer;
    {
      absl::MutexLock lock(&mutex_);
      if (observer_ == nullptr) return false;
      observer = observer_;
      busy_ = std::this_thread::get_id();
    }
    f(*observer);
    absl::MutexLock lock(&mutex_);
    busy_ = std::thread::id();
    return observer_ != nullptr;
  }
  // Waits for a call under way, unless that is the one it is called from.
  void Close() {
    absl::MutexLock lock(&mutex_);
    observer_ = nullptr;
    const auto idle = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
      return busy_ == std::thread::id() || busy_ == std::this_thread::get_id();
    };
    if (!idle()) mutex_.Await(absl::Condition(&idle));
  }
  bool closed() const {
    absl::MutexLock lock(&mutex_);
    return observer_ == nullptr;
  }

 private:
  mutable absl::Mutex mutex_;
  StreamObserver* observer_ ABSL_GUARDED_BY(mutex_);
  std::thread::id busy_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::http
