#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "pkg/model/delta.h"

namespace hekla::cache {

// The only way from ingest to the tables. Order is kept.
// Threads: any; one reader.
class DeltaQueue {
 public:
  // `wake` may be null; it is called without the lock.
  explicit DeltaQueue(std::function<void()> wake) : wake_(std::move(wake)) {}

  // `quiet`: nothing that a cycle has to look at soon.
  void Push(model::Delta delta, bool quiet = false) {
    {
      absl::MutexLock lock(&mutex_);
      deltas_.push_back(std::move(delta));
    }
    if (!quiet) Wake();
  }
  // Moves everything queued into `out`, which keeps its capacity over calls.
  void TakeAll(std::vector<model::Delta>& out) {
    out.clear();
    absl::MutexLock lock(&mutex_);
    out.swap(deltas_);
  }
  void Wake() const {
    if (wake_ != nullptr) wake_();
  }
  size_t size() const {
    absl::MutexLock lock(&mutex_);
    return deltas_.size();
  }

 private:
  const std::function<void()> wake_;
  mutable absl::Mutex mutex_;
  std::vector<model::Delta> deltas_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::cache
