#include "pkg/plugins/capacity/capacity_plugin.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/harness/builders.h"
#include "test/harness/world.h"

namespace hekla::plugins {
namespace {

using harness::Value;
using harness::World;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kFlat[] = "actions: enqueue\ntiers:\n- plugins:\n  - name: capacity\n";
constexpr char kTree[] =
    "actions: enqueue\ntiers:\n- plugins:\n  - name: capacity\n    enableHierarchy: true\n";

// Spec scheduler-actions 5.10: cpu in cores, memory in Mi.
class CapacityPluginTest : public ::testing::Test {
 protected:
  CapacityPluginTest() {
    Apply(harness::BuildNode("n1", {{"cpu", "20"}, {"memory", "20000Mi"}, {"pods", "1000"}}));
  }
  void Apply(const Value& object) { CHECK(world_.Apply(object).ok()); }
  void Queue(const std::string& name, const harness::Pairs& deserved,
             const harness::Pairs& guarantee = {}, const harness::Pairs& capability = {},
             const std::string& parent = "") {
    Value queue = harness::BuildQueue(name, 1);
    Value& spec = queue.Ensure({"spec"});
    spec.Set("deserved", harness::MapOf(deserved));
    spec.Set("capability", harness::MapOf(capability));
    spec.Ensure({"guarantee"}).Set("resource", harness::MapOf(guarantee));
    if (!parent.empty()) spec.Set("parent", parent);
    Apply(queue);
    Apply(harness::BuildPodGroup({.name = name, .queue = name, .phase = "Running"}));
  }
  void Pod(const std::string& queue, const std::string& name, const char* cpu, const char* memory,
           bool running) {
    Apply(harness::BuildPod({.name = name,
                             .node = running ? "n1" : "",
                             .phase = running ? "Running" : "Pending",
                             .requests = {{"cpu", cpu}, {"memory", memory}},
                             .pod_group = queue}));
  }
  void LoadFlat() {
    Queue("q1", {{"cpu", "8"}, {"memory", "1000Mi"}});
    Queue("q2", {});
    Queue("q3", {{"cpu", "4"}});
    Pod("q1", "a", "6", "100Mi", true);
    Pod("q2", "b", "5", "500Mi", true);
    Pod("q3", "c", "4", "0", true);
    Pod("q1", "two", "2", "0", false);
    Pod("q1", "three", "3", "0", false);
    Pod("q1", "three-and-memory", "3", "100Mi", false);
    Pod("q2", "any", "1", "0", false);
  }
  void LoadTree() {
    Value root = harness::BuildQueue("root", 1);
    Apply(root);
    Queue("org-a", {{"cpu", "12"}}, {}, {{"cpu", "16"}}, "root");
    Queue("team-x", {{"cpu", "8"}}, {{"cpu", "2"}}, {}, "org-a");
    Queue("team-y", {{"cpu", "4"}}, {}, {}, "org-a");
    Queue("org-b", {{"cpu", "8"}}, {}, {}, "root");
    Pod("team-x", "x0", "6", "0", true);
    for (int i = 0; i < 5; ++i) Pod("team-y", "y" + std::to_string(i), "1", "0", true);
    Pod("org-b", "b0", "1", "0", true);
    Pod("org-b", "b1", "1", "0", true);
    Pod("team-y", "large", "9500m", "0", false);
    Pod("team-y", "medium", "5500m", "0", false);
    Pod("team-y", "small", "5", "0", false);
    Pod("team-x", "wants", "1", "0", false);
  }
  void Run(const char* config, const World::Hook& hook) {
    CHECK(world_.Configure(config).ok());
    world_.Run(hook);
  }
  model::TaskId Task(const std::string& name) { return world_.FindTask("default/" + name); }
  model::QueueId FindQueue(const char* name) { return world_.cluster().FindQueue(name); }
  bool Preemptive(framework::Session& session, const char* queue, const char* task) {
    const std::vector<model::TaskId> tasks = {Task(task)};
    return session.points().preemptive(FindQueue(queue), tasks);
  }
  World world_;
};

TEST_F(CapacityPluginTest, FlatQueuesByShareThenThoseThatDeserveSomething) {
  LoadFlat();
  Run(kFlat, [&](framework::Session& session) {
    const auto& order = session.points().queue_order;
    EXPECT_LT(order(FindQueue("q1"), FindQueue("q3")), 0);  // 0.75 < 1
    EXPECT_LT(order(FindQueue("q3"), FindQueue("q2")), 0);  // both 1; q2 deserves nothing
  });
}

TEST_F(CapacityPluginTest, FlatPreemptiveNeedsOneDimensionWithinDeserved) {
  LoadFlat();
  Run(kFlat, [&](framework::Session& session) {
    EXPECT_TRUE(Preemptive(session, "q1", "two"));               // 8 <= 8
    EXPECT_FALSE(Preemptive(session, "q1", "three"));            // 9 > 8
    EXPECT_TRUE(Preemptive(session, "q1", "three-and-memory"));  // memory 200 <= 1000
    EXPECT_FALSE(Preemptive(session, "q2", "any"));
  });
}

TEST_F(CapacityPluginTest, FlatReclaimTakesFromWhoDeservesNothingOfIt) {
  LoadFlat();
  Run(kFlat, [&](framework::Session& session) {
    const std::vector<model::TaskId> candidates = {Task("b"), Task("c")};
    EXPECT_THAT(session.points().reclaimable(Task("two"), candidates), ElementsAre(Task("b")));
  });
}

TEST_F(CapacityPluginTest, TreeOrdersBranchesAndThenLeaves) {
  LoadTree();
  Run(kTree, [&](framework::Session& session) {
    const auto& order = session.points().queue_order;
    EXPECT_LT(order(FindQueue("org-b"), FindQueue("team-x")), 0);  // 0.25 against org-a's 0.92
    EXPECT_LT(order(FindQueue("org-b"), FindQueue("team-y")), 0);
    EXPECT_LT(order(FindQueue("team-x"), FindQueue("team-y")), 0);  // 0.75 < 1.25
    EXPECT_LT(session.points().victim_queue_order(FindQueue("team-y"), FindQueue("org-b"),
                                                  FindQueue("team-x")),
              0);
  });
}

TEST_F(CapacityPluginTest, TreeChecksEveryLimitUpToTheRoot) {
  LoadTree();
  Run(kTree, [&](framework::Session& session) {
    const auto& allocatable = session.points().allocatable;
    EXPECT_FALSE(allocatable(FindQueue("team-y"), Task("large")));   // 14500 > 14000
    EXPECT_FALSE(allocatable(FindQueue("team-y"), Task("medium")));  // org-a 16500 > 16000
    EXPECT_TRUE(allocatable(FindQueue("team-y"), Task("small")));
    framework::Statement statement(session);
    statement.Allocate(Task("small"), world_.cluster().FindNode("n1"));
    EXPECT_FALSE(allocatable(FindQueue("team-x"), Task("wants")));  // org-a is full now
    statement.Discard();
    EXPECT_TRUE(allocatable(FindQueue("team-x"), Task("wants")));
  });
}

TEST_F(CapacityPluginTest, TreeReclaimTakesOnlyAboveDeserved) {
  LoadTree();
  Run(kTree, [&](framework::Session& session) {
    EXPECT_TRUE(Preemptive(session, "team-x", "wants"));
    const std::vector<model::TaskId> near = {Task("y0"), Task("y1")};
    // 5000 > 4000, then 4000; of one job the later task goes first.
    EXPECT_THAT(session.points().reclaimable(Task("wants"), near), ElementsAre(Task("y1")));
    const std::vector<model::TaskId> far = {Task("b0"), Task("b1")};
    EXPECT_THAT(session.points().reclaimable(Task("wants"), far), IsEmpty());
  });
}

// Upstream stops for the whole cluster where one parent is missing.
TEST_F(CapacityPluginTest, AQueueWithoutWayToTheRootStopsAlone) {
  LoadTree();
  Queue("lost", {{"cpu", "1"}}, {}, {}, "nowhere");
  Pod("lost", "l0", "1", "0", false);
  Run(kTree, [&](framework::Session& session) {
    EXPECT_FALSE(session.points().allocatable(FindQueue("lost"), Task("l0")));
    EXPECT_TRUE(session.points().allocatable(FindQueue("team-y"), Task("small")));
    EXPECT_FALSE(session.points().allocatable(FindQueue("org-a"), Task("small")));  // no leaf
  });
}

}  // namespace
}  // namespace hekla::plugins
