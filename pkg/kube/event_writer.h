#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/kube/event_drops.h"
#include "pkg/kube/executor.h"
#include "pkg/kube/resource.h"
#include "pkg/kube/rest_client.h"

namespace hekla::kube {

// Sends events to the server: a few at a time, those of one name one after the other, with the
// newest state of a name only. What gets no answer is tried again; what the server refuses is
// dropped. A PATCH of an event that is gone becomes a POST of its whole.
// Threads: the executor's; pending and counters from any.
class EventWriter {
 public:
  struct Options {
    Resource resource = {};
    size_t queue_limit = 1000;  // names waiting; more are dropped
    int max_in_flight = 8;
    int tries = 12;
    absl::Duration try_interval = absl::Seconds(10);
    // The first wait is uniform in [0, try_interval); else all are uniform in [i, i * (1 +
    // jitter)).
    bool first_wait_random = false;
    double jitter = 0;
    uint64_t seed = 1;
    EventDrops* drops = nullptr;  // outlives the writer; may be null
  };
  struct Counters {
    int64_t created = 0;
    int64_t patched = 0;
    int64_t dropped = 0;  // no room
    int64_t failed = 0;   // refused, or out of tries
  };
  struct Event {
    std::string ns = {};
    std::string name = {};
    apis::json::Value whole = {};
    apis::json::Value patch = {};  // null: the event is new
  };

  // `client` and `executor` must outlive this.
  EventWriter(RestClient* client, Executor* executor, Options options);
  ~EventWriter();

  void Write(Event event);
  // While `busy` says so, other writes are more urgent: events wait, those older than ten seconds
  // go one at a time. It is asked on the executor and must be good to ask as long as that runs;
  // whoever gives it calls LookAgain when it has become false.
  void YieldWhile(std::function<bool()> busy);
  void LookAgain();  // events go behind what is posted
  // Calls `sent` on the executor once nothing is in flight or ready to go; what waits for its next
  // try is not waited for.
  void WhenSent(std::function<void()> sent);
  size_t pending() const;
  Counters counters() const;

 private:
  class Core;
  const std::shared_ptr<Core> core_;
};

// `<object name>.<hex of nanoseconds>`, or a random UUID where that is no DNS subdomain.
std::string EventName(absl::string_view object_name, int64_t unix_nanos, uint64_t random1,
                      uint64_t random2);

}  // namespace hekla::kube
