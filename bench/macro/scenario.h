#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pkg/actions/registry.h"
#include "pkg/framework/testing/session_world.h"
#include "pkg/util/random.h"

namespace hekla::bench {

// The scheduler of the default configuration (and `binpack`, as the chart ships it, where asked
// for) on a generated cluster, without cache, API server and loop: what a cycle itself costs.
class Scenario {
 public:
  Scenario(int nodes, bool binpack);

  // One cycle of enqueue, allocate, backfill.
  struct Cost {
    double seconds = 0;
    double cpu_seconds = 0;  // of the process: not disturbed by what else the machine does
    uint64_t allocations = 0;
    size_t binds = 0;
    size_t writes = 0;
  };
  Cost Run();

  // A gang of `pods` equal pods named after it.
  void AddGang(const std::string& name, int pods, int32_t min_member, int64_t cpu, int64_t memory);
  // Pods that run already on every node, each with its own request, so that no two nodes are alike.
  void FillUnevenly(int per_node);
  // Pods that run already, `per_node` on every node.
  void FillNodes(int per_node, int64_t cpu, int64_t memory);
  // The API server's echo of every binding sent so far: the pods run.
  void ConfirmBinds();
  // Running pods end, oldest first.
  void EndPods(int count);

  model::testing::World& world() { return state_.world; }
  util::Random& random() { return random_; }
  int nodes() const { return nodes_; }

 private:
  framework::testing::SessionWorld state_;
  std::vector<std::pair<std::string, std::unique_ptr<framework::Action>>> actions_;
  util::Random random_{42};
  int nodes_;
  std::vector<model::TaskId> running_;
  size_t ended_ = 0;
};

// The default configuration for a cluster that somebody else has filled.
class Policies {
 public:
  Policies(bool binpack, const util::Clock* clock);
  Scenario::Cost FirstCycle(model::Cluster& cluster);

 private:
  const util::Clock* clock_;
  std::vector<std::unique_ptr<framework::PluginOption>> options_;
  std::vector<std::unique_ptr<framework::Plugin>> plugins_;
  std::vector<framework::PluginSlot> slots_;
};

// Heap allocations of this process so far.
uint64_t AllocationCount();

// One row of the result: what a case did at one size. Names of further numbers say their unit.
struct Result {
  std::string name;
  int nodes = 0;
  std::vector<Scenario::Cost> cycles;  // measured ones, in order
  std::vector<std::pair<std::string, double>> more;
};

struct Case {
  const char* name;
  std::function<Result(int nodes)> run;
};
std::vector<Case> AllCases();
Result Start(int nodes);  // one of them, in a file of its own

// A result as one JSON object: placements, cycles, allocations, and `more`.
std::string ToJson(const Result& result);

// How the cost of a cycle grows with nodes, pods, classes, queues, gangs: each is doubled three
// times while the others stay. One JSON object per dimension.
std::vector<std::string> GrowthRows();

}  // namespace hekla::bench
