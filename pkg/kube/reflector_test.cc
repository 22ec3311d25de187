#include "pkg/kube/reflector.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pkg/kube/testing/scripted_server.h"

namespace hekla::kube {
namespace {

using apis::json::Value;

std::string Object(const std::string& name, int version) {
  return absl::StrCat(R"({"kind":"Pod","metadata":{"name":")", name, R"(","resourceVersion":")",
                      version, "\"}}");
}
std::string Event(const std::string& type, const std::string& name, int version) {
  return absl::StrCat(R"({"type":")", type, R"(","object":)", Object(name, version), "}\n");
}
std::string Bookmark(int version, bool initial_end) {
  return absl::StrCat(
      R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":")", version, "\"",
      initial_end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "", "}}}\n");
}
std::string List(const std::vector<std::string>& objects, int version,
                 const std::string& more = "") {
  std::string items;
  for (const std::string& o : objects) absl::StrAppend(&items, items.empty() ? "" : ",", o);
  return absl::StrCat(R"({"kind":"PodList","metadata":{"resourceVersion":")", version,
                      R"(","continue":")", more, R"("},"items":[)", items, "]}");
}
constexpr char kGone[] =
    R"({"kind":"Status","status":"Failure","reason":"Expired","message":"too old","code":410})";

// Keeps the mirror and a log of what was reported.
class Mirror final : public ReflectorSink {
 public:
  void BeginReplace() override { pending.clear(); }
  void ReplaceItem(Value object) override {
    pending[std::string(object.At("metadata").GetString("name"))] = Version(object);
    last = std::move(object);
  }
  void EndReplace(const std::string& v) override {
    state = pending;
    ++replaces;
    version = v;
  }
  void AbortReplace() override { ++aborts; }
  void OnEvent(EventType type, Value object) override {
    const std::string name(object.At("metadata").GetString("name"));
    if (type == EventType::kDeleted) {
      state.erase(name);
    } else {
      state[name] = Version(object);
    }
    last = std::move(object);
  }
  void OnBookmark(const std::string& v) override { version = v; }
  void OnError(const absl::Status& status) override { errors.push_back(status); }

  std::map<std::string, std::string> state, pending;
  int replaces = 0, aborts = 0;
  std::string version;
  Value last;  // what came last
  std::vector<absl::Status> errors;

 private:
  static std::string Version(const Value& object) {
    return std::string(object.At("metadata").GetString("resourceVersion"));
  }
};

class ReflectorTest : public testing::Test {
 protected:
  void Start(bool watch_list, std::vector<absl::string_view> unread = {}) {
    RestClient::Options options;
    options.qps = 0;
    client_ = std::make_unique<RestClient>(
        RestClient::Deps{&server_.transport, &server_.executor, nullptr}, options);
    Reflector::Options r;
    r.resource = Resource{"", "v1", "pods", "Pod", true};
    r.watch_list = watch_list;
    r.unread = std::move(unread);
    reflector_ = std::make_unique<Reflector>(client_.get(), &server_.executor, &mirror_, r);
    reflector_->Start();
  }
  std::map<std::string, std::string> State() {
    server_.executor.RunReady();
    return mirror_.state;
  }
  using Map = std::map<std::string, std::string>;

  ScriptedServer server_;
  Mirror mirror_;
  std::unique_ptr<RestClient> client_;
  std::unique_ptr<Reflector> reflector_;
};

TEST_F(ReflectorTest, WatchListBringsTheStateAndGoesOn) {
  Start(true);
  auto& watch = server_.Next();
  EXPECT_EQ(watch.target().Get("sendInitialEvents"), "true");
  EXPECT_EQ(watch.target().Get("resourceVersionMatch"), "NotOlderThan");
  EXPECT_FALSE(watch.target().Has("resourceVersion"));
  watch.Stream(Event("ADDED", "a", 3) + Event("ADDED", "b", 5));
  EXPECT_EQ(State(), Map{});
  watch.Stream(Bookmark(9, true) + Event("MODIFIED", "a", 10) + Event("DELETED", "b", 11));
  EXPECT_EQ(State(), (Map{{"a", "10"}}));
  EXPECT_EQ(mirror_.replaces, 1);
  EXPECT_EQ(reflector_->last_resource_version(), "11");
}

TEST_F(ReflectorTest, ADeletionBeforeTheEndOfTheInitialStateIsNotLost) {
  Start(true);
  auto& watch = server_.Next();
  watch.Stream(Event("ADDED", "a", 3) + Event("ADDED", "b", 4) + Event("ADDED", "c", 5));
  watch.Stream(Event("DELETED", "a", 6) + Event("DELETED", "b", 7) + Event("ADDED", "b", 8));
  watch.Stream(Bookmark(9, true));
  EXPECT_EQ(State(), (Map{{"b", "8"}, {"c", "5"}}));
  EXPECT_EQ(mirror_.replaces, 1);
  EXPECT_TRUE(server_.Idle());  // no list in its place
}

TEST_F(ReflectorTest, ServerWithoutWatchListIsListedInPages) {
  Start(true);
  server_.Next().Answer(422, "{}");
  auto& first = server_.Next();
  EXPECT_EQ(first.target().Get("limit"), "500");
  EXPECT_EQ(first.target().Get("resourceVersion"), "0");
  first.Answer(200, List({Object("a", 1)}, 7, "token"));
  auto& second = server_.Next();
  EXPECT_EQ(second.target().Get("continue"), "token");
  EXPECT_FALSE(second.target().Has("resourceVersion"));
  second.Answer(200, List({Object("b", 2)}, 7));
  auto& watch = server_.Next();
  EXPECT_EQ(watch.target().Get("resourceVersion"), "7");
  EXPECT_EQ(State(), (Map{{"a", "1"}, {"b", "2"}}));
}

TEST_F(ReflectorTest, WhatIsUnreadIsLeftOutOfListsAndEvents) {
  Start(false, {"metadata.managedFields", "spec.env"});
  const auto object = [](int version) {
    return absl::StrCat(
        R"({"kind":"Pod","metadata":{"managedFields":[1],"name":"a","resourceVersion":")", version,
        R"("},"spec":{"env":[2],"x":3}})");
  };
  const auto seen = [](int version) {
    return absl::StrCat(R"({"kind":"Pod","metadata":{"name":"a","resourceVersion":")", version,
                        R"("},"spec":{"x":3}})");
  };
  server_.Next().Answer(200, List({object(1)}, 7));
  auto& watch = server_.Next();
  EXPECT_EQ(apis::json::Dump(mirror_.last), seen(1));
  watch.Stream(absl::StrCat(R"({"type":"MODIFIED","object":)", object(8), "}\n"));
  EXPECT_EQ(State(), (Map{{"a", "8"}}));
  EXPECT_EQ(apis::json::Dump(mirror_.last), seen(8));
}

TEST_F(ReflectorTest, BrokenWatchResumesWhereItWas) {
  Start(false);
  server_.Next().Answer(200, List({Object("a", 1)}, 5));
  auto& watch = server_.Next();
  watch.Stream(Event("ADDED", "b", 6));
  server_.executor.Advance(absl::Seconds(5));
  server_.transport.DropConnections();
  auto& again = server_.Next();
  EXPECT_EQ(again.target().Get("resourceVersion"), "6");
  again.Stream(Bookmark(20, false));
  server_.executor.Advance(absl::Seconds(5));
  again.CloseStream();
  EXPECT_EQ(server_.Next().target().Get("resourceVersion"), "20");
  EXPECT_EQ(mirror_.replaces, 1);
}

TEST_F(ReflectorTest, GoneLeadsToARelistThatDropsWhatVanished) {
  Start(false);
  server_.Next().Answer(200, List({Object("a", 1), Object("b", 1)}, 5));
  auto& watch = server_.Next();
  watch.Stream(absl::StrCat(R"({"type":"ERROR","object":)", kGone, "}\n"));
  EXPECT_TRUE(server_.Idle());  // the back-off
  server_.executor.Advance(absl::Seconds(2));
  auto& list = server_.Next();
  EXPECT_EQ(list.target().Get("resourceVersion"), "5");
  list.Answer(410, kGone);
  auto& fresh = server_.Next();
  EXPECT_FALSE(fresh.target().Has("resourceVersion"));
  fresh.Answer(200, List({Object("b", 9)}, 30));
  EXPECT_EQ(State(), (Map{{"b", "9"}}));
  EXPECT_EQ(reflector_->counters().expired, 2);
}

TEST_F(ReflectorTest, ExpiredPagesAreListedOnceMoreInOnePiece) {
  Start(false);
  server_.Next().Answer(200, List({Object("a", 1)}, 5, "t"));
  server_.Next().Answer(410, kGone);
  auto& whole = server_.Next();
  EXPECT_FALSE(whole.target().Has("limit"));
  whole.Answer(200, List({Object("c", 3)}, 8));
  EXPECT_EQ(State(), (Map{{"c", "3"}}));
}

TEST_F(ReflectorTest, TooManyRequestsWaitsAndKeepsTheVersion) {
  Start(false);
  server_.Next().Answer(200, List({}, 5));
  server_.Next().Answer(429, "");
  EXPECT_TRUE(server_.Idle());
  server_.executor.Advance(absl::Milliseconds(1600));
  EXPECT_EQ(server_.Next().target().Get("resourceVersion"), "5");
  EXPECT_EQ(mirror_.replaces, 1);
}

TEST_F(ReflectorTest, RefusedConnectionsBackOffAndAreReported) {
  Start(true);
  for (int i = 0; i < 3; ++i) {
    server_.Next();
    server_.transport.DropConnections();
    server_.executor.RunReady();
    EXPECT_TRUE(server_.Idle());
    server_.executor.Advance(absl::Seconds(7));  // 0.8, 1.6, 3.2 s, each up to twice that
  }
  EXPECT_EQ(mirror_.errors.size(), 3u);
  server_.Next().Stream(Bookmark(3, true));
  server_.executor.RunReady();
  EXPECT_EQ(mirror_.replaces, 1);
}

TEST_F(ReflectorTest, VeryShortWatchesBackOff) {
  Start(false);
  server_.Next().Answer(200, List({}, 5));
  server_.Next().CloseStream();
  server_.executor.RunReady();
  EXPECT_TRUE(server_.Idle());
  ASSERT_EQ(mirror_.errors.size(), 1u);
  EXPECT_EQ(
      mirror_.errors[0].message(),
      "very short watch: pods: Unexpected watch close - watch lasted less than a second and no "
      "items received");
  server_.executor.Advance(absl::Milliseconds(1600));
  EXPECT_FALSE(server_.Idle());
}

TEST_F(ReflectorTest, AClockThatIsSetDoesNotShortenAWatch) {
  Start(false);
  server_.Next().Answer(200, List({}, 5));
  ScriptedServer::Call& watch = server_.Next();
  server_.executor.Advance(absl::Seconds(2));
  server_.wall.Step(-absl::Hours(1));
  watch.CloseStream();
  server_.executor.RunReady();
  EXPECT_TRUE(mirror_.errors.empty());
  EXPECT_FALSE(server_.Idle()) << "watched again at once";
}

TEST_F(ReflectorTest, AClockThatIsSetDoesNotLengthenAWatch) {
  Start(false);
  server_.Next().Answer(200, List({}, 5));
  ScriptedServer::Call& watch = server_.Next();
  server_.wall.Step(absl::Hours(1));
  watch.CloseStream();
  server_.executor.RunReady();
  EXPECT_EQ(mirror_.errors.size(), 1u);
  EXPECT_TRUE(server_.Idle());
}

TEST_F(ReflectorTest, ForbiddenIsReportedAndTriedAgain) {
  Start(true);
  const char* body =
      R"({"kind":"Status","status":"Failure","reason":"Forbidden","message":"pods is forbidden","code":403})";
  server_.Next().Answer(403, body);
  server_.executor.RunReady();
  ASSERT_EQ(mirror_.errors.size(), 1u);
  EXPECT_EQ(mirror_.errors[0].code(), absl::StatusCode::kPermissionDenied);
  server_.executor.Advance(absl::Seconds(2));
  EXPECT_EQ(server_.Next().target().Get("sendInitialEvents"), "true");
}

TEST_F(ReflectorTest, NothingIsReportedAfterStop) {
  Start(false);
  server_.Next().Answer(200, List({Object("a", 1)}, 5));
  server_.executor.RunReady();
  reflector_->Stop();
  server_.Next().Stream(Event("ADDED", "b", 6));
  EXPECT_EQ(State(), (Map{{"a", "1"}}));
}

// spec kube-machinery worked example 4.
TEST_F(ReflectorTest, QuirkDelaysGrowAndStartAnewAfterTwoMinutes) {
  Start(false);
  server_.Next().Answer(200, List({}, 5));
  const absl::Time start = server_.clock.Now();
  // The watch is refused again and again; each refusal is answered with the next delay.
  for (double low : {0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0}) {
    server_.Next();
    server_.transport.DropConnections();
    server_.executor.RunReady();
    const absl::Time refused = server_.clock.Now();
    const absl::Duration delay = server_.executor.NextDue() - refused;
    EXPECT_GE(delay, absl::Seconds(low));
    EXPECT_LT(delay, absl::Seconds(2 * low));
    if (low == 30.0) {  // chosen before the reset at 120 s
      EXPECT_LT(refused - start, absl::Seconds(120));
    }
    server_.executor.AdvanceTo(server_.executor.NextDue());
  }
  if (server_.clock.Now() - start <= absl::Seconds(120)) {
    server_.clock.Set(start + absl::Seconds(121));
  }
  server_.Next();
  server_.transport.DropConnections();
  server_.executor.RunReady();
  const absl::Duration delay = server_.executor.NextDue() - server_.clock.Now();
  EXPECT_GE(delay, absl::Seconds(0.8));
  EXPECT_LT(delay, absl::Seconds(1.6));
}

// spec kube-machinery worked example 5.
TEST_F(ReflectorTest, ChoicesWithoutWatchList) {
  Start(false);
  auto& list = server_.Next();
  EXPECT_EQ(list.target().Get("resourceVersion"), "0");
  EXPECT_EQ(list.target().Get("limit"), "500");
  list.Answer(200, List({Object("a", 600)}, 700));
  auto& watch = server_.Next();
  EXPECT_EQ(watch.target().Get("resourceVersion"), "700");
  EXPECT_EQ(watch.target().Get("allowWatchBookmarks"), "true");
  int64_t seconds = 0;
  ASSERT_TRUE(absl::SimpleAtoi(watch.target().Get("timeoutSeconds"), &seconds));
  EXPECT_GE(seconds, 300);
  EXPECT_LT(seconds, 600);
  watch.Stream(Event("MODIFIED", "a", 742));
  server_.executor.Advance(absl::Minutes(3));
  watch.Stream(Bookmark(760, false));
  server_.executor.Advance(absl::Minutes(3));
  watch.CloseStream();
  auto& again = server_.Next();  // at once
  EXPECT_EQ(again.target().Get("resourceVersion"), "760");
  again.Stream(absl::StrCat(R"({"type":"ERROR","object":)", kGone, "}\n"));
  EXPECT_TRUE(server_.Idle());
  server_.executor.Advance(absl::Milliseconds(1600));
  auto& relist = server_.Next();
  EXPECT_EQ(relist.target().Get("resourceVersion"), "760");
  EXPECT_FALSE(relist.target().Has("limit"));
  relist.Answer(410, kGone);
  auto& fresh = server_.Next();
  EXPECT_FALSE(fresh.target().Has("resourceVersion"));
  EXPECT_FALSE(fresh.target().Has("limit"));
  fresh.Answer(200, List({Object("a", 2000)}, 2050));
  EXPECT_EQ(server_.Next().target().Get("resourceVersion"), "2050");
  EXPECT_EQ(State(), (Map{{"a", "2000"}}));
}

// spec kube-machinery worked example 6.
TEST_F(ReflectorTest, WatchListStream) {
  Start(true);
  auto& watch = server_.Next();
  watch.Stream(Event("ADDED", "p1", 31) + Event("ADDED", "p2", 17) + Bookmark(40, true));
  EXPECT_EQ(State(), (Map{{"p1", "31"}, {"p2", "17"}}));
  EXPECT_EQ(reflector_->last_resource_version(), "40");
  watch.Stream(Event("DELETED", "p2", 41));
  EXPECT_EQ(State(), (Map{{"p1", "31"}}));
  EXPECT_EQ(reflector_->last_resource_version(), "41");
}

TEST_F(ReflectorTest, AWatchListThatExpiredStartsWithoutAVersion) {
  Start(true);
  server_.Next().Stream(Event("ADDED", "a", 3) + Bookmark(9, true));
  server_.executor.Advance(absl::Seconds(5));
  server_.transport.DropConnections();
  auto& watch = server_.Next();
  watch.Stream(absl::StrCat(R"({"type":"ERROR","object":)", kGone, "}\n"));
  server_.executor.Advance(absl::Seconds(2));
  auto& list = server_.Next();
  EXPECT_EQ(list.target().Get("resourceVersion"), "9");  // not older than what was seen
  EXPECT_EQ(list.target().Get("sendInitialEvents"), "true");
  list.Answer(410, kGone);
  auto& fresh = server_.Next();  // at once
  EXPECT_FALSE(fresh.target().Has("resourceVersion"));
  fresh.Stream(Event("ADDED", "b", 20) + Bookmark(30, true));
  EXPECT_EQ(State(), (Map{{"b", "20"}}));
}

TEST_F(ReflectorTest, SilentStreamsAreGivenUpAndResumed) {
  Start(false);
  server_.Next().Answer(200, List({}, 5));
  server_.Next().Stream(Event("ADDED", "a", 6));
  server_.executor.Advance(absl::Seconds(606));  // longer than any time asked for, and 5 s
  EXPECT_EQ(server_.Next().target().Get("resourceVersion"), "6");
}

TEST_F(ReflectorTest, RetryAfterOfARefusedWatchIsWaitedFor) {
  Start(false);
  server_.Next().Answer(200, List({}, 5));
  server_.Next().Answer(429, "", "20");
  server_.executor.Advance(absl::Seconds(19));
  EXPECT_TRUE(server_.Idle());
  server_.executor.Advance(absl::Seconds(1));
  EXPECT_FALSE(server_.Idle());
}

}  // namespace
}  // namespace hekla::kube
