#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "pkg/kube/event_recorder.h"
#include "pkg/kube/testing/scripted_server.h"

namespace hekla::kube {
namespace {

using apis::core::ObjectReference;
using apis::json::Value;

class CoreEventRecorderTest : public testing::Test {
 protected:
  CoreEventRecorderTest() {
    RestClient::Options options;
    options.qps = 0;
    client_ = std::make_unique<RestClient>(
        RestClient::Deps{&server_.transport, &server_.executor, nullptr}, options);
    CoreEventRecorder::Options recorder;
    recorder.component = "volcano";
    recorder_ = std::make_unique<CoreEventRecorder>(client_.get(), &server_.executor, recorder);
    pod_.kind = "Pod";
    pod_.ns = "ns";
    pod_.name = "p";
    pod_.uid = "u";
  }
  void Record(const std::string& message) {
    recorder_->Record(pod_, "Warning", "FailedScheduling", message);
  }
  // Answers every request with 201 and returns the bodies.
  std::vector<Value> Drain(int status = 201) {
    std::vector<Value> bodies;
    while (!server_.Idle()) {
      auto& call = server_.Next();
      methods_.push_back(call.request.method);
      bodies.push_back(*apis::json::Parse(call.request.body));
      call.Answer(status, "{}");
    }
    return bodies;
  }

  ScriptedServer server_;
  std::unique_ptr<RestClient> client_;
  std::unique_ptr<CoreEventRecorder> recorder_;
  ObjectReference pod_;
  std::vector<std::string> methods_;
};

TEST_F(CoreEventRecorderTest, EqualEventsAreCountedByPatch) {
  Record("no room");
  const std::vector<Value> first = Drain();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].At("involvedObject").GetString("uid"), "u");
  EXPECT_EQ(first[0].At("source").GetString("component"), "volcano");
  EXPECT_EQ(first[0].GetInt("count"), 1);
  server_.executor.Advance(absl::Seconds(1));
  Record("no room");
  const std::vector<Value> second = Drain(200);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].GetInt("count"), 2);
  EXPECT_EQ(methods_, (std::vector<std::string>{"POST", "PATCH"}));
}

TEST_F(CoreEventRecorderTest, TheTenthDistinctMessageIsCombined) {
  std::vector<Value> bodies;
  for (int i = 1; i <= 11; ++i) {
    Record(absl::StrCat("reason ", i));
    for (Value& body : Drain()) bodies.push_back(std::move(body));
  }
  ASSERT_EQ(bodies.size(), 11u);
  EXPECT_EQ(bodies[8].GetString("message"), "reason 9");
  EXPECT_EQ(bodies[9].GetString("message"), "(combined from similar events): reason 10");
  EXPECT_EQ(bodies[10].GetString("message"), "(combined from similar events): reason 11");
  EXPECT_EQ(bodies[10].GetInt("count"), 2);
}

TEST_F(CoreEventRecorderTest, ABudgetPerObjectDropsTheRestButKeepsCounting) {
  for (int i = 0; i < 40; ++i) {
    Record("again");
    Drain();
  }
  EXPECT_EQ(recorder_->counters().created, 1);
  EXPECT_EQ(recorder_->counters().patched, 24);
  EXPECT_EQ(recorder_->counters().dropped_spam, 15);
  server_.executor.Advance(absl::Seconds(300));
  Record("again");
  const std::vector<Value> later = Drain();
  ASSERT_EQ(later.size(), 1u);
  EXPECT_EQ(later[0].GetInt("count"), 41);
}

TEST_F(CoreEventRecorderTest, ExpiredEventsAreMadeAnewWithTheirCount) {
  Record("no room");
  Drain();
  Record("no room");
  auto& patch = server_.Next();
  EXPECT_EQ(patch.request.method, "PATCH");
  patch.Answer(404, R"({"kind":"Status","status":"Failure","reason":"NotFound","code":404})");
  const std::vector<Value> bodies = Drain();
  ASSERT_EQ(bodies.size(), 1u);
  EXPECT_EQ(bodies[0].GetInt("count"), 2);
  EXPECT_EQ(methods_.back(), "POST");
}

TEST_F(CoreEventRecorderTest, LostConnectionsAreTriedAgainAndAnswersAreNot) {
  Record("a");
  server_.Next();
  server_.transport.DropConnections();
  server_.executor.Advance(absl::Seconds(10));
  EXPECT_FALSE(server_.Idle());
  server_.Next().Answer(403,
                        R"({"kind":"Status","status":"Failure","reason":"Forbidden","code":403})");
  server_.executor.Advance(absl::Minutes(5));
  EXPECT_TRUE(server_.Idle());
  EXPECT_EQ(recorder_->counters().failed, 1);
  EXPECT_EQ(recorder_->pending(), 0u);
}

TEST_F(CoreEventRecorderTest, ChangesDuringAWriteFollowIt) {
  Record("a");
  auto& create = server_.Next();
  Record("a");
  Record("a");
  EXPECT_TRUE(server_.Idle());
  create.Answer(201, "{}");
  const std::vector<Value> bodies = Drain();
  ASSERT_EQ(bodies.size(), 1u);
  EXPECT_EQ(bodies[0].GetInt("count"), 3);
}

TEST_F(CoreEventRecorderTest, AFullQueueDropsAndUnknownTypesAreRefused) {
  for (int i = 0; i < 1005; ++i) Record("a");
  EXPECT_EQ(recorder_->counters().dropped_queue_full, 5);
  recorder_->Record(pod_, "Odd", "R", "m");
  EXPECT_EQ(recorder_->counters().recorded, 1005);
}

}  // namespace
}  // namespace hekla::kube
