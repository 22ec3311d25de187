// When the scheduler's events go out: behind its other writes, but not behind those that cannot be
// made; and before it stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/shipped/shipped_crds.h"
#include "pkg/assembly/scheduler_graph.h"
#include "pkg/http/loopback_transport.h"
#include "pkg/util/manual_executor.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::sim {
namespace {

using apis::json::Value;
using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Lets requests through, or answers them with an error.
class Front final : public http::Handler {
 public:
  explicit Front(http::Handler* inner) : inner_(inner) {}
  void Handle(http::Request request, const http::Peer& peer,
              std::shared_ptr<http::Responder> responder) override {
    if (fails && fails(request)) {
      http::Response response;
      response.status = 500;
      responder->Respond(std::move(response));
      return;
    }
    inner_->Handle(std::move(request), peer, std::move(responder));
  }
  std::function<bool(const http::Request&)> fails;

 private:
  http::Handler* const inner_;
};

class SchedulerEventsTest : public ::testing::Test {
 protected:
  SchedulerEventsTest() {
    EXPECT_THAT(apiserver::shipped::LoadCrds(server_), util::testing::IsOk());
    Put(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},)"
        R"("status":{"allocatable":{"cpu":"4","pods":"110"}}})");
    assembly::SchedulerGraph::Options options;
    options.manual_cycles = true;
    auto graph = assembly::SchedulerGraph::Build(
        {.transport = &transport_, .io = &executor_, .session = &executor_, .clock = &clock_},
        options);
    EXPECT_TRUE(graph.ok()) << graph.status();
    graph_ = *std::move(graph);
    graph_->Start();
    Settle();
    for (int i = 0; i < 10 && !graph_->Ready(); ++i) Wait(absl::Seconds(1));
    EXPECT_TRUE(graph_->Ready());
  }
  static apiserver::Options ServerOptions(const util::Clock* clock) {
    apiserver::Options options;
    options.clock = clock;
    return options;
  }
  void Put(const std::string& text) {
    const auto stored = server_.Import(*apis::json::Parse(text));
    ASSERT_TRUE(stored.ok()) << stored.status();
  }
  void Pod(const std::string& name, const std::string& cpu) {
    Put(absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default",)"
                     R"("name":")",
                     name, R"("},"spec":{"schedulerName":"volcano","containers":[{"name":"c",)",
                     R"("image":"i","resources":{"requests":{"cpu":")", cpu, R"("}}}]}})"));
  }
  void Settle() {
    server_.Tick();
    while (executor_.RunReady() > 0) {
    }
  }
  void Wait(absl::Duration time) {
    executor_.Advance(time);
    Settle();
  }
  // Cycles until there is nothing new to decide upon; no time passes.
  void Schedule() {
    do {
      Settle();
      graph_->RunOnce();
      Settle();
    } while (graph_->PendingDeltas() > 0);
  }
  // "Scheduled a", "FailedScheduling b": of pods alone.
  std::vector<std::string> Events() {
    std::vector<std::string> out;
    const auto events = server_.List("v1", "Event", "");
    EXPECT_TRUE(events.ok()) << events.status();
    for (const Value& event : *events) {
      const Value& object = event.At("involvedObject");
      if (object.GetString("kind") != "Pod") continue;
      out.push_back(absl::StrCat(event.GetString("reason"), " ", object.GetString("name")));
    }
    return out;
  }

  util::FakeClock clock_{absl::FromUnixSeconds(1767225600)};
  util::ManualExecutor executor_{&clock_};
  apiserver::ApiServer server_{ServerOptions(&clock_)};
  Front front_{&server_};
  http::LoopbackTransport transport_{&front_, &executor_};
  std::unique_ptr<assembly::SchedulerGraph> graph_;
};

TEST_F(SchedulerEventsTest, GoAsSoonAsAllElseIsWritten) {
  for (int i = 0; i < 12; ++i) Pod(absl::StrCat("fits", i), "100m");
  for (int i = 0; i < 12; ++i) Pod(absl::StrCat("big", i), "5000");
  Schedule();
  EXPECT_THAT(Events(), SizeIs(24));
  EXPECT_THAT(Events(), Contains(StartsWith("Scheduled fits")).Times(12));
  EXPECT_THAT(Events(), Contains(StartsWith("FailedScheduling big")).Times(12));
  EXPECT_EQ(graph_->PendingWrites(), 0u);
}

TEST_F(SchedulerEventsTest, DoNotWaitForAWriteThatTheServerNeverTakes) {
  front_.fails = [](const http::Request& request) {
    return absl::StrContains(request.target, "/pods/big/status");
  };
  Pod("big", "5000");
  Schedule();
  EXPECT_GT(graph_->PendingWrites(), 0u);  // the condition is tried again and again
  for (int i = 0; i < 4; ++i) Pod(absl::StrCat("fits", i), "100m");
  Schedule();
  EXPECT_THAT(Events(), Contains(StartsWith("Scheduled fits")).Times(4));
  Wait(absl::Minutes(10));
  EXPECT_GT(graph_->PendingWrites(), 0u);
  Pod("late", "100m");
  Schedule();
  EXPECT_THAT(Events(), Contains("Scheduled late"));
}

TEST_F(SchedulerEventsTest, WaitForBindings) {
  int bindings = 0, too_early = 0;
  front_.fails = [&](const http::Request& request) {
    if (absl::EndsWith(request.target, "/binding")) ++bindings;
    if (request.method == "POST" && absl::StrContains(request.target, "/events") &&
        bindings < 300) {
      ++too_early;
    }
    return false;
  };
  for (int i = 0; i < 100; ++i) Pod(absl::StrCat("a", i), "1m");
  for (int i = 0; i < 100; ++i) Pod(absl::StrCat("b", i), "1m");
  Put(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"m"},)"
      R"("status":{"allocatable":{"cpu":"4","pods":"1000"}}})");
  for (int i = 0; i < 100; ++i) Pod(absl::StrCat("c", i), "1m");
  Settle();
  graph_->RunOnce();
  Settle();
  EXPECT_EQ(bindings, 300);
  EXPECT_EQ(too_early, 0);
  Schedule();
  EXPECT_EQ(graph_->PendingWrites(), 0u);
  EXPECT_THAT(Events(), Each(StartsWith("Scheduled")));
  EXPECT_THAT(Events(), SizeIs(300));
}

TEST_F(SchedulerEventsTest, AreSentBeforeTheSchedulerStops) {
  for (int i = 0; i < 30; ++i) Pod(absl::StrCat("fits", i), "1m");
  Settle();
  graph_->RunOnce();
  EXPECT_THAT(Events(), IsEmpty());
  bool stopped = false;
  std::vector<std::string> before_the_end;
  graph_->Stop([&] {
    stopped = true;
    before_the_end = Events();
  });
  Settle();
  EXPECT_TRUE(stopped);
  EXPECT_THAT(before_the_end, SizeIs(30));
}

TEST_F(SchedulerEventsTest, DoNotKeepASchedulerWhoseServerIsAway) {
  for (int i = 0; i < 30; ++i) Pod(absl::StrCat("fits", i), "1m");
  Settle();
  front_.fails = [](const http::Request& request) {
    return absl::StrContains(request.target, "/events");
  };
  graph_->RunOnce();
  bool stopped = false;
  graph_->Stop([&] { stopped = true; });
  Settle();
  EXPECT_TRUE(stopped);
}

}  // namespace
}  // namespace hekla::sim
