#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/http/beast_transport.h"
#include "test/integration/world.h"

// What the process does around scheduling: endpoints and leader election.
namespace hekla::test {
namespace {

using ::testing::HasSubstr;

// A port that was free a moment ago.
int FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

http::Response Get(int port, const std::string& path) {
  http::BeastTransport::Options options;
  options.url = absl::StrCat("http://127.0.0.1:", port);
  auto transport = http::BeastTransport::Create(std::move(options));
  http::Request request;
  request.method = "GET";
  request.target = path;
  const auto response = http::SendAndWait(**transport, std::move(request), absl::Seconds(5));
  return response.ok() ? *response : http::Response();
}

TEST(ProcessIntegrationTest, HealthAndMetricsAreServed) {
  World world;
  world.AddNodes(1, "4");
  const int health = FreePort(), metrics = FreePort();
  world.StartScheduler(
      HEKLA_SCHEDULER,
      {"--enable-healthz=true", absl::StrCat("--healthz-address=127.0.0.1:", health),
       "--enable-metrics=true", absl::StrCat("--listen-address=127.0.0.1:", metrics)});
  ASSERT_TRUE(world.Until([&] { return Get(health, "/readyz").status == 200; }));
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
  ASSERT_TRUE(
      world.server()
          .Create(*apis::json::Parse(
              R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"volcano-system"}})"))
          .ok());
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

}  // namespace
}  // namespace hekla::test
