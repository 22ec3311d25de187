#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/controller/event.h"
#include "pkg/kube/event_recorder.h"

namespace hekla::ray::controllers {

// One sentence to the users of an object. `type`, `reason` and `action` are constants of
// apis/ray/event_reasons.h.
struct EventNote {
  absl::string_view type = {};
  absl::string_view reason = {};
  absl::string_view action = {};
  std::string note = {};
  int32_t count = 1;  // how often it happened
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

// The events of one pass over one object, told at its end: what a pass does several times is told
// once, with its count and the first note, as a series of the recorder would end up.
// Threads: one.
class PassEvents {
 public:
  // `sink` must outlive this.
  PassEvents(EventSink* sink, controller::ObjectPtr regarding)
      : sink_(sink), regarding_(std::move(regarding)) {}
  ~PassEvents();
  PassEvents(const PassEvents&) = delete;
  PassEvents& operator=(const PassEvents&) = delete;

  void Add(EventNote note);

 private:
  EventSink* const sink_;
  const controller::ObjectPtr regarding_;
  std::vector<EventNote> notes_;  // in the order in which they came first
};

}  // namespace hekla::ray::controllers
