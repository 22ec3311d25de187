#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/sim/auditor.h"
#include "pkg/sim/decision_auditor.h"
#include "pkg/sim/faults/fault_transport.h"

namespace hekla::sim {

// Stands at the network's edge of one scheduler process and judges the bindings it sends:
//   - a binding leaves only while the process holds the lease ("two-leaders");
//   - none for a pod whose binding is under way or was confirmed ("bound-twice");
//   - after a binding that failed, or of which nobody knows, the pod is read before the next one
//     ("not-read-again"); 429 alone tells that it had no effect;
//   - each was decided by a cycle ("undecided").
class BindingWatcher final : public CallWatcher {
 public:
  struct Deps {
    DecisionAuditor* decisions = nullptr;
    const ClusterMirror* mirror = nullptr;
    std::function<absl::Time()> now;
    std::function<bool()> leads;
  };
  explicit BindingWatcher(Deps deps) : deps_(std::move(deps)) {}

  bool OnSent(const http::Request& request) override;
  void OnAnswered(const http::Request& request,
                  const absl::StatusOr<http::Response>& answer) override;
  // The pod is gone.
  void Forget(const std::string& uid) { bindings_.erase(uid); }

  const std::vector<Violation>& violations() const { return violations_; }

 private:
  enum class State { kSent, kConfirmed, kWithoutEffect, kUnknown };
  struct Binding {
    std::string pod;  // "ns/name"
    State state = State::kSent;
  };
  bool OnBinding(const http::Request& request);
  void Report(absl::string_view rule, std::string text);

  const Deps deps_;
  std::map<std::string, Binding> bindings_;  // by uid
  std::vector<Violation> violations_;
};

}  // namespace hekla::sim
