#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/reference/model.h"

namespace hekla::reference {

// What of the cluster a pod's filters look at, counted once per search.
struct Question {
  const Pod* pod = nullptr;
  std::vector<std::set<std::string>> near = {};  // per affinity term: domains with such pods
  bool self_affine = false;
  std::set<std::pair<std::string, std::string>> unwanted = {};  // topology, domain
  std::vector<std::map<std::string, int>> spread = {};          // per constraint: pods by domain
  std::vector<const Claim*> claims = {};
};

// The cluster while a cycle decides: a copy whose pods move. Everything is counted anew whenever it
// is asked for.
class Session {
 public:
  Session(const Cluster& cluster, uint64_t seed);

  std::vector<Pod*>& PodsOf(const Group& group) { return of_group_[group.name]; }
  std::vector<Pod*>& PodsOn(const Node& node) { return on_node_[node.name]; }
  Group* FindGroup(const std::string& name);
  Queue* QueueOf(const Group& group);
  void Move(Pod& pod, Status status, const std::string& node);

  // Node accounts. Source: spec scheduler-core 8.7.
  Amounts Idle(const Node& node);
  Amounts FutureIdle(const Node& node);

  // Gang. Source: spec scheduler-actions 3.3.
  int Ready(const Group& group);
  int Count(const Group& group, Status status);
  int PendingBestEffort(const Group& group);
  bool CountReady(const Group& group);
  bool Valid(const Group& group);
  bool JobReady(const Group& group);
  bool JobPipelined(const Group& group);
  bool RolesPass(const Group& group, bool valid, bool pipelined);

  // Shares. Source: spec scheduler-actions 3.6, 3.7.
  Amounts Held(const Group& group);
  Amounts HeldBy(const Queue& queue);
  double JobShare(const Group& group);
  double QueueShare(const Queue& queue);
  bool JobBefore(const Group& a, const Group& b);
  bool QueueBefore(const Queue& a, const Queue& b);
  static void Sort(std::vector<Pod*>& pods);
  void OpenQueues();
  bool Overused(const Queue& queue);
  bool Allocatable(const Queue& queue, const Pod& pod);
  bool Enqueueable(const Group& group);
  void Enqueued(const Group& group);

  // Nodes. Source: spec scheduler-node-plugins 0.3, 2.
  Question Ask(const Pod& pod);
  bool Fits(const Question& question, const Node& node);  // filters, without resources
  std::vector<double> Scores(const Pod& pod, const std::vector<Node*>& candidates);
  Node* Best(const Pod& pod, std::vector<Node*> candidates);

  Cluster cluster;

 private:
  bool AffinityFits(const Pod& pod, const Node& node);
  bool TaintsFit(const Pod& pod, const Node& node);
  bool SpreadFits(const Question& question, const Node& node);
  bool PodTermsFit(const Question& question, const Node& node);
  bool VolumesFit(const Question& question, const Node& node);
  void CountForTerms(Question& question);
  void CountForSpread(Question& question);
  // Whether the pods of a node count for a constraint.
  bool Includes(const Spread& spread, const Pod& pod, const Node& node);
  // Whether a term of `owner` is about `other`.
  bool Selects(const PodTerm& term, const Pod& owner, const Pod& other);
  std::vector<Spread> SoftConstraints(const Pod& pod);
  std::vector<double> SpreadScores(const Pod& pod, const std::vector<Node*>& candidates);
  std::vector<double> PodAffinityScores(const Pod& pod, const std::vector<Node*>& candidates);
  Amounts Total();
  Amounts Promised(const Group& group, bool whole_when_inqueue);

  uint64_t seed_;
  std::map<std::string, std::vector<Pod*>> on_node_, of_group_;
  // As of the start of the cycle.
  Amounts idle_for_enqueue_ = {}, inqueue_all_ = {};
  std::map<std::string, Amounts> deserved_, real_capability_, request_, inqueue_, elastic_;
};

bool Allocated(Status status);
bool Matches(const Term& term, const Node& node);
bool TolerateAny(const Pod& pod, const Taint& taint);
// Whether `existing` counts for a constraint of `pod`.
bool Counts(const Spread& spread, const Pod& pod, const Pod& existing);
std::string Label(const StringMap& labels, const std::string& key);

}  // namespace hekla::reference
