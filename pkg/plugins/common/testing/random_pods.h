#pragma once

#include <string>
#include <vector>

#include "pkg/plugins/common/testing/node_world.h"
#include "pkg/util/random.h"

namespace hekla::plugins::testing {

// Fills a world with random nodes and pods that use every kind of node-level constraint, and
// changes it step by step. The stream of changes follows from the seed.
class RandomPods {
 public:
  RandomPods(NodeWorld& world, uint64_t seed);

  void AddNodes(int count);
  // A new pod, pending or running.
  void AddPod();
  // One change as ingest brings it: a pod or node added, changed or removed.
  void Churn();
  // One change as a session makes it: a pending pod comes to a node, or one goes back.
  void Move();

  std::vector<model::TaskId> PendingPods() const;
  std::vector<model::NodeId> LiveNodes() const;

 private:
  bool Chance(int percent) { return random_.Below(100) < static_cast<uint64_t>(percent); }
  int Pick(int below) { return static_cast<int>(random_.Below(static_cast<uint64_t>(below))); }
  std::string Value(const char* prefix, int below);
  void MakeNode(const std::string& name);
  model::Selector RandomSelector();
  model::PodTerm RandomTerm();
  void AddConstraints(model::PodTemplate& pod);

  NodeWorld& world_;
  util::Random random_;
  int nodes_made_ = 0;
  int pods_made_ = 0;
  std::vector<std::string> node_names_;
  std::vector<std::pair<std::string, std::string>> pod_names_;  // namespace, name
};

}  // namespace hekla::plugins::testing
