#include "pkg/sim/storm.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/conf/config.h"
#include "pkg/sim/faults/machine_clock.h"

namespace hekla::sim {
namespace {

// Above this many pods the storm rather takes away than adds.
constexpr size_t kManyPods = 60;
constexpr size_t kManyNodes = 10;

FaultPlan DrawPlan(util::Random& random) {
  FaultPlan plan;
  plan.slow = DrawRate(random, 200);
  plan.refused = DrawRate(random, 60);
  plan.lost_answer = DrawRate(random, 80);
  plan.too_many = DrawRate(random, 80);
  plan.server_error = DrawRate(random, 80);
  plan.conflict = DrawRate(random, 50);
  plan.kill = DrawRate(random, 30);
  plan.stream_refused = DrawRate(random, 100);
  plan.stream_gone = DrawRate(random, 100);
  plan.stream_broken = DrawRate(random, 30);
  plan.stream_lag = DrawRate(random, 100);
  plan.max_delay = absl::Milliseconds(100 + static_cast<int64_t>(random.Below(8000)));
  return plan;
}

template <typename Map, typename Accept>
std::string PickKey(util::Random& random, const Map& map, Accept accept) {
  std::vector<const std::string*> keys;
  for (const auto& [key, row] : map) {
    if (accept(row)) keys.push_back(&key);
  }
  return keys.empty() ? "" : *keys[random.Below(keys.size())];
}

std::string WithoutNamespace(const std::string& key) { return key.substr(key.find('/') + 1); }

Action Do(absl::string_view what) { return Action::MakeObject({{"do", what}}); }

}  // namespace

Shape DrawShape(util::Random& random, bool faults) {
  Shape shape;
  shape.faults = faults;
  // One run in four has a good network, so that what is decided can be judged by how things are.
  if (faults && random.Below(4) != 0) shape.plan = DrawPlan(random);
  shape.lives = faults && random.Below(2) == 0 ? 2 : 1;
  shape.family = static_cast<int>(random.Below(4));
  shape.last_node = random.Below(2) == 0;
  return shape;
}

std::string ConfigText(int family, int64_t variant) {
  // drf with a tree only orders queues; capacity sees to what they may have at most.
  static constexpr absl::string_view kShares[] = {
      "proportion", "capacity", "capacity\n    enableHierarchy: true", "capacity"};
  if (family == 0 && variant == 0) return std::string(conf::BuiltInConfigText());
  std::string text = "actions: \"enqueue, allocate, backfill\"\ntiers:\n- plugins:\n";
  absl::StrAppend(&text, "  - name: priority\n  - name: gang\n  - name: conformance\n- plugins:\n");
  if (variant % 2 == 0) absl::StrAppend(&text, "  - name: overcommit\n");
  if (variant % 2 == 0 || family == kFairTree) absl::StrAppend(&text, "  - name: drf\n");
  if (family == kFairTree) absl::StrAppend(&text, "    enableHierarchy: true\n");
  absl::StrAppend(&text, "  - name: predicates\n  - name: ", kShares[family],
                  "\n  - name: ", variant % 3 == 2 ? "binpack" : "nodeorder", "\n");
  return text;
}

Sharing SharingOf(int family) {
  return family == 0 ? Sharing::kByWeight : family == 2 ? Sharing::kAsTree : Sharing::kByCapacity;
}

std::string Storm::NextName(const char* prefix) { return absl::StrCat(prefix, next_++); }

std::string Storm::PickPod() {
  const auto& pods = world_.mirror().pods();
  const std::string uid = PickKey(random_, pods, [](const auto& pod) { return !pod.ended(); });
  return uid.empty() ? "" : WithoutNamespace(pods.at(uid).key);
}
std::string Storm::PickGroup() {
  return WithoutNamespace(
      PickKey(random_, world_.mirror().groups(), [](const auto& group) { return group.exists; }));
}
std::string Storm::PickNode() {
  return PickKey(random_, world_.mirror().nodes(), [](const auto& node) { return node.exists; });
}
std::string Storm::PickQueue() {
  return PickKey(random_, world_.mirror().queues(), [](const auto& queue) { return queue.exists; });
}

std::string Storm::PickParent(const std::string& queue) {
  std::vector<std::string> names;
  for (const auto& [name, row] : world_.mirror().queues()) {
    if (!row.exists || name == "default") continue;  // what has no queue of its own must go on
    const std::vector<std::string> path = world_.mirror().PathOf(name);
    if (std::find(path.begin(), path.end(), queue) == path.end()) names.push_back(name);
  }
  return names.empty() ? "root" : names[random_.Below(names.size())];
}

// Below one of three departments, or one of two teams in it. The queue itself ends the path: none
// stands above another.
void Storm::DrawPath(Action& action) {
  std::string path = absl::StrCat("root/dep", Below(3));
  std::string weights = absl::StrCat("1/", 1 + Below(4));
  if (Below(2) == 0) {
    absl::StrAppend(&path, "/team", Below(2));
    absl::StrAppend(&weights, "/", 1 + Below(4));
  }
  action.Set("path", absl::StrCat(path, "/", action.GetString("name")));
  action.Set("weights", absl::StrCat(weights, "/", 1 + Below(4)));
}

// How long a pod runs; 0 is for ever.
int64_t Storm::RunSeconds() { return Below(3) == 0 ? 0 : 1 + Below(60); }

Action Storm::AddNode() {
  Action action = Do("node");
  action.Set("name", NextName("n"));
  action.Set("cpu", 2 + Below(7));
  return action;
}

Action Storm::AddQueue() {
  Action action = Do("queue");
  action.Set("name", NextName("q"));
  action.Set("weight", 1 + Below(4));
  if (Below(2) == 0) action.Set("cap", 1 + Below(8));
  if (tree() && Below(3) != 0) action.Set("parent", PickParent(""));
  if (fair_tree() && Below(4) != 0) DrawPath(action);
  return action;
}

std::vector<Action> Storm::Prologue() {
  std::vector<Action> actions;
  for (int64_t n = 2 + Below(6); n > 0; --n) actions.push_back(AddNode());
  for (int64_t n = Below(3); n > 0; --n) actions.push_back(AddQueue());
  return actions;
}

Action Storm::AddGang() {
  Action action = Do("gang");
  action.Set("name", NextName("g"));
  const int64_t size = 1 + Below(6);
  action.Set("min", 1 + Below(static_cast<uint64_t>(size)));
  action.Set("milli", 500 * (1 + Below(6)));
  apis::json::Value run = apis::json::Value::MakeArray();
  for (int64_t i = 0; i < size; ++i) run.Append(RunSeconds());
  action.Set("run", std::move(run));
  const std::string queue = PickQueue();
  if (Below(2) == 0 && queue != "root" && !queue.empty()) action.Set("queue", queue);
  if (size > 1 && Below(4) == 0) action.Set("leaders", 1);  // the first pod has a role of its own
  if (Below(3) == 0) action.Set("podsFirst", true);
  return action;
}

Action Storm::AddPod() {
  Action action = Do("pod");
  action.Set("name", NextName("p"));
  action.Set("milli", Below(8) == 0 ? 0 : 500 * (1 + Below(3)));
  action.Set("run", RunSeconds());
  return action;
}

Action Storm::GrowGang() {
  Action action = Do("grow");
  action.Set("group", PickGroup());
  action.Set("name", NextName("p"));
  action.Set("milli", 500 * (1 + Below(2)));
  action.Set("run", RunSeconds());
  return action;
}

Action Storm::ChangePod(const char* what) {
  Action action = Do(what);
  action.Set("name", PickPod());
  return action;
}

size_t Storm::Nodes() const {
  size_t count = 0;
  for (const auto& [name, node] : world_.mirror().nodes()) count += node.exists ? 1 : 0;
  return count;
}

Action Storm::RemoveNode() {
  if (Nodes() < 2) return AddNode();
  Action action = Do("remove-node");
  action.Set("name", PickNode());
  return action;
}

Action Storm::ChangeNode() {
  static constexpr const char* kWhat[] = {"cordon", "down", "flap", "resize"};
  Action action = Do(kWhat[Below(4)]);
  action.Set("name", PickNode());
  if (action.GetString("do") == "resize") action.Set("cpu", 1 + Below(8));
  if (action.GetString("do") == "flap") action.Set("times", 2 + Below(4));
  return action;
}

Action Storm::ChangeQueue() {
  const std::string name = PickQueue();
  const int64_t which = Below(8);
  if (name.empty() || name == "root" || name == "default" || which == 0) return AddQueue();
  const bool move = (tree() || fair_tree()) && (which == 4 || which == 5);
  Action action = Do(which == 1 ? "delete-queue" : which < 4 ? "cap" : move ? "move" : "weigh");
  action.Set("name", name);
  if (move && fair_tree()) DrawPath(action);
  if (move && tree()) action.Set("parent", PickParent(name));
  if (move) return action;
  if (which > 1) action.Set("amount", which < 4 ? Below(9) : 1 + Below(9));
  return action;
}

Action Storm::DrawDisturbance() {
  // Two of seven stand still: that alone lets a process meet a lease that another has taken.
  static constexpr const char* kWhat[] = {"history", "connections", "away", "kill",
                                          "freeze",  "freeze",      "clock"};
  const int64_t which = Below(std::size(kWhat));
  Action action = Do(kWhat[which]);
  if (which == 2) action.Set("ms", 500 + Below(20000));
  if (which >= 3) action.Set("life", Below(static_cast<uint64_t>(shape_.lives)));
  const bool freezes = which == 4 || which == 5;
  if (freezes) action.Set("ms", 500 + Below(40000));
  // The clock of a machine that stood still is often set when it goes on.
  if (which == 6 || (freezes && Below(2) == 0)) {
    action.Set("clock", absl::ToInt64Milliseconds(DrawClockStep(random_)));
  }
  return action;
}

Action Storm::Draw() {
  const size_t pods = world_.mirror().pods().size();
  const int64_t which = Below(40);
  if (which < 13) {
    if (pods > kManyPods) return ChangePod(which < 6 ? "delete-pod" : "collect");
    return which < 10 ? AddGang() : AddPod();
  }
  if (which < 15) return ChangePod("delete-pod");
  if (which == 15) return ChangePod("recreate");
  if (which == 16) return ChangePod("fail-pod");
  if (which < 19) return GrowGang();
  if (which < 22) {
    Action action = Do("delete-gang");
    action.Set("name", PickGroup());
    return action;
  }
  if (which == 22) return Nodes() > kManyNodes ? RemoveNode() : AddNode();
  if (which < 25) return ChangeNode();
  if (which == 25) return RemoveNode();
  if (which < 28) return ChangeQueue();
  if (which == 28) return Do("collect");
  if (which == 29) {
    Action action = Do("config");
    action.Set("variant", Below(6));
    return action;
  }
  if (which < 32 && shape_.faults) return DrawDisturbance();
  return Do("wait");
}

Action Storm::Next() {
  static constexpr int64_t kPauses[] = {1, 1, 20, 20, 20, 300, 300, 300, 1100, 1100, 4000, 30000};
  Action action = Draw();
  action.Set("after", kPauses[random_.Below(std::size(kPauses))]);
  return action;
}

}  // namespace hekla::sim
