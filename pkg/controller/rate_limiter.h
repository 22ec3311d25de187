#pragma once

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "pkg/controller/reconciler.h"
#include "pkg/util/rate_limiter.h"

namespace hekla::controller {

// How long a key that failed has to wait: min(base x 2^n, cap) at its n-th failure in a row,
// counted from 0, joined with a token bucket over all keys where there is one: the longer delay
// holds, and both are charged. Threads: any. Source:  spec kube-machinery 2.2.
class RateLimiter {
 public:
  struct Options {
    absl::Duration base = absl::Milliseconds(5);
    absl::Duration cap = absl::Seconds(1000);
    // The overall bucket; 0: none, as upstream's priority queue has it. Upstream's classic queue
    // has 10 per second and a burst of 100.
    double bucket_per_second = 10;
    double bucket_burst = 100;
  };

  explicit RateLimiter(const Options& options);

  // Counts a failure of `key` at that uptime and returns the delay that follows it.
  absl::Duration When(const Request& key, absl::Duration now);
  // The key is well again.
  void Forget(const Request& key);
  // Failures since the last Forget.
  int NumRequeues(const Request& key) const;

 private:
  const Options options_;
  std::unique_ptr<util::TokenBucket> bucket_;  // null: none
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<Request, int> failures_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::controller
