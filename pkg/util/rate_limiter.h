#pragma once

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "pkg/util/clock.h"

namespace hekla::util {

// A token bucket that starts full. Takes the time (Clock::Uptime) from its caller, so that it works
// under any clock.
// Threads: any.
class TokenBucket {
 public:
  // `per_second` <= 0: never limits.
  TokenBucket(double per_second, double burst);

  // Takes a token, on credit if need be. Returns how long the caller has to wait before it uses
  // it; those who ask first wait least.
  absl::Duration Reserve(absl::Duration uptime);
  // Takes a token if one is there.
  bool TryTake(absl::Duration uptime);

 private:
  void Refill(absl::Duration uptime) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const double per_second_;
  const double burst_;
  absl::Mutex mutex_;
  double tokens_ ABSL_GUARDED_BY(mutex_);
  absl::Duration refilled_ ABSL_GUARDED_BY(mutex_) = kNotYet;
};

}  // namespace hekla::util
