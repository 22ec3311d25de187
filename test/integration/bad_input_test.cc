#include <unistd.h>

#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/util/testing/temp_folder.h"
#include "test/integration/world.h"

namespace hekla::test {
namespace {

using ::testing::HasSubstr;

class BadInputTest : public ::testing::Test {
 protected:
  void Write(const std::string& text) { std::ofstream(path_) << text; }

  // Exit code of a start that is expected to fail; its output in `output`.
  int Run(const std::vector<std::string>& flags, std::string* output) {
    absl::StatusOr<Process> process = Process::Start(HEKLA_SCHEDULER, flags, folder_ + "/log");
    if (!process.ok()) return -2;
    const int code = process->Wait(absl::Seconds(10));
    *output = process->Output();
    return code;
  }

  const util::testing::TempFolder temp_;
  const std::string& folder_ = temp_.path();
  const std::string path_ = folder_ + "/scheduler.conf";
};

TEST_F(BadInputTest, ABadConfigurationAtStartEndsWithTwo) {
  struct Case {
    std::string text;
    std::string expected;
  };
  const Case cases[] = {
      {"actions: \"allocate, dance\"\n", ":1: actions: failed to find Action dance; accepted: "},
      {"actions: allocate\ntiers:\n- plugins:\n  - name: gnag\n",
       ":4: tiers[0].plugins[0].name: failed to find plugin gnag; accepted: "},
      {"actions: allocate\ntiers: [\n", "line 3"},
      {"actions: allocate\ntiers: 7\n", ":2: tiers: is a number, accepted: a list"},
  };
  for (const Case& c : cases) {
    Write(c.text);
    std::string output;
    EXPECT_EQ(
        Run({"--master=http://127.0.0.1:1", "--leader-elect=false", "--scheduler-conf=" + path_},
            &output),
        2)
        << output;
    EXPECT_THAT(output, HasSubstr(path_));
    EXPECT_THAT(output, HasSubstr(c.expected));
  }
}

TEST_F(BadInputTest, UnknownFlagsPrintTheUsageAndEndWithTwo) {
  std::string output;
  EXPECT_EQ(Run({"--nonsense"}, &output), 2);
  EXPECT_THAT(output, HasSubstr("unknown flag: --nonsense"));
  EXPECT_THAT(output, HasSubstr("--scheduler-conf"));
}

TEST_F(BadInputTest, VersionPrintsSixLines) {
  std::string output;
  EXPECT_EQ(Run({"--version"}, &output), 0);
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 6) << output;
}

TEST_F(BadInputTest, ABadReloadKeepsTheOldConfiguration) {
  World world;
  world.AddNodes(2, "4");
  Write(
      "actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n");
  world.StartScheduler(HEKLA_SCHEDULER, {"--scheduler-conf=" + path_});
  world.AddGang("before", 2);
  ASSERT_TRUE(world.Until([&] { return world.BoundOf("before") == 2; }));
  Write("actions: \"nonsense\"\n");
  ASSERT_TRUE(world.Until([&] {
    return absl::StrContains(world.scheduler().Output(), "configuration not reloaded");
  })) << world.scheduler().Output();
  world.AddGang("after", 2);
  EXPECT_TRUE(world.Until([&] { return world.BoundOf("after") == 2; }));
  EXPECT_TRUE(world.scheduler().Running());
}

// An object that cannot be decoded is skipped alone. Our API server would not store one, so that a
// value is changed on its way.
TEST_F(BadInputTest, AMalformedPodStopsNobodyElse) {
  World world;
  world.AddNodes(1, "4");
  world.AddPod({.name = "broken", .cpu = "1234m"});
  world.AddPod({.name = "fine"});
  world.faults().SetRule([&](const http::Request& request) -> std::optional<http::Response> {
    if (request.method != "GET" || !absl::StartsWith(request.target, "/api/v1/pods?")) {
      return std::nullopt;
    }
    if (absl::StrContains(request.target, "sendInitialEvents")) {
      // An older server: the client lists instead.
      http::Response invalid;
      invalid.status = 422;
      invalid.body = R"({"kind":"Status","status":"Failure","reason":"Invalid","code":422})";
      return invalid;
    }
    if (absl::StrContains(request.target, "watch=")) return std::nullopt;
    http::Response response = world.server().Call(request);
    response.body = absl::StrReplaceAll(response.body, {{"1234m", "lots"}});
    return response;
  });
  world.StartScheduler(HEKLA_SCHEDULER);
  EXPECT_TRUE(world.Until([&] { return world.BoundOf("fine") == 1; }));
  EXPECT_THAT(world.scheduler().Output(), HasSubstr("default/broken"));
  EXPECT_EQ(world.BoundOf("broken"), 0);
}

TEST_F(BadInputTest, APodGroupOfAnUnknownQueueIsPendingAndSaysSo) {
  World world;
  world.AddNodes(1, "4");
  world.AddPodGroup("lost", 1, "nowhere");
  world.AddPod({.name = "lost-0", .group = "lost"});
  world.StartScheduler(HEKLA_SCHEDULER);
  EXPECT_TRUE(world.Until([&] {
    return absl::StrContains(world.ConditionOf("lost", "Unschedulable"), "nowhere");
  })) << world.ConditionOf("lost", "Unschedulable");
  EXPECT_TRUE(world.Until([&] {
    for (const std::string& message : world.EventsOf("lost", "Unschedulable")) {
      if (absl::StrContains(message, "nowhere")) return true;
    }
    return false;
  }));
  EXPECT_EQ(world.BoundOf("lost"), 0);
}

}  // namespace
}  // namespace hekla::test
