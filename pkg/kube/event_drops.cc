#include "pkg/kube/event_drops.h"

#include "glog/logging.h"

namespace hekla::kube {

EventDrops::EventDrops(metrics::Registry& registry) {
  metrics::CounterFamily& family = registry.NewCounterFamily(
      "hekla_events_dropped_total", "Events that were not written, by reason.", {"reason"});
  queue_full = family.With({"queue_full"});
  rate_limited = family.With({"rate_limited"});
  not_written = family.With({"not_written"});
}

void DropLog::Add(absl::Duration now, absl::string_view last) {
  ++untold_;
  if (now < next_) return;
  LOG(WARNING) << "Unable to record event: too many queued events, dropped event count=" << untold_
               << " last " << last;
  next_ = now + kInterval;
  untold_ = 0;
  ++lines_;
}

}  // namespace hekla::kube
