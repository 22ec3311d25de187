#pragma once

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/metrics/registry.h"
#include "pkg/util/clock.h"

namespace hekla::kube {

// Counts the events of one process that nobody will see: `hekla_events_dropped_total` by reason.
struct EventDrops {
  // `registry` must outlive this.
  explicit EventDrops(metrics::Registry& registry);

  std::shared_ptr<metrics::Counter> queue_full;    // more waited than there is room for
  std::shared_ptr<metrics::Counter> rate_limited;  // more about one object than its budget
  std::shared_ptr<metrics::Counter> not_written;   // refused by the server, or out of tries
};

// Says that events were dropped: the first at once, later ones once per interval, with their
// number. Threads: one at a time.
class DropLog {
 public:
  static constexpr absl::Duration kInterval = absl::Minutes(1);

  // `now` is an uptime. `last`: something about the event, for instance "reason=Scheduled".
  void Add(absl::Duration now, absl::string_view last);
  // Lines written so far.
  int64_t lines() const { return lines_; }

 private:
  absl::Duration next_ = util::kNotYet;
  int64_t untold_ = 0;
  int64_t lines_ = 0;
};

}  // namespace hekla::kube
