#include "pkg/util/rate_limiter.h"

#include <algorithm>

namespace hekla::util {

TokenBucket::TokenBucket(double per_second, double burst)
    : per_second_(per_second), burst_(burst), tokens_(burst) {}

void TokenBucket::Refill(absl::Duration uptime) {
  if (refilled_ == kNotYet) refilled_ = uptime;
  if (uptime <= refilled_) return;  // another thread's is newer
  tokens_ = std::min(burst_, tokens_ + absl::ToDoubleSeconds(uptime - refilled_) * per_second_);
  refilled_ = uptime;
}

absl::Duration TokenBucket::Reserve(absl::Duration uptime) {
  if (per_second_ <= 0) return absl::ZeroDuration();
  absl::MutexLock lock(&mutex_);
  Refill(uptime);
  tokens_ -= 1;
  if (tokens_ >= 0) return absl::ZeroDuration();
  return absl::Seconds(-tokens_ / per_second_);
}

bool TokenBucket::TryTake(absl::Duration uptime) {
  if (per_second_ <= 0) return true;
  absl::MutexLock lock(&mutex_);
  Refill(uptime);
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

}  // namespace hekla::util
