#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"

namespace hekla::sim {

struct Violation {
  absl::Time time;
  std::string
      rule;  // "node-capacity", "bound-twice", "gang-minimum", "queue-capability", "vanished-node"
  std::string text;
};

// What the auditor has to see, in this order: pods are judged by what is there already.
inline constexpr const char* kAuditedPaths[] = {
    "/api/v1/nodes", "/apis/scheduling.volcano.sh/v1beta1/queues",
    "/apis/scheduling.volcano.sh/v1beta1/podgroups", "/api/v1/pods"};

// Watches the cluster from outside and says when an invariant of the design (section 8) is broken.
// Reads API objects only and shares no code with the scheduler: its own quantities, its own pod
// requests. Checks:  - when a pod gets a node: the node exists, and no amount of it (pods included)
// is exceeded;
//          - a pod's node never changes, and no other pod of the same name and UID exists;
//          - no queue is above its capability along its whole ancestor path when a pod of it is
//          bound;
//          - at the end of a step: a gang with a newly bound member has at least minMember members
//          (and
//            the minimum of every role, where minMember covers their sum) placed or finished.
// Cost:    O(size of the object) per event.
class Auditor {
 public:
  struct Options {
    // Off where bindings are made to fail: a gang is then legally incomplete until its retry.
    bool check_gangs = true;
    // A binding onto a node that changed or went away this recently is no finding: with a lagging
    // watch the scheduler could not know.
    absl::Duration staleness = absl::ZeroDuration();
    std::string default_queue = "default";
  };
  explicit Auditor(Options options);
  ~Auditor();

  // One change: "ADDED", "MODIFIED" or "DELETED" with the object after it (before it, if deleted).
  void Observe(absl::string_view type, const apis::json::Value& object, absl::Time now);
  // All writes of one decision have arrived.
  void EndOfStep(absl::Time now);

  const std::vector<Violation>& violations() const { return violations_; }
  // Bindings seen.
  int64_t bindings() const { return bindings_; }

 private:
  struct World;
  void ObserveNode(bool gone, const apis::json::Value& node, absl::Time now);
  void ObservePod(bool gone, const apis::json::Value& pod, absl::Time now);
  void CheckBinding(const std::string& uid, absl::Time now);
  void Report(absl::Time now, absl::string_view rule, std::string text);

  Options options_;
  std::unique_ptr<World> world_;
  std::vector<Violation> violations_;
  int64_t bindings_ = 0;
};

}  // namespace hekla::sim
