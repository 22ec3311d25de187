#include "pkg/controller/rate_limiter.h"

#include <algorithm>

namespace hekla::controller {

RateLimiter::RateLimiter(const Options& options) : options_(options) {
  if (options.bucket_per_second > 0) {
    bucket_ = std::make_unique<util::TokenBucket>(options.bucket_per_second, options.bucket_burst);
  }
}

absl::Duration RateLimiter::When(const Request& key, absl::Duration now) {
  int failures = 0;
  {
    absl::MutexLock lock(&mutex_);
    failures = failures_[key]++;
  }
  // Beyond 2^62 the product says nothing any more; the cap is long reached.
  const absl::Duration exponential =
      failures >= 62 ? options_.cap
                     : std::min(options_.cap, options_.base * (int64_t{1} << failures));
  return bucket_ == nullptr ? exponential : std::max(exponential, bucket_->Reserve(now));
}

void RateLimiter::Forget(const Request& key) {
  absl::MutexLock lock(&mutex_);
  failures_.erase(key);
}

int RateLimiter::NumRequeues(const Request& key) const {
  absl::MutexLock lock(&mutex_);
  const auto it = failures_.find(key);
  return it == failures_.end() ? 0 : it->second;
}

}  // namespace hekla::controller
