#pragma once

#include "absl/strings/string_view.h"
#include "pkg/model/ids.h"

namespace hekla::framework {

class Session;

// Looks on while sessions decide: the simulation's record, explanations, tests. Must not change
// anything.
// Threads: the session thread.
class SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  virtual void OnBind(const Session& session, model::TaskId task, model::NodeId node) {
    (void)session, (void)task, (void)node;
  }
  // A committed eviction; `reason` is the action's word for it.
  virtual void OnEvict(const Session& session, model::TaskId victim, absl::string_view reason) {
    (void)session, (void)victim, (void)reason;
  }
  // The actions are done; what was not committed (Pipelined tasks) still stands in the tables.
  virtual void OnClosing(const Session& session) { (void)session; }
};

}  // namespace hekla::framework
