#pragma once

#include <functional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace hekla::kube {

// Whether this process may write, for RestClient::Options::may_write: as somebody says who comes
// after the clients and goes before them. Without him the answer is no. Requests may ask late, when
// a credential arrives for which nobody waits any more.
// Threads: any.
class WriteFence {
 public:
  // null: nobody says so any more. Who said so before is not asked once this returns.
  void Set(std::function<bool()> leads) {
    absl::MutexLock lock(&mutex_);
    leads_ = std::move(leads);
  }
  bool MayWrite() const {
    absl::MutexLock lock(&mutex_);
    return leads_ != nullptr && leads_();
  }

 private:
  mutable absl::Mutex mutex_;
  std::function<bool()> leads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::kube
