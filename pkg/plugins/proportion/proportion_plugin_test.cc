#include "pkg/plugins/proportion/proportion_plugin.h"

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

constexpr char kConfig[] = "actions: enqueue\ntiers:\n- plugins:\n  - name: proportion\n";

// Queues whose holdings are running pods and whose further requests are pending ones. The pods of
// the tests are few and a node has room for 1000, so that the pods dimension does not decide.
class ProportionPluginTest : public ::testing::Test {
 protected:
  void Apply(const Value& object) { CHECK(world_.Apply(object).ok()); }
  void Node(const char* cpu, const char* memory) {
    Apply(harness::BuildNode("n1", {{"cpu", cpu}, {"memory", memory}, {"pods", "1000"}}));
  }
  void Queue(const std::string& name, int weight, const harness::Pairs& guarantee = {},
             const harness::Pairs& capability = {}) {
    Value queue = harness::BuildQueue(name, weight);
    if (!guarantee.empty()) {
      queue.Ensure({"spec", "guarantee"}).Set("resource", harness::MapOf(guarantee));
    }
    if (!capability.empty()) queue.Ensure({"spec"}).Set("capability", harness::MapOf(capability));
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
  void Run(const World::Hook& hook) {
    CHECK(world_.Configure(kConfig).ok());
    world_.Run(hook);
  }
  model::TaskId Task(const std::string& name) { return world_.FindTask("default/" + name); }
  model::QueueId FindQueue(const char* name) { return world_.cluster().FindQueue(name); }

  // Example P1; memory in Mi.
  void LoadP1() {
    Node("12", "24000Mi");
    Queue("a", 1);
    Queue("b", 2);
    Queue("c", 3);
    Pod("a", "a0", "2", "3000Mi", true);
    Pod("a", "a1", "4", "3000Mi", false);
    Pod("b", "b0", "3", "8000Mi", true);
    Pod("b", "b1", "0", "4000Mi", false);
    Pod("c", "c0", "7", "10000Mi", true);
    Pod("c", "c1", "13", "10000Mi", false);
    Pod("a", "a-small", "200m", "1000Mi", false);
    Pod("a", "a-large", "300m", "500Mi", false);
    Pod("c", "c-memory", "0", "500Mi", false);
  }
  // Example P2.
  void LoadP2() {
    Node("10", "20000Mi");
    Queue("gold", 5, {}, {{"cpu", "4"}});
    Queue("silver", 1, {{"cpu", "3"}, {"memory", "2000Mi"}});
    Queue("bronze", 2);
    Pod("gold", "g0", "2", "4000Mi", true);
    Pod("gold", "g1", "7", "14000Mi", false);
    for (int i = 0; i < 6; ++i) Pod("silver", "s" + std::to_string(i), "500m", "500Mi", true);
    Pod("silver", "s6", "500m", "0", true);
    Pod("silver", "s7", "4500m", "5000Mi", false);
    Pod("bronze", "b0", "1", "5500Mi", true);
    Pod("bronze", "b1", "0", "10500Mi", false);
  }
  World world_;
};

TEST_F(ProportionPluginTest, OverusedMeansNothingIsLeftInAnyDimension) {
  LoadP1();
  Run([&](framework::Session& session) {
    EXPECT_FALSE(session.points().overused(FindQueue("a")));
    // c is above in cpu and has memory left. b would be, but here pods are left as well.
    EXPECT_FALSE(session.points().overused(FindQueue("c")));
  });
}

TEST_F(ProportionPluginTest, AllocatableComparesWhatTheTaskAsksFor) {
  LoadP1();
  Run([&](framework::Session& session) {
    const auto& allocatable = session.points().allocatable;
    EXPECT_TRUE(allocatable(FindQueue("a"), Task("a-small")));   // 2200 <= 2250, 4000 <= 4000
    EXPECT_FALSE(allocatable(FindQueue("a"), Task("a-large")));  // 2300 > 2250
    EXPECT_TRUE(allocatable(FindQueue("c"), Task("c-memory")));  // cpu is above, but not asked for
  });
}

TEST_F(ProportionPluginTest, AllocationCountsAtOnceAndUndoTakesItBack) {
  LoadP1();
  Run([&](framework::Session& session) {
    const auto& allocatable = session.points().allocatable;
    framework::Statement statement(session);
    statement.Allocate(Task("a-small"), world_.cluster().FindNode("n1"));
    EXPECT_FALSE(allocatable(FindQueue("a"), Task("a-large")));
    statement.Discard();
    EXPECT_TRUE(allocatable(FindQueue("a"), Task("a-small")));
    framework::Statement pipeline(session);
    pipeline.Pipeline(Task("a-small"), world_.cluster().FindNode("n1"), false);
    EXPECT_FALSE(allocatable(FindQueue("a"), Task("a-small")));  // pipelined amounts count too
    pipeline.Discard();
  });
}

TEST_F(ProportionPluginTest, QueuesWithTheSmallerShareComeFirst) {
  LoadP2();
  Run([&](framework::Session& session) {
    const auto& order = session.points().queue_order;
    // Shares 0.5, 1.1 and 1.2.
    EXPECT_LT(order(FindQueue("gold"), FindQueue("bronze")), 0);
    EXPECT_LT(order(FindQueue("bronze"), FindQueue("silver")), 0);
  });
}

TEST_F(ProportionPluginTest, ReclaimTakesWhatIsAboveDeserved) {
  LoadP2();
  Run([&](framework::Session& session) {
    const std::vector<model::TaskId> candidates = {Task("s0"), Task("s1"), Task("s2")};
    // Memory 3000 > 2500; after the first victim 2500, then no more.
    EXPECT_THAT(session.points().reclaimable(Task("g1"), candidates), ElementsAre(Task("s0")));
  });
}

// Example 5.9: deserved 4000 and 6000; b holds 8000.
TEST_F(ProportionPluginTest, PreemptiveCountsAllCandidates) {
  Node("10", "1Gi");
  Queue("a", 2);
  Queue("b", 3);
  for (int i = 0; i < 4; ++i) Pod("b", "b-" + std::to_string(i), "2", "0", true);
  Pod("a", "a-0", "2", "0", true);
  Pod("a", "new-0", "2", "0", false);
  Pod("a", "new-1", "2", "0", false);
  Run([&](framework::Session& session) {
    const auto& preemptive = session.points().preemptive;
    const std::vector<model::TaskId> one = {Task("new-0")}, two = {Task("new-0"), Task("new-1")};
    EXPECT_TRUE(preemptive(FindQueue("a"), one));   // 2000 + 2000 <= 4000
    EXPECT_FALSE(preemptive(FindQueue("a"), two));  // 6000 > 4000
    const std::vector<model::TaskId> candidates = {Task("b-0"), Task("b-1"), Task("b-2")};
    EXPECT_THAT(session.points().reclaimable(Task("new-0"), candidates), ElementsAre(Task("b-0")));
  });
}

TEST_F(ProportionPluginTest, GaugesOfQueues) {
  LoadP2();
  Queue("idle", 7);
  Run([](framework::Session&) {});
  framework::SchedulerMetrics& metrics = world_.metrics();
  EXPECT_EQ(metrics.queue_allocated.milli_cpu.With({"gold"})->value(), 2000);
  EXPECT_EQ(metrics.queue_request.milli_cpu.With({"gold"})->value(), 9000);
  EXPECT_EQ(metrics.queue_deserved.milli_cpu.With({"gold"})->value(), 4000);
  EXPECT_EQ(metrics.queue_allocated.scalar_resources.With({"silver", "pods"})->value(), 7);
  EXPECT_EQ(metrics.queue_share.With({"gold"})->value(), 0.5);
  EXPECT_EQ(metrics.queue_weight.With({"bronze"})->value(), 2);
  EXPECT_EQ(metrics.queue_overused.With({"gold"})->value(), 0);
  EXPECT_EQ(metrics.queue_overused.With({"idle"})->value(), 1);  // deserves nothing, holds nothing
  Value gone = harness::BuildQueue("idle", 7);
  CHECK(world_.Remove(gone).ok());
  world_.Run();
  EXPECT_EQ(metrics.queue_weight.All().size(), 3u);
}

// Whoever was refused for the queue's share must be tried again.
TEST_F(ProportionPluginTest, AQueueThatWasShortAndDeservesMoreIsRelief) {
  Node("10", "10Gi");
  Queue("a", 1);
  Queue("b", 1);
  Pod("a", "a-0", "20", "1Gi", false);
  Pod("b", "b-0", "20", "1Gi", false);
  Run([](framework::Session&) {});
  const uint64_t before = world_.cluster().relief();
  world_.Run();
  EXPECT_EQ(world_.cluster().relief(), before);
  Pod("a", "a-1", "0", "1Gi", false);  // a deserves 2 Gi instead of 1, still short of cpu
  EXPECT_EQ(world_.cluster().relief(), before);
  world_.Run();
  EXPECT_GT(world_.cluster().relief(), before);
}

TEST_F(ProportionPluginTest, AClosedQueueAllowsNothing) {
  Node("10", "1Gi");
  Value queue = harness::BuildQueue("shut", 1);
  queue.Ensure({"status"}).Set("state", "Closing");
  Apply(queue);
  Apply(harness::BuildPodGroup({.name = "shut", .queue = "shut", .phase = "Inqueue"}));
  Pod("shut", "p", "1", "0", false);
  Run([&](framework::Session& session) {
    const std::vector<model::TaskId> tasks = {Task("p")};
    EXPECT_FALSE(session.points().allocatable(FindQueue("shut"), Task("p")));
    EXPECT_FALSE(session.points().preemptive(FindQueue("shut"), tasks));
    EXPECT_FALSE(session.points().job_enqueueable(world_.cluster().FindJob("default/shut")));
  });
}

}  // namespace
}  // namespace hekla::plugins
