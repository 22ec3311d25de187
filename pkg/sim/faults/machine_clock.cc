#include "pkg/sim/faults/machine_clock.h"

#include <iterator>

namespace hekla::sim {
namespace {

// Uniform in [low, high].
int64_t Between(util::Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random.Below(static_cast<uint64_t>(high - low + 1)));
}

}  // namespace

MachineClock DrawMachineClock(util::Random& random) {
  MachineClock clock;
  clock.ahead = absl::Milliseconds(Between(random, -3600000, 3600000));
  if (random.Below(2) == 0) {
    clock.rate_permille = Between(random, kSlowestPermille, kFastestPermille);
  }
  return clock;
}

absl::Duration DrawClockStep(util::Random& random) {
  static constexpr int64_t kLengths[] = {1000, 5000, 20000, 100000, 600000, 3600000};
  const int64_t length = kLengths[random.Below(std::size(kLengths))];
  const absl::Duration step = absl::Milliseconds(Between(random, length, 3 * length));
  return random.Below(2) == 0 ? step : -step;
}

}  // namespace hekla::sim
