#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/sim/auditor.h"
#include "pkg/sim/cluster_mirror.h"

namespace hekla::sim {

// What the process that decides can know: everything that happened before these times has reached
// it.
struct Knowledge {
  absl::Time nodes, queues, groups, pods;
  bool complete = true;  // every initial list has arrived
  bool leads = true;     // no other process may decide
};

// Judges what scheduling cycles decide when they decide it, by what the process can know then and
// by what it has decided before ("in flight": until the binding shows on the server, or has failed
// and the process has read the pod). Checks, of design.md section 8:
//   - nothing is decided from an incomplete cache;
//   - no pod is decided for that is gone, already placed, or in flight ("bound-twice");
//   - the node exists, is neither cordoned nor tainted, and has room in every dimension, counting
//     what is in flight; so has every queue on the path below its capability;
//   - a gang of which a member leaves has minMember members placed or in flight, and of each role
//     its minimum;
//   - an eviction leaves its gang whole or nothing of it, and makes room for a pipelined pod that
//     then fits;
//   - no pod gets a node that nobody has decided.
// What the process cannot have heard of yet is held against nobody.
class DecisionAuditor {
 public:
  // Borrowed.
  explicit DecisionAuditor(ClusterMirror* mirror) : mirror_(mirror) {}

  void Decided(const std::string& uid, const std::string& node, const Knowledge& knowledge,
               absl::Time now);
  void Evicting(const std::string& uid, const Knowledge& knowledge);
  void Pipelined(const std::string& uid, const std::string& node);
  void EndOfCycle(const Knowledge& knowledge, absl::Time now);

  // A binding has failed and the process has seen that the pod has no node, or is gone.
  void Settled(const std::string& uid, absl::Time now);
  // The process has read the pod while no binding of it was under way; whether to give the decision
  // up or for another purpose cannot be told.
  void Read(const std::string& uid);
  // The process that has decided is gone; what it has sent may still arrive.
  void Abandon();
  // A pod has changed; the mirror shows it already.
  void Observe(absl::string_view type, const std::string& uid, absl::Time now);

  bool InFlight(const std::string& uid, absl::string_view node) const;
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  struct Flight {
    std::string node, queue;
    ClusterMirror::Pod pod;
    bool read = false;  // while no binding was under way: perhaps it was given up
  };
  void CheckPod(const std::string& uid, const Knowledge& knowledge, absl::Time now);
  void CheckNode(const Flight& flight, const Knowledge& knowledge, absl::Time now);
  void CheckQueues(const Flight& flight, const Knowledge& knowledge, absl::Time now);
  void CheckGang(const std::string& key, const Knowledge& knowledge, absl::Time now);
  void CheckEvictions(const Knowledge& knowledge, absl::Time now);
  void CheckEvictedNode(const std::string& name, absl::Time now);
  void Report(absl::Time now, absl::string_view rule, std::string text);

  ClusterMirror* const mirror_;
  std::map<std::string, Flight> flights_;    // by uid
  std::map<std::string, std::string> late_;  // uid → node, of processes that are gone
  std::set<std::string> bound_;              // uids that have a node
  // Of the cycle under way.
  std::set<std::string> fresh_groups_;
  std::set<std::string> victims_;
  std::map<std::string, std::string> pipelined_;  // uid → node
  std::vector<Violation> violations_;
};

}  // namespace hekla::sim
