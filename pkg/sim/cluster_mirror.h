#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"

namespace hekla::sim {

// Thousandths of the unit, by resource, so that every quantity in use is whole.
using Amounts = std::map<std::string, __int128>;

// Anything unreadable counts as zero: the API server has validated it before.
Amounts ParseAmounts(const apis::json::Value& map);
void Add(Amounts& to, const Amounts& what, int sign = 1);
// 0 where there is none of it.
__int128 AmountOf(const Amounts& amounts, const std::string& resource);
// Sum of containers and sidecars, or the largest init phase if that is more, plus overhead and one
// of "pods".
Amounts RequestOf(const apis::json::Value& pod);
// "2.5"
std::string Show(__int128 milli);

// What the auditors have to see, in this order: pods are judged by what is there already.
inline constexpr const char* kAuditedPaths[] = {
    "/api/v1/nodes", "/apis/scheduling.volcano.sh/v1beta1/queues",
    "/apis/scheduling.volcano.sh/v1beta1/podgroups", "/api/v1/pods"};

// The cluster as its API objects tell, reduced to what the invariants speak of. Shares no code with
// the scheduler.
// Cost: O(size of the object) per change.
class ClusterMirror {
 public:
  struct Pod {
    std::string key, uid, node, phase, group, role, queue;
    bool terminating = false;
    absl::Time changed;  // node, phase or deletion mark
    Amounts request;
    std::string booked_queue;  // where its use is counted
    bool ended() const { return phase == "Succeeded" || phase == "Failed"; }
    bool holds() const { return !node.empty() && !ended(); }
    bool best_effort() const { return request.size() == 1; }  // "pods" alone
    // A member that its gang need not wait for.
    bool placed() const {
      return !terminating && (phase == "Succeeded" || holds() || best_effort());
    }
  };
  struct Node {
    bool exists = false;
    bool usable = false;  // neither cordoned nor tainted against new pods
    absl::Time changed = absl::InfinitePast();
    Amounts allocatable, used;
  };
  struct Group {
    bool exists = false;
    absl::Time changed;  // of the specification
    int64_t min_member = 0;
    std::map<std::string, int64_t> min_role;
    std::string queue;
    int64_t running = 0, succeeded = 0, failed = 0;  // as its status says
    std::string phase;                               // this, too
  };
  struct Queue {
    bool exists = false;
    absl::Time changed;  // of the specification, or of a queue's place in the tree
    absl::Time moved = absl::InfinitePast();  // when a group brought its running pods
    Amounts capability;
    int64_t weight = 1;
    Amounts allocated;  // as its status says
    Amounts used;       // by pods that hold their node
    Amounts leaving;    // the part of it by pods that are terminating
    std::string parent;
  };
  // A member that was placed and is not any more.
  struct Loss {
    absl::Time time;
    std::string role;
  };

  explicit ClusterMirror(std::string default_queue) : default_queue_(std::move(default_queue)) {}

  // One change: "ADDED", "MODIFIED" or "DELETED" with the object after it (before it, if deleted).
  void Observe(absl::string_view type, const apis::json::Value& object, absl::Time now);

  const std::map<std::string, Pod>& pods() const { return pods_; }  // by uid
  const std::map<std::string, Node>& nodes() const { return nodes_; }
  const std::map<std::string, Group>& groups() const { return groups_; }
  const std::map<std::string, Queue>& queues() const { return queues_; }
  // Null where there is none.
  const Pod* FindPod(const std::string& uid) const;
  const Pod* FindPodByName(const std::string& key) const;
  // A pod that went in the last half hour, as it was; `changed` is when it went.
  const Pod* FindGone(const std::string& uid) const;
  const Node* FindNode(const std::string& name) const;
  const Group* FindGroup(const std::string& key) const;
  const Queue* FindQueue(const std::string& name) const;
  const std::set<std::string>& MembersOf(const std::string& group) const;  // uids
  const std::deque<Loss>& LossesOf(const std::string& group) const;
  void NoteLoss(const Pod& pod, absl::Time now);
  // Something came to that node and queue that a process which reads them could not expect.
  void NoteSurprise(const std::string& node, const std::string& queue, absl::Time now);

  std::string QueueOf(const Pod& pod) const;
  // The queue and its ancestors; a parent that does not exist ends the path.
  std::vector<std::string> PathOf(const std::string& queue) const;
  // What the queue and everything below it uses; without `leaving`, terminating pods count not.
  Amounts UsedBelow(const std::string& queue, bool leaving) const;
  // When the queue, or one below it, last changed, or was last given running pods by a group.
  absl::Time ChangedBelow(const std::string& queue) const;
  absl::Time MovedBelow(const std::string& queue) const;

 private:
  void ObserveNode(bool gone, const apis::json::Value& node, absl::Time now);
  void ObservePod(bool gone, const apis::json::Value& pod, absl::Time now);
  void ObserveGroup(bool gone, const apis::json::Value& group, absl::Time now);
  void ObserveQueue(bool gone, const apis::json::Value& queue, absl::Time now);
  bool IsBelow(const std::string& name, const std::string& queue) const;
  absl::Time LastBelow(const std::string& queue, absl::Time Queue::*when) const;
  void Book(Pod& pod, int sign);
  void Bury(Pod pod, absl::Time now);

  const std::string default_queue_;
  std::map<std::string, Pod> pods_;
  std::map<std::string, std::string> uid_of_;  // by name
  std::map<std::string, Pod> gone_;            // by uid
  std::deque<std::string> gone_in_order_;
  std::map<std::string, std::set<std::string>> members_;
  std::map<std::string, std::deque<Loss>> losses_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, Group> groups_;
  std::map<std::string, Queue> queues_;
};

// What a gang of so many placed members lacks: "1 of 2 members placed", "0 of 1 members of role r
// placed". Roles count where minMember covers their sum.
std::vector<std::string> Shortfalls(const ClusterMirror::Group& group, int64_t placed,
                                    const std::map<std::string, int64_t>& by_role);

}  // namespace hekla::sim
