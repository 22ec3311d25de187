#include <unistd.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apis/json/value.h"
#include "test/integration/http_get.h"
#include "test/integration/world.h"

// The scheduler's program answers why something waits, over HTTP and through heklactl.
namespace hekla::test {
namespace {

using apis::json::Value;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ExplainIntegrationTest : public ::testing::Test {
 protected:
  void Start() {
    world_.StartScheduler(HEKLA_SCHEDULER, {absl::StrCat("--debug-address=127.0.0.1:", port_)});
  }
  Value Ask(const std::string& query) {
    const http::Response response = Get(port_, absl::StrCat("/debug/explain?", query));
    if (response.status != 200) return Value();
    return apis::json::Parse(response.body).value_or(Value());
  }
  std::string CauseOf(const std::string& query) {
    return std::string(Ask(query).GetString("cause"));
  }

  World world_;
  const int port_ = FreePort();
};

TEST_F(ExplainIntegrationTest, APendingGangIsExplainedUntilItIsPlaced) {
  world_.AddNodes(1, "2", "small");
  world_.AddGang("train", 3);
  Start();
  // The queue deserves the whole cluster: 2 cpus, where the gang needs 3.
  ASSERT_TRUE(
      world_.Until([&] { return CauseOf("podgroup=default/train") == "QueueShareExceeded"; }));
  const Value group = Ask("podgroup=default/train");
  EXPECT_THAT(std::string(group.GetString("message")), HasSubstr("all the cluster has"));
  EXPECT_EQ(group.GetString("queue"), "default");
  EXPECT_GT(group.At("chain").size(), 4u);
  // One member is beyond the share, whichever the order of their uids makes the last.
  int beyond = 0;
  for (int i = 0; i < 3; ++i) {
    const std::string cause = CauseOf(absl::StrCat("pod=train-", i));
    if (cause == "QueueShareExceeded") {
      ++beyond;
    } else {
      EXPECT_EQ(cause, "WaitsForGang") << i;
    }
  }
  EXPECT_EQ(beyond, 1);

  world_.AddNodes(1, "2", "big");
  ASSERT_TRUE(world_.Until([&] { return CauseOf("podgroup=default/train") == "Scheduled"; }));
  EXPECT_EQ(CauseOf("pod=default/train-2"), "Scheduled");
  EXPECT_EQ(world_.BoundOf("train"), 3);
  EXPECT_EQ(world_.scheduler().Terminate(absl::Seconds(5)), 0);
}

TEST_F(ExplainIntegrationTest, BadQuestionsAreRefused) {
  world_.AddNodes(1, "2");
  Start();
  ASSERT_TRUE(world_.Until([&] { return Get(port_, "/debug/explain?pod=x").status == 404; }));
  EXPECT_THAT(Get(port_, "/debug/explain?pod=x").body,
              HasSubstr("the scheduler knows no pod default/x"));
  EXPECT_THAT(Get(port_, "/debug/explain?podgroup=team/x").body,
              HasSubstr("the scheduler knows no PodGroup team/x"));
  EXPECT_EQ(Get(port_, "/debug/explain").status, 400);
  EXPECT_EQ(Get(port_, "/debug/explain?pod=a&podgroup=b").status, 400);
  EXPECT_EQ(Get(port_, "/debug/pprof/").status, 501);
  EXPECT_EQ(Get(port_, "/metrics").status, 404);
}

TEST_F(ExplainIntegrationTest, HeklactlReadsItOut) {
  world_.AddNodes(1, "2");
  world_.AddPod({.name = "large", .cpu = "64"});
  Start();
  ASSERT_TRUE(world_.Until([&] { return !CauseOf("pod=large").empty(); }));
  const std::string address = absl::StrCat("--address=127.0.0.1:", port_);
  const std::string output = ::testing::TempDir() + "/heklactl-explain.txt";
  auto heklactl = Process::Start(HEKLACTL, {"explain", "large", address}, output);
  ASSERT_TRUE(heklactl.ok()) << heklactl.status();
  EXPECT_EQ(heklactl->Wait(absl::Seconds(20)), 0);
  EXPECT_THAT(
      heklactl->Output(),
      StartsWith(
          "ClusterOvercommitted: not admitted by overcommit: minResources asks for cpu 64, "));
  EXPECT_THAT(heklactl->Output(), HasSubstr("asks for cpu 64, the largest node has 2"));
  auto unknown = Process::Start(HEKLACTL, {"explain", "nobody", address}, output);
  ASSERT_TRUE(unknown.ok()) << unknown.status();
  EXPECT_EQ(unknown->Wait(absl::Seconds(20)), 1);
  EXPECT_THAT(unknown->Output(), HasSubstr("knows no pod default/nobody"));
}

// The kubeconfig that the playground writes names its scheduler.
TEST(ExplainPlaygroundTest, HeklactlFindsTheSchedulerThroughTheKubeconfig) {
  const std::string folder = ::testing::TempDir();
  const std::string kubeconfig = folder + "/explain-playground.kubeconfig";
  ::unlink(kubeconfig.c_str());
  const int port = FreePort();
  auto playground =
      Process::Start(HEKLACTL,
                     {"playground", "--nodes=1", "--node-cpu=2", absl::StrCat("--port=", port),
                      "--debug-port=0", absl::StrCat("--kubeconfig=", kubeconfig)},
                     folder + "/explain-playground.log");
  ASSERT_TRUE(playground.ok()) << playground.status();
  std::string text;
  for (int i = 0; i < 1000 && !absl::StrContains(text, "nobody"); ++i) {
    absl::SleepFor(absl::Milliseconds(20));
    if (::access(kubeconfig.c_str(), R_OK) != 0) continue;
    auto heklactl = Process::Start(HEKLACTL, {"explain", "pod/nobody", "--kubeconfig", kubeconfig},
                                   folder + "/explain-playground-answer.txt");
    ASSERT_TRUE(heklactl.ok()) << heklactl.status();
    heklactl->Wait(absl::Seconds(20));
    text = heklactl->Output();
  }
  EXPECT_THAT(text, HasSubstr("the scheduler knows no pod default/nobody"));
  EXPECT_THAT(playground->Output(), HasSubstr("explain      http://127.0.0.1:"));
  EXPECT_EQ(playground->Terminate(absl::Seconds(10)), 0) << playground->Output();
}

}  // namespace
}  // namespace hekla::test
