#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "pkg/util/random.h"

namespace hekla::sim {

// How the clock of a machine is when a process starts on it.
struct MachineClock {
  absl::Duration ahead = absl::ZeroDuration();  // of the true time of day
  int64_t rate_permille = 1000;                 // how fast its time passes
};

// The fastest and the slowest that are drawn: apart by less than lease duration : renew deadline
// (3 : 2), which is what an election bears.
inline constexpr int64_t kFastestPermille = 1150;
inline constexpr int64_t kSlowestPermille = 850;

// Of a machine that nobody looks after: up to an hour off, every second one at a pace of its own.
MachineClock DrawMachineClock(util::Random& random);
// By how much somebody sets a clock: back or forward, from a second to three hours, every length as
// often.
absl::Duration DrawClockStep(util::Random& random);

}  // namespace hekla::sim
