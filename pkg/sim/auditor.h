#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/sim/cluster_mirror.h"

namespace hekla::sim {

struct Violation {
  absl::Time time;
  std::string rule;  // "node-capacity", "bound-twice", "gang-minimum", ...
  std::string text;
};

// Watches the cluster from outside and says when an invariant of the design (section 8) is broken.
// Reads API objects only and shares no code with the scheduler: its own quantities, its own pod
// requests. Checks:
//   - a pod's node never changes;
//   - where arrivals are judged, when a pod gets a node: the node exists, and no amount of it (pods
//     included) is exceeded; no queue is above its capability along its whole ancestor path;
//   - where gangs are judged, at the end of a step: a gang with a newly bound member has at least
//     minMember members (and the minimum of every role, where minMember covers their sum) placed or
//     finished.
// Cost:    O(size of the object) per event.
class Auditor {
 public:
  struct Options {
    // Off where bindings are made to fail: a gang is then legally incomplete until its retry.
    bool check_gangs = true;
    // Off where decisions are judged when they are taken (DecisionAuditor): what arrives late may
    // meet another cluster.
    bool check_arrivals = true;
    std::string default_queue = "default";
  };
  explicit Auditor(Options options);

  // One change: "ADDED", "MODIFIED" or "DELETED" with the object after it (before it, if deleted).
  void Observe(absl::string_view type, const apis::json::Value& object, absl::Time now);
  // All writes of one decision have arrived.
  void EndOfStep(absl::Time now);

  const ClusterMirror& mirror() const { return mirror_; }
  ClusterMirror& mirror() { return mirror_; }
  const std::vector<Violation>& violations() const { return violations_; }
  // Bindings seen.
  int64_t bindings() const { return bindings_; }

 private:
  void CheckBinding(const ClusterMirror::Pod& pod, absl::Time now);
  void CheckGang(const std::string& key, absl::Time now);
  void Report(absl::Time now, absl::string_view rule, std::string text);

  const Options options_;
  ClusterMirror mirror_;
  std::set<std::string> fresh_groups_;  // bound a member in this step
  std::vector<Violation> violations_;
  int64_t bindings_ = 0;
};

}  // namespace hekla::sim
