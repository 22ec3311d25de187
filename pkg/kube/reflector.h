#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/kube/executor.h"
#include "pkg/kube/resource.h"
#include "pkg/kube/rest_client.h"
#include "pkg/kube/watch_decoder.h"

namespace hekla::kube {

// What a reflector reports. All calls come on its executor, one at a time.
//   A full state: BeginReplace, any number of ReplaceItem, then EndReplace or AbortReplace. What
//   the receiver held and the full state does not name is gone. After the first EndReplace: OnEvent
//   for every change, in order.
class ReflectorSink {
 public:
  virtual ~ReflectorSink() = default;
  virtual void BeginReplace() = 0;
  virtual void ReplaceItem(apis::json::Value object) = 0;
  virtual void EndReplace(const std::string& resource_version) = 0;
  virtual void AbortReplace() = 0;
  // kAdded, kModified, kDeleted.
  virtual void OnEvent(EventType type, apis::json::Value object) = 0;
  virtual void OnBookmark(const std::string& resource_version) = 0;
  // A round failed and will be tried again: for logs, counters, readiness (kPermissionDenied).
  virtual void OnError(const absl::Status& status) = 0;
};

// Mirrors the objects of one kind: lists, watches, resumes, relists (spec 1.13). Passive: driven by
// answers of the client and by timers of its executor, which also gives it the time.
// WatchList is tried first in every round and falls back to paged lists where the server does not
// offer it.
// Threads: the executor's; Start and Stop too, or while the executor stands still.
// Quirk:   the back-off resets two minutes after its last reset, not after the last failure.
class Reflector {
 public:
  struct Options {
    Resource resource = {};
    std::string ns = {};  // "": all
    std::string label_selector = {};
    std::string field_selector = {};
    // Dotted paths in an object (json::Omission) that the sink has no use for and never sees.
    std::vector<absl::string_view> unread = {};
    bool watch_list = true;
    int64_t page_size = 500;
    // A watch asks for a random number of seconds in [min, 2 * min).
    absl::Duration min_watch_time = absl::Minutes(5);
    // A stream silent for its whole time and this much longer is given up.
    absl::Duration silence_margin = absl::Seconds(5);
    absl::Duration list_timeout = absl::Seconds(120);
    uint64_t seed = 1;
  };
  // What happened since the start; for metrics and tests.
  struct Counters {
    int64_t lists = 0;          // list requests, pages counted once each
    int64_t watches = 0;        // watch requests
    int64_t events = 0;         // events handed on
    int64_t short_watches = 0;  // closed within a second without an event
    int64_t expired = 0;        // 410 answers and events
    int64_t failures = 0;       // rounds that ended in the back-off
  };

  // `client` and `sink` must outlive the reflector. Work runs on `executor`.
  Reflector(RestClient* client, Executor* executor, ReflectorSink* sink, Options options);
  ~Reflector();

  void Start();
  // Nothing is reported after Stop has returned.
  void Stop();
  // The resource version up to which the sink is current; "" before the first full state.
  const std::string& last_resource_version() const;
  const Counters& counters() const;

 private:
  class Core;
  const std::shared_ptr<Core> core_;
};

}  // namespace hekla::kube
