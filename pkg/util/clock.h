#pragma once

#include <cstdint>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace hekla::util {

// An uptime before any other: of what has not happened yet.
inline constexpr absl::Duration kNotYet = -absl::InfiniteDuration();

// The time of day, and the time that passes. Components take one in their constructor and never ask
// the system.
class Clock {
 public:
  virtual ~Clock() = default;
  // The time of day: what is written into objects, and what expires at a date. It may be set back
  // or forward at any moment.
  virtual absl::Time Now() const = 0;
  // What durations are measured by: never goes back or jumps, whatever becomes of the time of day.
  // Counted from some moment before: only differences mean anything, and of one machine only.
  virtual absl::Duration Uptime() const = 0;
};

// The system's uptime, with the time that the machine was suspended: a lease runs on meanwhile.
absl::Duration SystemUptime();

class SystemClock final : public Clock {
 public:
  absl::Time Now() const override { return absl::Now(); }
  absl::Duration Uptime() const override { return SystemUptime(); }
};

// Stands still until told otherwise.
// Threads: any.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(absl::Time start = absl::FromUnixSeconds(1767225600))
      : start_(start), now_(start) {}
  absl::Time Now() const override {
    absl::MutexLock lock(&mutex_);
    return now_;
  }
  absl::Duration Uptime() const override { return Now() - start_; }
  void Advance(absl::Duration d) {
    absl::MutexLock lock(&mutex_);
    now_ += d;
  }
  void Set(absl::Time t) {
    absl::MutexLock lock(&mutex_);
    now_ = t;
  }

 private:
  const absl::Time start_;
  mutable absl::Mutex mutex_;
  absl::Time now_ ABSL_GUARDED_BY(mutex_);
};

// The clock of one machine under a virtual time: its time of day is apart from the true one by what
// it was stepped, and its time passes at a rate of its own.
// Threads: one at a time.
class SkewedClock final : public Clock {
 public:
  // `truth` must outlive it. `rate_permille`: 1100 is fast by a tenth.
  explicit SkewedClock(const FakeClock* truth, int64_t rate_permille = 1000)
      : truth_(*truth), start_(truth->Now()), rate_permille_(rate_permille) {}

  absl::Time Now() const override { return start_ + Uptime() + stepped_; }
  absl::Duration Uptime() const override { return (truth_.Now() - start_) * rate_permille_ / 1000; }
  // Somebody sets the time of day.
  void Step(absl::Duration d) { stepped_ += d; }
  // How long it truly takes until this clock has counted that; never shorter.
  absl::Duration TrueDelay(absl::Duration counted) const {
    if (rate_permille_ == 1000) return counted;
    return counted * 1000 / rate_permille_ + absl::Nanoseconds(1);
  }

 private:
  const FakeClock& truth_;
  const absl::Time start_;
  const int64_t rate_permille_;
  absl::Duration stepped_ = absl::ZeroDuration();
};

}  // namespace hekla::util
