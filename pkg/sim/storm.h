#pragma once

#include <string>
#include <vector>

#include "pkg/apis/json/value.h"
#include "pkg/sim/fuzz_world.h"
#include "pkg/sim/liveness.h"
#include "pkg/util/random.h"

namespace hekla::sim {

// One thing that happens to the cluster, with everything it needs to be done again: an object with
// `do`, names and amounts, and `after`, the milliseconds that pass then. One line of a script.
//   {"do":"gang","name":"g3","min":2,"milli":1500,"run":[5,0,30],"queue":"q1","after":20}
using Action = apis::json::Value;

// What a run is like as a whole.
struct Shape {
  FaultPlan plan;
  bool faults = true;  // also restarts, outages, frozen processes
  int lives = 1;
  int family = 0;          // of configurations that may replace each other
  bool last_node = false;  // in the end there is room for everything
};
// The family with drf and enableHierarchy.
inline constexpr int kFairTree = 3;
Shape DrawShape(util::Random& random, bool faults);
// The configuration of that family.
std::string ConfigText(int family, int64_t variant);
Sharing SharingOf(int family);

// Draws what happens next, by what the cluster looks like.
class Storm {
 public:
  Storm(const FuzzWorld* world, const Shape& shape, uint64_t seed)
      : world_(*world), shape_(shape), random_(seed) {}

  // The first nodes and queues.
  std::vector<Action> Prologue();
  Action Next();

 private:
  Action Draw();
  Action DrawDisturbance();
  Action AddNode();
  Action ChangeNode();
  Action RemoveNode();
  size_t Nodes() const;
  Action AddQueue();
  Action ChangeQueue();
  Action AddGang();
  Action AddPod();
  Action GrowGang();
  Action ChangePod(const char* what);
  std::string NextName(const char* prefix);
  int64_t RunSeconds();
  int64_t Below(uint64_t n) { return static_cast<int64_t>(random_.Below(n)); }
  std::string PickPod();
  std::string PickGroup();
  std::string PickNode();
  std::string PickQueue();
  // Of a tree of queues; not the queue itself nor one below it.
  std::string PickParent(const std::string& queue);
  // Gives a queue its place in the tree by whose shares drf divides.
  void DrawPath(Action& action);
  bool tree() const { return SharingOf(shape_.family) == Sharing::kAsTree; }
  bool fair_tree() const { return shape_.family == kFairTree; }

  const FuzzWorld& world_;
  const Shape shape_;
  util::Random random_;
  int64_t next_ = 0;
};

// Does an action; what it speaks of may be gone, then nothing happens.
void Perform(FuzzWorld& world, const Shape& shape, const Action& action);
// Everything usable again, no faults: what is left pending can be judged.
void Calm(FuzzWorld& world, const Shape& shape);

}  // namespace hekla::sim
