#include <map>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/integration/world.h"

namespace hekla::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SchedulerIntegrationTest, GangOfThreeWaitsOnTwoSlotsAndStartsOnTheThird) {
  World world;
  world.AddNodes(2, "1500m");  // together 3 cpu, but room for one pod each
  world.AddGang("train", 3);
  world.StartScheduler(HEKLA_SCHEDULER);
  ASSERT_TRUE(world.Until([&] {
    return absl::StrContains(world.ConditionOf("train", "Unschedulable"), "2 Insufficient cpu");
  })) << world.ConditionOf("train", "Unschedulable");
  EXPECT_THAT(
      world.ConditionOf("train", "Unschedulable"),
      HasSubstr("1/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 "
                "minAvailable; Pending: 1 Unschedulable, 2 Schedulable. Origin reason is "));
  EXPECT_THAT(world.ConditionOf("train", "Unschedulable"),
              HasSubstr("0/2 nodes are unavailable: 2 Insufficient cpu."));
  EXPECT_THAT(world.Bound(), IsEmpty());
  EXPECT_TRUE(world.Until([&] { return !world.EventsOf("train", "Unschedulable").empty(); }));

  world.AddNodes(1, "1500m", "later");
  EXPECT_TRUE(world.Until([&] { return world.BoundOf("train") == 3; }));
  EXPECT_TRUE(world.Until([&] { return world.PhaseOf("train") == "Running"; }));
  std::set<std::string> nodes;
  for (const auto& [pod, node] : world.Bound()) nodes.insert(node);
  EXPECT_EQ(nodes.size(), 3u);
}

TEST(SchedulerIntegrationTest, GangOfThousand) {
  World world;
  world.AddNodes(100, "10");
  world.AddGang("wide", 1000);
  world.StartScheduler(HEKLA_SCHEDULER);
  ASSERT_TRUE(world.Until([&] { return world.BoundOf("wide") == 1000; }, absl::Seconds(60)));
  std::map<std::string, int> per_node;
  for (const auto& [pod, node] : world.Bound()) ++per_node[node];
  for (const auto& [node, pods] : per_node) EXPECT_LE(pods, 10) << node;
  EXPECT_TRUE(world.Until([&] { return world.PhaseOf("wide") == "Running"; }));
}

// 16 cpu are free; queues of weight 1 and 3 both want all of it: 4 and 12.
TEST(SchedulerIntegrationTest, TwoQueuesShareByWeight) {
  World world;
  world.AddNodes(4, "4");
  world.AddQueue("small", 1);
  world.AddQueue("large", 3);
  for (const char* queue : {"small", "large"}) {
    for (int i = 0; i < 16; ++i) {
      const std::string name = absl::StrCat(queue, "-", i);
      world.AddPodGroup(name, 1, queue);
      world.AddPod({.name = name, .group = name});
    }
  }
  world.StartScheduler(HEKLA_SCHEDULER);
  ASSERT_TRUE(world.Until([&] { return world.Bound().size() == 16; }));
  EXPECT_EQ(world.BoundOf("small"), 4);
  EXPECT_EQ(world.BoundOf("large"), 12);
}

TEST(SchedulerIntegrationTest, HigherPriorityGoesFirst) {
  World world;
  world.AddNodes(1, "2");
  world.AddPriorityClass("low", 10);
  world.AddPriorityClass("high", 1000);
  for (const char* priority : {"low", "high"}) {
    for (int i = 0; i < 2; ++i) {
      const std::string name = absl::StrCat(priority, "-", i);
      world.AddPodGroup(name, 1, "default", priority);
      world.AddPod({.name = name, .group = name, .priority_class = priority});
    }
  }
  world.StartScheduler(HEKLA_SCHEDULER);
  ASSERT_TRUE(world.Until([&] { return world.Bound().size() == 2; }));
  EXPECT_EQ(world.BoundOf("high"), 2);
}

TEST(SchedulerIntegrationTest, APodWithoutAGroupIsAGangOfOneInTheDefaultQueue) {
  World world;
  world.AddNodes(1, "4");
  world.AddPod({.name = "alone"});
  world.StartScheduler(HEKLA_SCHEDULER);
  EXPECT_TRUE(world.Until([&] { return world.BoundOf("alone") == 1; }));
  EXPECT_TRUE(world.server().Get("scheduling.volcano.sh/v1beta1", "Queue", "", "default").ok());
  EXPECT_TRUE(world.Until([&] { return !world.EventsOf("alone", "Scheduled").empty(); }));
  EXPECT_THAT(world.EventsOf("alone", "Scheduled")[0],
              HasSubstr("Successfully assigned default/alone to n0"));
}

TEST(SchedulerIntegrationTest, PodsOfOtherSchedulersAreLeftAloneButTakeRoom) {
  World world;
  world.AddNodes(1, "2");
  apis::json::Value foreign = apis::json::Value::MakeObject(
      {{"apiVersion", "v1"},
       {"kind", "Pod"},
       {"metadata", apis::json::Value::MakeObject({{"name", "foreign"}})}});
  apis::json::Value& spec = foreign.Ensure({"spec"});
  spec.Set("nodeName", "n0");
  apis::json::Value container =
      apis::json::Value::MakeObject({{"name", "main"}, {"image", "busybox"}});
  container.Ensure({"resources", "requests"}).Set("cpu", "1");
  spec["containers"].Append(std::move(container));
  ASSERT_TRUE(world.server().Create(foreign).ok());
  world.AddGang("pair", 2);
  world.StartScheduler(HEKLA_SCHEDULER);
  EXPECT_TRUE(world.Until([&] {
    return absl::StrContains(world.ConditionOf("pair", "Unschedulable"), "1 Insufficient cpu");
  }));
  EXPECT_EQ(world.BoundOf("pair"), 0);
}

TEST(SchedulerIntegrationTest, SigtermStopsCleanlyWithinTwoSeconds) {
  World world;
  world.AddNodes(1, "4");
  world.AddPod({.name = "alone"});
  world.StartScheduler(HEKLA_SCHEDULER);
  ASSERT_TRUE(world.Until([&] { return world.BoundOf("alone") == 1; }));
  EXPECT_EQ(world.scheduler().Terminate(absl::Seconds(2)), 0) << world.scheduler().Output();
}

}  // namespace
}  // namespace hekla::test
