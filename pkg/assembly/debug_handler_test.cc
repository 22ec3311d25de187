#include "pkg/assembly/debug_handler.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/util/manual_executor.h"

namespace hekla::assembly {
namespace {

using ::testing::HasSubstr;

// Nobody is asked: the graph is never started.
class NoTransport final : public http::Transport {
 public:
  void Send(http::Request request, absl::Duration timeout, http::ResponseCallback done) override {
    (void)request, (void)timeout, (void)done;
  }
  std::unique_ptr<http::Stream> OpenStream(http::Request request, absl::Duration idle_timeout,
                                           http::StreamObserver* observer) override {
    (void)request, (void)idle_timeout, (void)observer;
    return nullptr;
  }
};

class Recorder final : public http::Responder {
 public:
  void Respond(http::Response response) override { responses.push_back(std::move(response)); }
  std::shared_ptr<http::StreamWriter> StartStream(int status, http::Headers headers) override {
    (void)status, (void)headers;
    return nullptr;
  }
  std::vector<http::Response> responses;
};

class DebugHandlerTest : public ::testing::Test {
 protected:
  DebugHandlerTest() : io_(&clock_), session_(&clock_) {
    SchedulerGraph::Options options;
    options.manual_cycles = true;
    options.config_text = "actions: \"allocate\"\ntiers:\n- plugins:\n  - name: gang\n";
    graph_ = *SchedulerGraph::Build(
        {.transport = &transport_, .io = &io_, .session = &session_, .clock = &clock_}, options);
    handler_ = std::make_unique<DebugHandler>(graph_.get(), &io_);
  }
  std::shared_ptr<Recorder> Ask(const std::string& target, const std::string& method = "GET") {
    auto recorder = std::make_shared<Recorder>();
    http::Request request;
    request.method = method;
    request.target = target;
    handler_->Handle(std::move(request), {}, recorder);
    return recorder;
  }

  NoTransport transport_;
  util::FakeClock clock_;
  util::ManualExecutor io_, session_;
  std::unique_ptr<SchedulerGraph> graph_;
  std::unique_ptr<DebugHandler> handler_;
};

TEST_F(DebugHandlerTest, WhatIsNoQuestionIsRefusedAtOnce) {
  EXPECT_EQ(Ask("/debug/explain")->responses.at(0).status, 400);
  EXPECT_EQ(Ask("/debug/explain?pod=a&podgroup=b")->responses.at(0).status, 400);
  EXPECT_EQ(Ask("/debug/explain?pod=a", "POST")->responses.at(0).status, 405);
  EXPECT_EQ(Ask("/debug/pprof/profile")->responses.at(0).status, 501);
  EXPECT_THAT(Ask("/")->responses.at(0).body, HasSubstr("/debug/explain?pod=ns/name"));
  EXPECT_EQ(session_.pending(), 0u);
}

TEST_F(DebugHandlerTest, BeforeTheFirstCycleThereIsNoAnswer) {
  const auto answer = Ask("/debug/explain?pod=a");
  EXPECT_TRUE(answer->responses.empty());
  session_.RunReady();
  ASSERT_EQ(answer->responses.size(), 1u);
  EXPECT_EQ(answer->responses[0].status, 503);
  EXPECT_EQ(answer->responses[0].body, "{\"error\":\"the scheduler has not run a cycle yet\"}\n");
}

TEST_F(DebugHandlerTest, ABusySchedulerIsNotWaitedFor) {
  const auto answer = Ask("/debug/explain?podgroup=team/a");
  io_.Advance(absl::Seconds(1.9));
  EXPECT_TRUE(answer->responses.empty());
  io_.Advance(absl::Seconds(0.1));
  ASSERT_EQ(answer->responses.size(), 1u);
  EXPECT_EQ(answer->responses[0].status, 503);
  session_.RunReady();  // the late answer goes nowhere
  EXPECT_EQ(answer->responses.size(), 1u);
}

// Nothing runs on the session's thread, as in a cycle that does not end.
TEST_F(DebugHandlerTest, MetricsAndReadinessAreReadWithoutTheScheduler) {
  graph_->Start();
  EXPECT_THAT(graph_->MetricsText(), HasSubstr("volcano_"));
  EXPECT_FALSE(graph_->Ready());
}

TEST_F(DebugHandlerTest, TooManyQuestionsAreNotQueued) {
  std::vector<std::shared_ptr<Recorder>> waiting;
  for (int i = 0; i < 8; ++i) waiting.push_back(Ask("/debug/explain?pod=a"));
  const auto surplus = Ask("/debug/explain?pod=a");
  ASSERT_EQ(surplus->responses.size(), 1u);
  EXPECT_EQ(surplus->responses[0].status, 503);
  session_.RunReady();
  for (const auto& one : waiting) EXPECT_EQ(one->responses.size(), 1u);
  EXPECT_TRUE(Ask("/debug/explain?pod=a")->responses.empty());
}

}  // namespace
}  // namespace hekla::assembly
