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

// Jobs low (priority 1) and high (100), two running pods each; of the same job the second pod has
// the higher task priority.
class PriorityPluginTest : public ::testing::Test {
 protected:
  PriorityPluginTest() {
    Apply(harness::BuildNode("n1", {{"cpu", "10"}}));
    Apply(harness::BuildQueue("default", 1));
    for (const auto& [name, value] : {std::pair{"low", 1}, std::pair{"high", 100}}) {
      Apply(harness::BuildPriorityClass(name, value));
      Value group = harness::BuildPodGroup({.name = name, .phase = "Running"});
      group.Ensure({"spec"}).Set("priorityClassName", name);
      Apply(group);
      for (int i = 0; i < 2; ++i) {
        Value pod = harness::BuildPod({.name = std::string(name) + std::to_string(i),
                                       .node = "n1",
                                       .phase = "Running",
                                       .requests = {{"cpu", "1"}},
                                       .pod_group = name});
        pod.Ensure({"spec"}).Set("priority", i);
        Apply(pod);
      }
    }
    CHECK(world_.Configure("actions: enqueue\ntiers:\n- plugins:\n  - name: priority\n").ok());
  }
  void Apply(const Value& object) { CHECK(world_.Apply(object).ok()); }
  model::TaskId Task(const std::string& name) { return world_.FindTask("default/" + name); }
  model::JobId FindJob(const std::string& name) {
    return world_.cluster().FindJob("default/" + name);
  }
  World world_;
};

TEST_F(PriorityPluginTest, HigherComesFirst) {
  world_.Run([&](framework::Session& session) {
    EXPECT_LT(session.points().job_order(FindJob("high"), FindJob("low")), 0);
    EXPECT_GT(session.points().job_order(FindJob("low"), FindJob("high")), 0);
    EXPECT_EQ(session.points().job_order(FindJob("low"), FindJob("low")), 0);
    EXPECT_LT(session.points().task_order(Task("low1"), Task("low0")), 0);
  });
}

TEST_F(PriorityPluginTest, VictimsHaveALowerPriority) {
  world_.Run([&](framework::Session& session) {
    const std::vector<model::TaskId> all = {Task("low0"), Task("low1"), Task("high0"),
                                            Task("high1")};
    const auto& preemptable = session.points().preemptable;
    // Other jobs by job priority, the own job by task priority.
    EXPECT_THAT(preemptable(Task("high1"), all),
                ElementsAre(Task("low0"), Task("low1"), Task("high0")));
    EXPECT_THAT(preemptable(Task("low0"), all), IsEmpty());
  });
}

TEST_F(PriorityPluginTest, OnlyGangPreemptComparesPriorities) {
  world_.Run([&](framework::Session& session) {
    const std::vector<model::TaskId> all = {Task("low0"), Task("high0")};
    framework::EvictContext context;
    context.kind = framework::EvictContext::Kind::kGangPreempt;
    context.job = FindJob("high");
    EXPECT_THAT(session.points().unified_evictable(context, all), ElementsAre(Task("low0")));
    context.kind = framework::EvictContext::Kind::kGangReclaim;
    EXPECT_THAT(session.points().unified_evictable(context, all),
                ElementsAre(Task("low0"), Task("high0")));
  });
}

TEST_F(PriorityPluginTest, StarvingMeansSomeTaskIsNotPlaced) {
  Apply(harness::BuildPod({.name = "low2", .pod_group = "low"}));
  world_.Run([&](framework::Session& session) {
    EXPECT_TRUE(session.points().job_starving(FindJob("low")));
    EXPECT_FALSE(session.points().job_starving(FindJob("high")));
  });
}

TEST_F(PriorityPluginTest, FlagsTurnFunctionsOff) {
  CHECK(world_
            .Configure("actions: enqueue\ntiers:\n- plugins:\n  - name: priority\n"
                       "    enableJobOrder: false\n    enablePreemptable: false\n")
            .ok());
  world_.Run([&](framework::Session& session) {
    EXPECT_EQ(session.points().job_order(FindJob("high"), FindJob("low")), 0);
    EXPECT_TRUE(session.points().preemptable.empty());
    EXPECT_FALSE(session.points().task_order.empty());
  });
}

}  // namespace
}  // namespace hekla::plugins
