#pragma once

#include "pkg/apis/json/value.h"
#include "pkg/util/random.h"
#include "test/reference/model.h"

namespace hekla::reference {

// Random clusters with every kind of constraint, and what happens to them between cycles.
class Generator {
 public:
  // Between `min_nodes` and `max_nodes` nodes at the start, mostly few.
  Generator(uint64_t seed, int min_nodes, int max_nodes)
      : random_(seed), min_nodes_(min_nodes), max_nodes_(max_nodes) {}

  Cluster Make();
  // What the API server and time do with a decision: bound pods start, pods end or are deleted,
  // groups and nodes come and go.
  void Step(const Decision& decision, Cluster& cluster);

 private:
  int Below(int n) { return static_cast<int>(random_.Below(static_cast<uint64_t>(n))); }
  bool Chance(int percent) { return Below(100) < percent; }
  template <typename T>
  T Pick(std::initializer_list<T> of) {
    return *(of.begin() + Below(static_cast<int>(of.size())));
  }

  Node MakeNode();
  Queue MakeQueue();
  // Adds a group with its pods.
  void AddGroup(Cluster& cluster);
  Pod MakeTemplate(const std::string& group);
  void AddNodeConstraints(Pod& pod);
  void AddPodConstraints(Pod& pod);
  void AddClaims(Cluster& cluster, const std::string& group, size_t first);
  void AddForeignPod(Cluster& cluster);
  void Start(const Cluster& cluster, Pod& pod);
  void StartSome(Cluster& cluster, const std::string& group);
  void StepPods(const Decision& decision, Cluster& cluster);
  void StepNodes(Cluster& cluster);
  void StepGroups(Cluster& cluster);
  void StepQueues(Cluster& cluster);

  util::Random random_;
  double min_nodes_, max_nodes_;
  std::vector<Node> gone_nodes_;
  std::vector<Queue> gone_queues_;
  std::vector<Group> away_;  // deleted, to come back under the same name
  int nodes_ = 0, queues_ = 0, groups_ = 0, clock_ = 0;
};

// The objects as the API server has them.
apis::json::Value ToJson(const Node& node);
apis::json::Value ToJson(const Queue& queue);
apis::json::Value ToJson(const Group& group);
apis::json::Value ToJson(const Pod& pod);
apis::json::Value ToJson(const Namespace& space);
apis::json::Value ToJson(const Service& service);
std::vector<apis::json::Value> ToJson(const Claim& claim);       // and its volume or class
std::optional<apis::json::Value> VolumeLimit(const Node& node);  // as CSINode

}  // namespace hekla::reference
