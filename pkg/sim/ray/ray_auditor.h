#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/sim/auditor.h"

namespace hekla::sim {

// Looks at every change of RayClusters and pods and says what must never happen. Shares no code
// with the operator.
//   - more worker pods of a group than its spec asked for at any time of the last minutes, at the
//     moment one is made: two pods for one missing replica;
//   - a second head pod;
//   - at the end: children of owners that are gone, clusters that wait for a finalizer.
class RayAuditor {
 public:
  // How long a former spec may still be acted upon: watches lag.
  explicit RayAuditor(absl::Duration staleness) : staleness_(staleness) {}

  // Every change, in order, "ADDED", "MODIFIED" or "DELETED".
  void ObserveCluster(absl::string_view type, const apis::json::Value& cluster, absl::Time now);
  void ObservePod(absl::string_view type, const apis::json::Value& pod, absl::Time now);
  // When faults have stopped and nothing moves any more. `objects`: everything with owners.
  void CheckEnd(const std::vector<apis::json::Value>& objects, absl::Time now);

  const std::vector<Violation>& violations() const { return violations_; }
  int64_t pods_made() const { return pods_made_; }

 private:
  struct Asked {
    absl::Time until;  // when it was replaced; InfiniteFuture while it holds
    std::map<std::string, int64_t> pods_per_group;
  };
  struct Cluster {
    std::string name;  // namespace/name
    std::deque<Asked> asked;
    bool terminating = false;
  };
  struct Pod {
    std::string owner;  // uid
    std::string group;
    bool head = false;
  };

  void CheckNewPod(const Pod& pod, const std::string& name, absl::Time now);
  void Report(absl::Time now, std::string rule, std::string text);

  const absl::Duration staleness_;
  std::map<std::string, Cluster> clusters_;  // by uid
  std::map<std::string, Pod> pods_;          // by uid
  // Live pods by (owner, group); heads under group "".
  std::map<std::pair<std::string, std::string>, std::set<std::string>> live_;
  std::vector<Violation> violations_;
  int64_t pods_made_ = 0;
};

}  // namespace hekla::sim
