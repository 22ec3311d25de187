#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "pkg/assembly/scheduler_graph.h"
#include "pkg/http/server.h"
#include "pkg/util/executor.h"

namespace hekla::assembly {

// What a running scheduler tells about itself; meant for a listener on the local machine.
//   GET /debug/explain?pod=ns/name        why the pod is where it is, as JSON
//   GET /debug/explain?podgroup=ns/name   likewise
// 400: neither or both are named. 404: the scheduler knows no such object. 503: it does not answer
// in time, has not run a cycle (a standby never does), or has too many questions already. Bodies of
// errors are {"error": "..."}. A name without a namespace is looked up in `default`.
//
// Reads only. The question waits for the end of the cycle at hand; the tables take no lock.
// Threads: any; never blocks.
class DebugHandler final : public http::Handler {
 public:
  struct Options {
    absl::Duration timeout = absl::Seconds(2);
    int max_waiting = 8;
  };
  // `timers` and `graph` outlive the last request.
  DebugHandler(SchedulerGraph* graph, util::Executor* timers, Options options);
  DebugHandler(SchedulerGraph* graph, util::Executor* timers)
      : DebugHandler(graph, timers, Options()) {}

  void Handle(http::Request request, const http::Peer& peer,
              std::shared_ptr<http::Responder> responder) override;

 private:
  void Explain(const http::Target& target, std::shared_ptr<http::Responder> responder);

  SchedulerGraph* const graph_;
  util::Executor* const timers_;
  const Options options_;
  const std::shared_ptr<std::atomic<int>> waiting_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace hekla::assembly
