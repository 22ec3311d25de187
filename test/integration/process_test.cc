#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apis/json/value.h"
#include "pkg/util/testing/temp_folder.h"
#include "test/integration/http_get.h"
#include "test/integration/world.h"

// What the process does around scheduling: endpoints and leader election.
namespace hekla::test {
namespace {

using ::testing::HasSubstr;

// A scheduler that serves health and metrics on ports of their own, once it is ready.
struct Endpoints {
  explicit Endpoints(World& world) {
    world.StartScheduler(
        HEKLA_SCHEDULER,
        {"--enable-healthz=true", absl::StrCat("--healthz-address=127.0.0.1:", health),
         "--enable-metrics=true", absl::StrCat("--listen-address=127.0.0.1:", metrics)});
    ready = world.Until([&] { return Get(health, "/readyz").status == 200; });
  }
  const int health = FreePort(), metrics = FreePort();
  bool ready = false;
};

TEST(ProcessIntegrationTest, HealthAndMetricsAreServed) {
  World world;
  world.AddNodes(1, "4");
  const Endpoints endpoints(world);
  ASSERT_TRUE(endpoints.ready);
  const int health = endpoints.health, metrics = endpoints.metrics;
  EXPECT_EQ(Get(health, "/healthz").body, "ok");
  EXPECT_EQ(Get(health, "/metrics").status, 404);
  ASSERT_TRUE(world.Until([&] {
    return absl::StrContains(Get(metrics, "/metrics").body,
                             "volcano_action_scheduling_latency_milliseconds_count{action="
                             "\"allocate\"}");
  }));
  EXPECT_THAT(Get(metrics, "/metrics").body, HasSubstr("process_resident_memory_bytes"));
  EXPECT_EQ(world.scheduler().Terminate(absl::Seconds(2)), 0);
}

// The content of the first dump in a folder; "" while there is none.
std::string DumpIn(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  return "";
}

TEST(ProcessIntegrationTest, UserSignalsDumpTheTables) {
  World world;
  world.AddNodes(1, "4");
  world.AddGang("big", 5);
  const util::testing::TempFolder temp;
  const std::string& folder = temp.path();
  world.StartScheduler(HEKLA_SCHEDULER, {absl::StrCat("--cache-dump-dir=", folder)});
  ASSERT_TRUE(world.Until([&] { return world.PhaseOf("big") == "Inqueue"; }));
  world.scheduler().Signal(SIGUSR2);
  world.scheduler().Signal(SIGUSR1);
  ASSERT_TRUE(world.Until([&] { return absl::EndsWith(DumpIn(folder), "]\n"); }));
  const std::string dump = DumpIn(folder);
  const std::vector<std::string> documents = absl::StrSplit(dump, '\n', absl::SkipEmpty());
  ASSERT_EQ(documents.size(), 6u) << dump;
  const auto nodes = apis::json::Parse(documents[0]), jobs = apis::json::Parse(documents[5]);
  ASSERT_TRUE(nodes.ok() && jobs.ok()) << dump;
  EXPECT_EQ(nodes->as_array().at(0).At("allocatable").GetString("cpu"), "4");
  EXPECT_EQ(jobs->as_array().at(0).GetString("name"), "default/big");
  EXPECT_EQ(jobs->as_array().at(0).At("tasks").size(), 5u);
  ASSERT_TRUE(world.Until([&] {
    return absl::StrContains(world.scheduler().Output(), "dump job default/big queue=default");
  }));
  EXPECT_EQ(world.scheduler().Terminate(absl::Seconds(5)), 0);
}

TEST(ProcessIntegrationTest, AnAddressInUseEndsTheStart) {
  World world;
  world.StartScheduler(HEKLA_SCHEDULER,
                       {"--enable-healthz=true",
                        absl::StrCat("--healthz-address=127.0.0.1:", world.cluster().port())});
  EXPECT_EQ(world.scheduler().Wait(absl::Seconds(10)), 1);
  EXPECT_THAT(world.scheduler().Output(), HasSubstr("healthz is not served"));
}

TEST(ProcessIntegrationTest, AStandbyTakesOverWhenTheLeaderStops) {
  World world;
  world.AddNodes(1, "4");
  world.StartScheduler(HEKLA_SCHEDULER, {"--leader-elect=true"});
  ASSERT_TRUE(world.Until(
      [&] { return absl::StrContains(world.scheduler().Output(), "leading identity="); }));
  Process leader = world.ReleaseScheduler();
  world.StartScheduler(HEKLA_SCHEDULER, {"--leader-elect=true"});
  world.AddPod({.name = "first"});
  ASSERT_TRUE(world.Until([&] { return world.BoundOf("first") == 1; }));
  EXPECT_FALSE(absl::StrContains(world.scheduler().Output(), "leading identity="));
  EXPECT_EQ(leader.Terminate(absl::Seconds(2)), 0) << leader.Output();
  // The lease was given back: the standby need not wait until it ends.
  ASSERT_TRUE(world.Until(
      [&] { return absl::StrContains(world.scheduler().Output(), "leading identity="); },
      absl::Seconds(10)));
  world.AddPod({.name = "second"});
  EXPECT_TRUE(world.Until([&] { return world.BoundOf("second") == 1; }));
}

TEST(ProcessIntegrationTest, ALostLeaseEndsTheProcessAtOnce) {
  World world;
  world.AddNodes(1, "4");
  world.StartScheduler(HEKLA_SCHEDULER, {"--leader-elect=true"});
  const auto take = [&] {
    auto lease = world.server().Get("coordination.k8s.io/v1", "Lease", "volcano-system", "volcano");
    if (!lease.ok()) return false;
    (*lease)["spec"].Set("holderIdentity", "somebody-else");
    (*lease)["spec"].Set("leaseDurationSeconds", 3600);
    return world.server().Update(*lease).ok();
  };
  ASSERT_TRUE(world.Until(
      [&] { return absl::StrContains(world.scheduler().Output(), "leading identity="); }));
  ASSERT_TRUE(world.Until(take));
  EXPECT_EQ(world.scheduler().Wait(absl::Seconds(30)), 1);
  EXPECT_THAT(world.scheduler().Output(), HasSubstr("leaderelection lost"));
  EXPECT_FALSE(absl::StrContains(world.scheduler().Output(), "stopping"));
}

TEST(ProcessIntegrationTest, AHangingCredentialPluginDoesNotKeepTheProcess) {
  World world;
  const std::string kubeconfig = ::testing::TempDir() + "/hanging-plugin.kubeconfig";
  std::ofstream(kubeconfig) << "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                               "clusters: [{name: c, cluster: {server: \""
                            << world.cluster().url()
                            << "\"}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\n"
                               "users: [{name: u, user: {exec: {apiVersion: "
                               "client.authentication.k8s.io/v1, command: sh, args: [-c, \"echo "
                               "asked >&2; sleep 1000\"], interactiveMode: Never}}}]\n";
  world.StartScheduler(HEKLA_SCHEDULER, {absl::StrCat("--kubeconfig=", kubeconfig)});
  ASSERT_TRUE(
      world.Until([&] { return absl::StrContains(world.scheduler().Output(), "asked\n"); }));
  EXPECT_EQ(world.scheduler().Terminate(absl::Seconds(4)), 0);
  ::unlink(kubeconfig.c_str());
}

// One silent or trickling client after the other does not keep a listener from answering.
TEST(ProcessIntegrationTest, SlowClientsDoNotStopTheEndpoints) {
  World world;
  const Endpoints endpoints(world);
  ASSERT_TRUE(endpoints.ready);
  const int health = endpoints.health, metrics = endpoints.metrics;
  std::vector<RawConnection> slow;
  for (const int port : {health, metrics}) {
    for (int i = 0; i < 100; ++i) {
      slow.emplace_back(port);
      if (i % 2 == 0) slow.back().Send("GET /healthz HTTP/1.1\r\nA");
    }
  }
  EXPECT_EQ(Get(health, "/healthz").status, 200);
  EXPECT_EQ(Get(metrics, "/metrics").status, 200);
  // A header that never ends is cut off, and so is one that says nothing.
  EXPECT_TRUE(world.Until([&] { return slow[0].closed() && slow[1].closed(); }));
  RawConnection big(health);
  big.Send(absl::StrCat("GET /healthz HTTP/1.1\r\nA: ", std::string(20000, 'a'), "\r\n\r\n"));
  EXPECT_TRUE(world.Until([&] { return absl::StrContains(big.received(), " 431 "); }));
}

}  // namespace
}  // namespace hekla::test
