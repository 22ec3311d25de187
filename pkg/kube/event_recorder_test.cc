#include "pkg/kube/event_recorder.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/json/value.h"
#include "pkg/kube/event_writer.h"
#include "pkg/kube/testing/scripted_server.h"

namespace hekla::kube {
namespace {

using apis::core::ObjectReference;
using apis::json::Value;

// A server, a client without limits, and the events as the server would keep them.
class EventsTest : public ::testing::Test {
 protected:
  EventsTest() {
    RestClient::Options options;
    options.qps = 0;
    client_ = std::make_unique<RestClient>(
        RestClient::Deps{&server_.transport, &server_.executor, nullptr}, options);
  }
  // Answers what has come since the last time; returns "METHOD count message" of each.
  std::vector<std::string> Serve() {
    std::vector<std::string> out;
    while (!server_.Idle()) {
      auto& call = server_.Next();
      auto body = apis::json::Parse(call.request.body);
      EXPECT_TRUE(body.ok());
      bodies_.push_back(*body);
      targets_.push_back(call.request.target);
      const Value& series = body->At("series");
      const int64_t count = series.is_object() ? series.GetInt("count") : body->GetInt("count");
      out.push_back(absl::StrCat(call.request.method, " ", count, " ",
                                 body->GetString("message", body->GetString("note"))));
      call.Answer(call.request.method == "POST" ? 201 : 200, "{}");
    }
    return out;
  }
  ObjectReference Pod(const std::string& name = "web-1") {
    return {.api_version = "v1",
            .kind = "Pod",
            .ns = "lab",
            .name = name,
            .uid = "u1",
            .resource_version = "5",
            .field_path = ""};
  }

  ScriptedServer server_;
  std::unique_ptr<RestClient> client_;
  std::vector<Value> bodies_;
  std::vector<std::string> targets_;
};

class CoreEventRecorderTest : public EventsTest {
 protected:
  void Make(CoreEventRecorder::Options options = {}) {
    options.component = "volcano";
    options.host = "h1";
    recorder_ = std::make_unique<CoreEventRecorder>(client_.get(), &server_.executor, options);
  }
  void Warn(const std::string& message, const std::string& reason = "FailedFit") {
    recorder_->Record(Pod(), "Warning", reason, message);
  }
  std::unique_ptr<CoreEventRecorder> recorder_;
};

TEST_F(CoreEventRecorderTest, AnEventHasAllItsFields) {
  Make();
  recorder_->Record(Pod(), "Normal", "Scheduled", "assigned", {{"a", "1"}});
  EXPECT_EQ(Serve(), (std::vector<std::string>{"POST 1 assigned"}));
  const Value& event = bodies_[0];
  EXPECT_EQ(targets_[0], "/api/v1/namespaces/lab/events");
  EXPECT_EQ(event.GetString("kind"), "Event");
  const int64_t nanos = absl::ToUnixNanos(server_.clock.Now());
  EXPECT_EQ(event.At("metadata").GetString("name"), absl::StrCat("web-1.", absl::Hex(nanos)));
  EXPECT_EQ(event.At("metadata").GetString("namespace"), "lab");
  EXPECT_EQ(event.At("metadata").At("annotations").GetString("a"), "1");
  EXPECT_EQ(event.At("involvedObject").GetString("uid"), "u1");
  EXPECT_EQ(event.At("involvedObject").GetString("resourceVersion"), "5");
  EXPECT_EQ(event.GetString("type"), "Normal");
  EXPECT_EQ(event.GetString("reason"), "Scheduled");
  EXPECT_EQ(event.At("source").GetString("component"), "volcano");
  EXPECT_EQ(event.At("source").GetString("host"), "h1");
  EXPECT_EQ(event.GetString("reportingComponent"), "volcano");
  EXPECT_EQ(event.GetString("reportingInstance"), "h1");
  EXPECT_EQ(event.GetString("firstTimestamp"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(event.GetString("lastTimestamp"), "2026-01-01T00:00:00Z");
}

TEST_F(CoreEventRecorderTest, ClusterWideObjectsReportInDefaultAndUnknownTypesNowhere) {
  Make();
  ObjectReference node;
  node.kind = "Node";
  node.name = "n1";
  recorder_->Record(node, "Normal", "R", "m");
  recorder_->Record(Pod(), "Alarming", "R", "m");
  EXPECT_EQ(Serve().size(), 1u);
  EXPECT_EQ(targets_[0], "/api/v1/namespaces/default/events");
}

// spec kube-machinery worked example 8.
TEST_F(CoreEventRecorderTest, TheTenthDistinctMessageStartsCombining) {
  Make();
  std::vector<std::string> writes;
  for (int i = 1; i <= 12; ++i) {
    Warn(absl::StrCat("m", i));
    for (const std::string& write : Serve()) writes.push_back(write);
    server_.executor.Advance(absl::Seconds(5));
  }
  ASSERT_EQ(writes.size(), 12u);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(writes[i], absl::StrCat("POST 1 m", i + 1));
  EXPECT_EQ(writes[9], "POST 1 (combined from similar events): m10");
  EXPECT_EQ(writes[10], "PATCH 2 (combined from similar events): m11");
  EXPECT_EQ(writes[11], "PATCH 3 (combined from similar events): m12");
  EXPECT_EQ(recorder_->counters().created, 10);
  EXPECT_EQ(recorder_->counters().patched, 2);
}

TEST_F(CoreEventRecorderTest, QuirkAnOldMessageComesOutAloneWhileOthersAreCombined) {
  Make();
  for (int i = 1; i <= 10; ++i) Warn(absl::StrCat("m", i));
  Serve();
  Warn("m9");  // among the nine that stay known
  EXPECT_EQ(Serve(), (std::vector<std::string>{"PATCH 2 m9"}));
  EXPECT_EQ(bodies_[9].GetString("reportingComponent"), "");  // the combined one
}

TEST_F(CoreEventRecorderTest, SimilarMessagesAreForgottenAfterTenMinutes) {
  Make();
  for (int i = 1; i <= 9; ++i) Warn(absl::StrCat("m", i));
  Serve();
  server_.executor.Advance(absl::Seconds(601));
  Warn("m10");
  EXPECT_EQ(Serve(), (std::vector<std::string>{"POST 1 m10"}));
}

// spec kube-machinery worked example 9.
TEST_F(CoreEventRecorderTest, EqualEventsAreCountedAndLimited) {
  Make();
  std::vector<std::string> writes;
  for (int i = 0; i < 30; ++i) {
    Warn("same");
    for (const std::string& write : Serve()) writes.push_back(write);
  }
  ASSERT_EQ(writes.size(), 25u);
  EXPECT_EQ(writes[0], "POST 1 same");
  for (int i = 1; i < 25; ++i) EXPECT_EQ(writes[i], absl::StrCat("PATCH ", i + 1, " same"));
  EXPECT_EQ(recorder_->counters().dropped_spam, 5);
  EXPECT_EQ(targets_[1], absl::StrCat("/api/v1/namespaces/lab/events/",
                                      bodies_[0].At("metadata").GetString("name")));
  server_.executor.Advance(absl::Seconds(310));
  Warn("same");
  EXPECT_EQ(Serve(), (std::vector<std::string>{"PATCH 31 same"}));
  EXPECT_EQ(bodies_.back().GetString("lastTimestamp"), "2026-01-01T00:05:10Z");
}

TEST_F(CoreEventRecorderTest, APatchOfAnEventThatIsGoneCreatesItWithItsCount) {
  Make();
  Warn("same");
  Serve();
  Warn("same");
  server_.Next().Answer(404, "{}");
  EXPECT_EQ(Serve(), (std::vector<std::string>{"POST 2 same"}));
}

TEST_F(CoreEventRecorderTest, EventsOfOneMomentHaveDifferentNames) {
  Make();
  for (int i = 0; i < 5; ++i) Warn("m", absl::StrCat("Reason", i));
  Serve();
  std::set<std::string> names;
  for (const Value& body : bodies_) {
    names.insert(std::string(body.At("metadata").GetString("name")));
  }
  EXPECT_EQ(names.size(), 5u);
}

TEST_F(CoreEventRecorderTest, UnansweredWritesAreTriedTwelveTimes) {
  Make();
  Warn("m");
  int tries = 0;
  const absl::Time start = server_.clock.Now();
  while (recorder_->pending() > 0 && tries < 50) {
    server_.executor.RunReady();
    while (!server_.Idle()) {
      server_.Next();
      ++tries;
      server_.transport.DropConnections();
      server_.executor.RunReady();
    }
    server_.executor.Advance(absl::Seconds(10));
  }
  EXPECT_EQ(tries, 12);
  EXPECT_EQ(recorder_->counters().failed, 1);
  EXPECT_GE(server_.clock.Now() - start, absl::Seconds(100));  // 11 waits, the first up to 10 s
}

TEST_F(CoreEventRecorderTest, WhatTheServerRefusesIsDroppedAtOnce) {
  Make();
  Warn("m");
  server_.Next().Answer(403, R"({"kind":"Status","status":"Failure","reason":"Forbidden"})");
  server_.executor.Advance(absl::Minutes(5));
  EXPECT_TRUE(server_.Idle());
  EXPECT_EQ(recorder_->pending(), 0u);
  EXPECT_EQ(recorder_->counters().failed, 1);
}

TEST_F(CoreEventRecorderTest, ASlowServerGetsTheNewestStateOnly) {
  Make();
  Warn("same");
  auto& first = server_.Next();
  for (int i = 0; i < 5; ++i) Warn("same");
  EXPECT_TRUE(server_.Idle());  // one write of a name at a time
  first.Answer(201, "{}");
  EXPECT_EQ(Serve(), (std::vector<std::string>{"PATCH 6 same"}));
}

TEST_F(CoreEventRecorderTest, AFullQueueDropsAndNeverBlocks) {
  CoreEventRecorder::Options options;
  options.queue_limit = 10;
  metrics::Registry registry;
  EventDrops drops(registry);
  options.drops = &drops;
  Make(options);
  for (int i = 0; i < 50; ++i) Warn("m", absl::StrCat("R", i));
  EXPECT_EQ(recorder_->pending(), 10u);
  EXPECT_EQ(recorder_->counters().dropped_queue_full, 40);
  EXPECT_NE(registry.Expose().find("hekla_events_dropped_total{reason=\"queue_full\"} 40\n"),
            std::string::npos)
      << registry.Expose();
  Serve();
  EXPECT_EQ(recorder_->pending(), 0u);
}

TEST_F(CoreEventRecorderTest, WaitsWhileOtherWritesAreMoreUrgent) {
  Make();
  bool busy = true;
  recorder_->YieldWhile([&busy] { return busy; });
  for (int i = 0; i < 12; ++i) Warn("m", absl::StrCat("R", i));
  server_.executor.Advance(absl::Seconds(9));
  EXPECT_TRUE(server_.Idle());
  recorder_->LookAgain();  // in vain
  server_.executor.RunReady();
  EXPECT_TRUE(server_.Idle());
  busy = false;
  recorder_->LookAgain();
  server_.executor.RunReady();
  EXPECT_EQ(server_.calls.size() - server_.taken, 8u);
  EXPECT_EQ(Serve().size(), 12u);
}

TEST_F(CoreEventRecorderTest, TellsWhenAllIsSent) {
  Make();
  bool busy = true, sent = false;
  recorder_->YieldWhile([&busy] { return busy; });
  for (int i = 0; i < 2; ++i) Warn("m", absl::StrCat("R", i));
  recorder_->WhenSent([&sent] { sent = true; });
  server_.executor.RunReady();
  EXPECT_FALSE(sent);
  busy = false;
  recorder_->LookAgain();
  server_.executor.RunReady();
  server_.Next().Answer(201, "{}");
  server_.executor.RunReady();
  EXPECT_FALSE(sent);
  server_.transport.DropConnections();  // the other is tried again in a while
  server_.executor.RunReady();
  EXPECT_TRUE(sent);
  EXPECT_EQ(recorder_->pending(), 1u);
}

TEST_F(CoreEventRecorderTest, GoesOneAtATimeWhenItHasWaitedForLong) {
  Make();
  bool busy = true;
  recorder_->YieldWhile([&busy] { return busy; });
  for (int i = 0; i < 12; ++i) Warn("m", absl::StrCat("R", i));
  server_.executor.Advance(absl::Seconds(11));
  auto& first = server_.Next();
  EXPECT_TRUE(server_.Idle());
  first.Answer(201, "{}");
  auto& second = server_.Next();
  EXPECT_TRUE(server_.Idle());
  busy = false;
  second.Answer(201, "{}");
  server_.executor.RunReady();
  EXPECT_EQ(server_.calls.size() - server_.taken, 8u);
  EXPECT_EQ(Serve().size(), 10u);
  EXPECT_EQ(recorder_->counters().created, 12);
}

TEST_F(CoreEventRecorderTest, RecordsFromManyThreads) {
  Make();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 5; ++i) Warn("m", absl::StrCat("R", t, "-", i));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(Serve().size(), 20u);
}

TEST(EventDropsTest, AreToldOncePerMinuteAndAllCounted) {
  DropLog log;
  const absl::Duration start = absl::Seconds(1000);
  for (int second = 0; second < 150; ++second) {
    for (int i = 0; i < 100; ++i) log.Add(start + absl::Seconds(second), "reason=R");
  }
  EXPECT_EQ(log.lines(), 3);  // at 0 s, 60 s and 120 s
}

TEST_F(CoreEventRecorderTest, WhatABudgetOrTheServerRefusesIsCounted) {
  metrics::Registry registry;
  EventDrops drops(registry);
  CoreEventRecorder::Options options;
  options.spam_burst = 2;
  options.drops = &drops;
  Make(options);
  for (int i = 0; i < 5; ++i) Warn("m", absl::StrCat("R", i));
  server_.Next().Answer(403, "{}");
  server_.Next().Answer(201, "{}");
  EXPECT_TRUE(server_.Idle());
  const std::string text = registry.Expose();
  EXPECT_NE(text.find("hekla_events_dropped_total{reason=\"rate_limited\"} 3\n"),
            std::string::npos);
  EXPECT_NE(text.find("hekla_events_dropped_total{reason=\"not_written\"} 1\n"), std::string::npos);
}

class SeriesEventRecorderTest : public EventsTest {
 protected:
  void Note(const std::string& note, int32_t count = 1) { NoteOf(Pod(), note, count); }
  void NoteOf(const ObjectReference& object, const std::string& note, int32_t count = 1) {
    recorder_.RecordAction({.regarding = object,
                            .type = "Normal",
                            .reason = "Created",
                            .action = "Create",
                            .note = note,
                            .count = count});
  }
  SeriesEventRecorder recorder_{
      client_.get(), &server_.executor, {.controller = "raycluster", .host = "h1"}};
};

// spec kube-machinery worked example 10.
TEST_F(SeriesEventRecorderTest, RepeatsBecomeASeriesWithTheFirstNote) {
  Note("n1");
  EXPECT_EQ(Serve(), (std::vector<std::string>{"POST 0 n1"}));
  EXPECT_EQ(targets_[0], "/apis/events.k8s.io/v1/namespaces/lab/events");
  EXPECT_EQ(bodies_[0].GetString("eventTime"), "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(bodies_[0].GetString("reportingController"), "raycluster");
  EXPECT_EQ(bodies_[0].GetString("reportingInstance"), "raycluster-h1");
  EXPECT_EQ(bodies_[0].GetString("action"), "Create");
  EXPECT_EQ(bodies_[0].At("regarding").GetString("name"), "web-1");
  server_.executor.Advance(absl::Seconds(5));
  Note("n2");
  EXPECT_EQ(Serve(), (std::vector<std::string>{"PATCH 2 "}));
  server_.executor.Advance(absl::Seconds(4));
  Note("n3");
  EXPECT_TRUE(Serve().empty());
  server_.executor.Advance(absl::Minutes(12));  // sweeps at 6 and 12 minutes
  EXPECT_EQ(Serve(), (std::vector<std::string>{"PATCH 3 "}));
  EXPECT_EQ(bodies_.back().At("series").GetString("lastObservedTime"),
            "2026-01-01T00:00:09.000000Z");
  EXPECT_EQ(server_.executor.pending(), 1u);  // the half-hourly look
  Note("n4");
  EXPECT_EQ(Serve(), (std::vector<std::string>{"POST 0 n4"}));
}

TEST_F(SeriesEventRecorderTest, WhatHappenedOftenIsOneWrite) {
  Note("n1", 3);
  EXPECT_EQ(Serve(), (std::vector<std::string>{"POST 3 n1"}));
  EXPECT_EQ(bodies_[0].At("series").GetString("lastObservedTime"), "2026-01-01T00:00:00.000000Z");
  Note("n2", 2);  // counted in memory, as of any series
  EXPECT_TRUE(Serve().empty());
  server_.executor.Advance(absl::Minutes(7));
  EXPECT_EQ(Serve(), (std::vector<std::string>{"PATCH 5 "}));
}

TEST_F(SeriesEventRecorderTest, RepeatsAfterOneEventAreAddedToIt) {
  Note("n1");
  Serve();
  Note("n2", 4);
  EXPECT_EQ(Serve(), (std::vector<std::string>{"PATCH 5 "}));
}

TEST_F(SeriesEventRecorderTest, SingleEventsAreForgottenWithoutAnotherWrite) {
  Note("n1");
  Serve();
  server_.executor.Advance(absl::Minutes(13));
  EXPECT_TRUE(Serve().empty());
  Note("n1");
  EXPECT_EQ(Serve(), (std::vector<std::string>{"POST 0 n1"}));
}

TEST_F(SeriesEventRecorderTest, OpenSeriesAreWrittenEveryHalfHour) {
  for (int minute = 0; minute < 29; ++minute) {
    Note("n");
    Serve();
    server_.executor.Advance(absl::Minutes(1));
  }
  EXPECT_TRUE(Serve().empty());
  server_.executor.Advance(absl::Minutes(1) + absl::Seconds(1));
  EXPECT_EQ(Serve(), (std::vector<std::string>{"PATCH 29 "}));
}

TEST_F(SeriesEventRecorderTest, QuirkANewVersionOfTheObjectIsANewEvent) {
  Note("n1");
  ObjectReference newer = Pod();
  newer.resource_version = "6";
  NoteOf(newer, "n1");
  const auto writes = Serve();
  EXPECT_EQ(writes, (std::vector<std::string>{"POST 0 n1", "POST 0 n1"}));
}

TEST_F(SeriesEventRecorderTest, LongNotesAreCut) {
  Note(std::string(3000, 'n'));
  Serve();
  EXPECT_EQ(bodies_[0].GetString("note").size(), 1024u);
}

TEST(EventNameTest, IsTheObjectsNameAndTheTimeOrAUuid) {
  EXPECT_EQ(EventName("web-1", 0x1234, 1, 2), "web-1.1234");
  for (const char* bad : {"Web", "a_b", "", "-a", "a..b", "a-"}) {
    const std::string name = EventName(bad, 0x12, 0x0123456789abcdef, ~uint64_t{0});
    EXPECT_EQ(name.size(), 36u) << bad << " " << name;
    EXPECT_EQ(name[14], '4');
  }
}

}  // namespace
}  // namespace hekla::kube
