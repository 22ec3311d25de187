#include "pkg/util/backoff.h"

#include <algorithm>

namespace hekla::util {

absl::Duration Backoff::Next(absl::Time now) {
  if (reset_ == absl::InfinitePast() || now - reset_ > options_.reset_after) Reset(now);
  delay_ = delay_ == absl::ZeroDuration() ? options_.base
                                          : std::min(options_.cap, delay_ * options_.factor);
  return delay_ * (1 + options_.jitter * random_.Unit());
}

void Backoff::Reset(absl::Time now) {
  delay_ = absl::ZeroDuration();
  reset_ = now;
}

}  // namespace hekla::util
