#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "pkg/util/clock.h"
#include "pkg/util/random.h"

namespace hekla::util {

// Growing delays between tries. Not thread-safe.
class Backoff {
 public:
  struct Options {
    absl::Duration base = absl::Milliseconds(800);
    absl::Duration cap = absl::Seconds(30);
    double factor = 2;
    // A delay d becomes uniform in [d, d * (1 + jitter)).
    double jitter = 1;
    // The growth starts anew once this long has passed since it last started, whatever failed in
    // between.
    absl::Duration reset_after = absl::InfiniteDuration();
  };

  Backoff(const Options& options, uint64_t seed) : options_(options), random_(seed) {}

  // The delay before the next try; `uptime` is Clock::Uptime.
  absl::Duration Next(absl::Duration uptime);
  void Reset(absl::Duration uptime);

 private:
  const Options options_;
  Random random_;
  absl::Duration delay_ = absl::ZeroDuration();  // zero: at the start
  absl::Duration reset_ = kNotYet;
};

}  // namespace hekla::util
