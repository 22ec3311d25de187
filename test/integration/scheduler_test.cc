#include <map>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/integration/manifest.h"
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

// A running pod is made smaller, and larger again: its node has room for another one, and then
// none.
TEST(SchedulerIntegrationTest, APodThatIsResizedTakesWhatItAsksForNow) {
  World world;
  world.AddNodes(1, "4");
  const auto resize = [&world](const std::string& cpu) {
    http::Request request{.method = "PATCH",
                          .target = "/api/v1/namespaces/default/pods/big/resize"};
    request.headers.Set("Content-Type", "application/strategic-merge-patch+json");
    request.body =
        absl::StrCat(R"({"spec":{"containers":[{"name":"main","resources":{"requests":{)",
                     R"("cpu":")", cpu, R"("}}}]}})");
    return world.server().Call(request).status;
  };
  world.StartScheduler(HEKLA_SCHEDULER);
  world.AddPod({.name = "big", .cpu = "4"});
  ASSERT_TRUE(world.Until([&] { return world.BoundOf("big") == 1; }));
  world.AddPod({.name = "second", .cpu = "2"});
  ASSERT_TRUE(world.Until([&] { return !world.EventsOf("second", "FailedScheduling").empty(); }));
  EXPECT_EQ(world.BoundOf("second"), 0);
  ASSERT_EQ(resize("1"), 200);
  ASSERT_TRUE(world.Until([&] { return world.BoundOf("second") == 1; }));
  ASSERT_EQ(resize("2"), 200);
  world.AddPod({.name = "third", .cpu = "1"});
  ASSERT_TRUE(world.Until([&] { return !world.EventsOf("third", "FailedScheduling").empty(); }));
  EXPECT_EQ(world.BoundOf("third"), 0);
  ASSERT_EQ(resize("1"), 200);
  EXPECT_TRUE(world.Until([&] { return world.BoundOf("third") == 1; }));
}

// Over a whole run, with everything that a scheduler does: what it may not have, it does not ask
// for, and its role gives it no right to.
TEST(SchedulerIntegrationTest, SecretsAreNeverAskedFor) {
  World world;
  world.AddNodes(2, "4");
  apis::json::Value secret =
      apis::json::Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Secret"}});
  secret["metadata"].Set("name", "s");
  ASSERT_TRUE(world.server().Create(secret).ok());
  world.AddGang("train", 3);
  world.AddGang("waits", 9);
  for (const char* elect : {"false", "true"}) {
    world.StartScheduler(HEKLA_SCHEDULER, {absl::StrCat("--leader-elect=", elect)});
    world.AddPod({.name = absl::StrCat("alone-", elect)});
    ASSERT_TRUE(world.Until([&] { return world.BoundOf(absl::StrCat("alone-", elect)) == 1; }));
    ASSERT_TRUE(world.Until([&] { return world.BoundOf("train") == 3; }));
    ASSERT_TRUE(world.Until([&] { return !world.ConditionOf("waits", "Unschedulable").empty(); }));
    EXPECT_EQ(world.scheduler().Terminate(absl::Seconds(5)), 0);
  }
  int requests = 0;
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    requests += world.faults().Count(method, "/");
    EXPECT_EQ(world.faults().Count(method, "secrets"), 0) << method;
  }
  EXPECT_GT(requests, 30);
  int roles = 0;
  for (const apis::json::Value& object : ObjectsIn("config/rbac/scheduler.yaml")) {
    if (!absl::EndsWith(object.GetString("kind"), "Role")) continue;
    ++roles;
    for (const apis::json::Value& rule : object.At("rules").as_array()) {
      const std::string text = apis::json::Dump(rule);
      EXPECT_FALSE(absl::StrContains(text, "secrets") || absl::StrContains(text, "\"*")) << text;
    }
  }
  EXPECT_GT(roles, 0);
}

}  // namespace
}  // namespace hekla::test
