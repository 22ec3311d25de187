#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/kube/event_recorder.h"

namespace hekla::ray::controllers {

// One sentence to the users of an object. `type`, `reason` and `action` are constants of
// apis/ray/event_reasons.h.
struct EventNote {
  absl::string_view type = {};
  absl::string_view reason = {};
  absl::string_view action = {};
  std::string note = {};
};

// Where a controller's events go. Threads: any.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // `regarding`: the object as it was read; its resourceVersion is part of the reference.
  virtual void Emit(const apis::json::Value& regarding, const EventNote& event) = 0;
};

// Through an events.k8s.io recorder, whose controller name is the reporter. The recorder must
// outlive this.
class RecorderSink final : public EventSink {
 public:
  explicit RecorderSink(kube::SeriesEventRecorder* recorder) : recorder_(recorder) {}
  void Emit(const apis::json::Value& regarding, const EventNote& event) override;

 private:
  kube::SeriesEventRecorder* const recorder_;
};

}  // namespace hekla::ray::controllers
