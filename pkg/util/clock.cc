#include "pkg/util/clock.h"

#include <ctime>

namespace hekla::util {

absl::Duration SystemUptime() {
  timespec now = {};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return absl::DurationFromTimespec(now);
}

}  // namespace hekla::util
