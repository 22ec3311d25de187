#include "pkg/util/backoff.h"

#include <algorithm>

namespace hekla::util {

absl::Duration Backoff::Next(absl::Duration uptime) {
  if (reset_ == kNotYet || uptime - reset_ > options_.reset_after) Reset(uptime);
  delay_ = delay_ == absl::ZeroDuration() ? options_.base
                                          : std::min(options_.cap, delay_ * options_.factor);
  return delay_ * (1 + options_.jitter * random_.Unit());
}

void Backoff::Reset(absl::Duration uptime) {
  delay_ = absl::ZeroDuration();
  reset_ = uptime;
}

}  // namespace hekla::util
