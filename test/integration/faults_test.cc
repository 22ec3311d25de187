#include <atomic>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/integration/world.h"

namespace hekla::test {
namespace {

using ::testing::HasSubstr;

http::Response Failure(int code, const std::string& reason, const std::string& message) {
  http::Response response;
  response.status = code;
  response.headers.Set("Content-Type", "application/json");
  response.body = absl::StrCat(
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")", message,
      R"(","reason":")", reason, R"(","code":)", code, "}");
  return response;
}

bool IsBinding(const http::Request& request, absl::string_view pod) {
  return request.method == "POST" &&
         absl::StrContains(request.target, absl::StrCat("/pods/", pod, "/binding"));
}

TEST(FaultsIntegrationTest, ABindingThatFailsIsTriedAgainAndTheOthersStay) {
  std::atomic<int> failures = 0;
  World world;  // after what its rule refers to
  world.AddNodes(3, "1");
  world.faults().SetRule([&](const http::Request& request) -> std::optional<http::Response> {
    if (!IsBinding(request, "team-1") || failures >= 2) return std::nullopt;
    ++failures;
    return Failure(500, "InternalError", "the disk is full");
  });
  world.AddGang("team", 3);
  world.StartScheduler(HEKLA_SCHEDULER);
  ASSERT_TRUE(world.Until([&] { return world.BoundOf("team") == 3; }));
  EXPECT_EQ(failures, 2);
  // The two that worked were bound once.
  EXPECT_EQ(world.faults().Count("POST", "/pods/team-0/binding"), 1);
  EXPECT_EQ(world.faults().Count("POST", "/pods/team-2/binding"), 1);
  EXPECT_EQ(world.faults().Count("POST", "/pods/team-1/binding"), 3);
  // The pod was read again before it was tried again.
  EXPECT_GE(world.faults().Count("GET", "/pods/team-1"), 1);
}

TEST(FaultsIntegrationTest, ConflictsAndThrottlingAreRiddenOut) {
  std::atomic<int> turn = 0;
  World world;  // after what its rule refers to
  world.AddNodes(4, "2");
  world.faults().SetRule([&](const http::Request& request) -> std::optional<http::Response> {
    const bool write = request.method == "POST" || request.method == "PUT";
    if (!write || turn >= 40 || turn++ % 2 == 0) return std::nullopt;
    if (turn % 3 == 0) return Failure(409, "Conflict", "the object has been modified");
    http::Response busy = Failure(429, "TooManyRequests", "slow down");
    busy.headers.Set("Retry-After", "0");
    return busy;
  });
  world.AddGang("team", 8);
  world.StartScheduler(HEKLA_SCHEDULER);
  EXPECT_TRUE(world.Until([&] { return world.BoundOf("team") == 8; }));
}

TEST(FaultsIntegrationTest, TheServerIsAwayInMidBindAndComesBack) {
  std::atomic<int> bindings = 0;
  std::atomic<bool> back = false;
  World world;  // after what its rule refers to
  world.AddNodes(20, "10");
  world.AddGang("wide", 200);
  // After the tenth binding nothing gets through until the listener is back.
  world.faults().SetRule([&](const http::Request& request) -> std::optional<http::Response> {
    if (request.method != "POST" || !absl::StrContains(request.target, "/binding")) {
      return std::nullopt;
    }
    if (++bindings <= 10 || back) return std::nullopt;
    return Failure(503, "ServiceUnavailable", "going down");
  });
  world.StartScheduler(HEKLA_SCHEDULER);
  ASSERT_TRUE(world.Until([&] { return world.BoundOf("wide") >= 10; }));
  world.cluster().StopListening();
  world.server().DropWatchHistory();
  back = true;
  const absl::Status listening = world.cluster().StartListening();
  ASSERT_TRUE(listening.ok()) << listening;
  ASSERT_TRUE(world.Until([&] { return world.BoundOf("wide") == 200; }, absl::Seconds(60)));
  std::map<std::string, int> per_node;
  for (const auto& [pod, node] : world.Bound()) ++per_node[node];
  for (const auto& [node, pods] : per_node) EXPECT_LE(pods, 10) << node;
}

TEST(FaultsIntegrationTest, APodGroupThatIsDeletedInMidCycleLeavesNothingBehind) {
  World world;
  world.AddNodes(2, "4");
  world.AddGang("gone", 16);  // 16 cpu wanted, 8 there
  world.StartScheduler(HEKLA_SCHEDULER);
  ASSERT_TRUE(world.Until([&] { return !world.ConditionOf("gone", "Unschedulable").empty(); }));
  ASSERT_TRUE(
      world.server().Delete("scheduling.volcano.sh/v1beta1", "PodGroup", "default", "gone").ok());
  world.AddGang("next", 8);
  EXPECT_TRUE(world.Until([&] { return world.BoundOf("next") == 8; }));
  EXPECT_EQ(world.BoundOf("gone"), 0);
  EXPECT_TRUE(world.scheduler().Running());
}

TEST(FaultsIntegrationTest, NothingIsDecidedBeforeTheListsAreComplete) {
  std::atomic<bool> open = false;
  World world;  // after what its rule refers to
  world.AddNodes(2, "4");
  world.AddGang("team", 4);
  world.faults().SetRule([&](const http::Request& request) -> std::optional<http::Response> {
    if (open || !absl::StartsWith(request.target, "/api/v1/nodes")) return std::nullopt;
    return Failure(500, "InternalError", "not yet");
  });
  world.StartScheduler(HEKLA_SCHEDULER);
  ASSERT_TRUE(world.Until([&] { return world.faults().Count("GET", "/api/v1/pods") >= 1; }));
  ASSERT_TRUE(world.Until([&] { return world.faults().Count("GET", "/api/v1/nodes") >= 2; }));
  EXPECT_EQ(world.BoundOf("team"), 0);
  open = true;
  EXPECT_TRUE(world.Until([&] { return world.BoundOf("team") == 4; }));
}

TEST(FaultsIntegrationTest, ASchedulerThatIsKilledLosesAndDoublesNothing) {
  World world;
  world.AddNodes(10, "10");
  world.AddGang("first", 50);
  world.StartScheduler(HEKLA_SCHEDULER);
  ASSERT_TRUE(world.Until([&] { return world.BoundOf("first") > 0; }));
  world.StartScheduler(HEKLA_SCHEDULER);  // the first one is killed
  world.AddGang("second", 50);
  EXPECT_TRUE(world.Until([&] { return world.Bound().size() == 100; }));
}

}  // namespace
}  // namespace hekla::test
