#pragma once

#include "pkg/apis/json/value.h"
#include "pkg/util/random.h"
#include "test/reference/model.h"

namespace hekla::reference {

// Random clusters with every kind of constraint, and what happens to them between cycles.
class Generator {
 public:
  // At most `max_nodes` nodes.
  Generator(uint64_t seed, int max_nodes) : random_(seed), max_nodes_(max_nodes) {}

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
  void AddConstraints(Pod& pod);
  void StartSome(Cluster& cluster, const std::string& group);
  void StepPods(const Decision& decision, Cluster& cluster);
  void StepNodes(Cluster& cluster);
  void StepGroups(Cluster& cluster);
  void StepQueues(Cluster& cluster);

  util::Random random_;
  int max_nodes_;
  std::vector<Group> away_;  // deleted, to come back under the same name
  int nodes_ = 0, queues_ = 0, groups_ = 0, clock_ = 0;
};

// The objects as the API server has them. Namespace: default; uid: default-<name>.
apis::json::Value ToJson(const Node& node);
apis::json::Value ToJson(const Queue& queue);
apis::json::Value ToJson(const Group& group);
apis::json::Value ToJson(const Pod& pod);

}  // namespace hekla::reference
