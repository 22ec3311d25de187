#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "pkg/apis/core/objects.h"
#include "pkg/apis/meta/string_map.h"
#include "pkg/kube/event_drops.h"
#include "pkg/kube/executor.h"
#include "pkg/kube/rest_client.h"
#include "pkg/util/clock.h"

namespace hekla::kube {

// Tells users about an object. Never blocks and never fails: what cannot be sent is dropped,
// counted and, once a minute, logged.
// Threads: any.
class EventRecorder {
 public:
  virtual ~EventRecorder() = default;
  // `type`: "Normal" or "Warning"; others are logged and dropped.
  virtual void Record(const apis::core::ObjectReference& object, absl::string_view type,
                      absl::string_view reason, absl::string_view message,
                      const apis::meta::StringMap& annotations = {}) = 0;
};

// Writes core/v1 Events as the legacy recorder does (spec 1.16): similar events are combined from
// the tenth distinct message within ten minutes on, equal ones are counted by PATCH, and each
// source and object has a budget (25, then one per 300 s).
// Quirk:   an old message can still come out alone after combining began, and a combined event has
//          no annotations.
class CoreEventRecorder final : public EventRecorder {
 public:
  struct Options {
    std::string component = {};  // "volcano"
    std::string host = {};
    size_t queue_limit = 1000;  // events not yet taken up; more are dropped
    int spam_burst = 25;
    absl::Duration spam_refill = absl::Seconds(300);
    size_t cache_keys = 4096;
    int tries = 12;  // of one write, without an answer from the server
    absl::Duration try_interval = absl::Seconds(10);
    int max_in_flight = 8;
    uint64_t seed = 1;
    EventDrops* drops = nullptr;  // outlives the recorder; may be null
  };
  struct Counters {
    int64_t recorded = 0;
    int64_t dropped_queue_full = 0;
    int64_t dropped_spam = 0;
    int64_t created = 0;  // written
    int64_t patched = 0;
    int64_t failed = 0;  // refused by the server, or out of tries
  };

  // Deps must outlive the recorder. Work runs on `executor`, which also gives the time.
  CoreEventRecorder(RestClient* client, Executor* executor, Options options);
  ~CoreEventRecorder() override;

  void Record(const apis::core::ObjectReference& object, absl::string_view type,
              absl::string_view reason, absl::string_view message,
              const apis::meta::StringMap& annotations = {}) override;
  // As EventWriter::YieldWhile. On the executor, or before it runs.
  void YieldWhile(std::function<bool()> busy);
  // As EventWriter::LookAgain, on the executor.
  void LookAgain();
  // Calls `sent` on the executor once what was recorded before is written, dropped or waits for its
  // next try. On the executor.
  void WhenSent(std::function<void()> sent);
  // What is queued and in flight; 0 when all is written or dropped.
  size_t pending() const;
  Counters counters() const;

 private:
  class Core;
  const std::shared_ptr<Core> core_;
};

// Writes events.k8s.io/v1 Events (spec 1.17): the first of a kind is created, the second makes it a
// series, later ones are counted in memory and written every half hour; a series that was silent
// for six minutes is written a last time and forgotten. What happened several times before it was
// told here is a series from the start, in one write.
// Quirk:   the first note stays; the object's resource version is part of the key.
class SeriesEventRecorder final : public EventRecorder {
 public:
  struct Options {
    std::string controller = {};  // reportingController
    std::string host = {};
    size_t queue_limit = 1000;
    int tries = 12;
    absl::Duration try_interval = absl::Seconds(10);
    int max_in_flight = 8;
    uint64_t seed = 1;
    EventDrops* drops = nullptr;  // outlives the recorder; may be null
  };

  SeriesEventRecorder(RestClient* client, Executor* executor, Options options);
  ~SeriesEventRecorder() override;

  void Record(const apis::core::ObjectReference& object, absl::string_view type,
              absl::string_view reason, absl::string_view message,
              const apis::meta::StringMap& annotations = {}) override;
  // An event with the fields that only this API has.
  struct Occurrence {
    apis::core::ObjectReference regarding = {};
    std::optional<apis::core::ObjectReference> related = std::nullopt;
    std::string type = {};
    std::string reason = {};
    std::string action = {};
    std::string note = {};
    int32_t count = 1;  // how often, since the last call
  };
  void RecordAction(Occurrence occurrence);
  size_t pending() const;
  int64_t dropped() const;

 private:
  class Core;
  const std::shared_ptr<Core> core_;
};

}  // namespace hekla::kube
