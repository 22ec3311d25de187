#include "pkg/util/rate_limiter.h"

#include <algorithm>

namespace hekla::util {

TokenBucket::TokenBucket(double per_second, double burst)
    : per_second_(per_second), burst_(burst), tokens_(burst) {}

void TokenBucket::Refill(absl::Time now) {
  if (refilled_ == absl::InfinitePast()) refilled_ = now;
  if (now <= refilled_) return;  // a clock set back gives nothing
  tokens_ = std::min(burst_, tokens_ + absl::ToDoubleSeconds(now - refilled_) * per_second_);
  refilled_ = now;
}

absl::Duration TokenBucket::Reserve(absl::Time now) {
  if (per_second_ <= 0) return absl::ZeroDuration();
  absl::MutexLock lock(&mutex_);
  Refill(now);
  tokens_ -= 1;
  if (tokens_ >= 0) return absl::ZeroDuration();
  return absl::Seconds(-tokens_ / per_second_);
}

bool TokenBucket::TryTake(absl::Time now) {
  if (per_second_ <= 0) return true;
  absl::MutexLock lock(&mutex_);
  Refill(now);
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

}  // namespace hekla::util
