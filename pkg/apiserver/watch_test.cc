#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/testing/test_server.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;
using testing::Brief;
using ::testing::ElementsAre;
using testing::TestServer;

constexpr char kPods[] = "/api/v1/namespaces/default/pods";

std::vector<std::string> Types(const std::vector<Value>& events) {
  std::vector<std::string> out;
  for (const Value& e : events) out.emplace_back(e.GetString("type"));
  return out;
}

TEST(WatchTest, ShowsTheStateAndThenChangesInOrder) {
  TestServer s;
  s.MakePod("a");
  const auto stream = s.Watch("/api/v1/pods?watch=1");
  ASSERT_NE(stream, nullptr);
  s.Bind("a", "n1");
  s.Delete(absl::StrCat(kPods, "/a"), R"({"gracePeriodSeconds":0})");
  const std::vector<Value> events = stream->TakeEvents();
  EXPECT_THAT(Types(events), ElementsAre("ADDED", "MODIFIED", "MODIFIED", "DELETED"));
  int64_t last = 0;
  for (const Value& e : events) {
    const int64_t rv =
        std::stoll(std::string(e.At("object").At("metadata").GetString("resourceVersion")));
    EXPECT_GT(rv, last);
    last = rv;
  }
}

TEST(WatchTest, ResumesAfterAVersion) {
  TestServer s;
  const Value a = s.MakePod("a");
  s.MakePod("b");
  const auto stream = s.Watch(absl::StrCat("/api/v1/pods?watch=true&resourceVersion=",
                                           a.At("metadata").GetString("resourceVersion")));
  s.MakePod("c");
  const std::vector<Value> events = stream->TakeEvents();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].At("object").At("metadata").GetString("name"), "b");
  EXPECT_EQ(events[1].At("object").At("metadata").GetString("name"), "c");
}

TEST(WatchTest, ATooOldVersionGetsOneError) {
  Options options;
  options.watch_window = 2;
  TestServer s(options);
  const Value a = s.MakePod("a");
  for (char c = 'b'; c <= 'e'; ++c) s.MakePod(std::string(1, c));
  const auto stream = s.Watch(absl::StrCat("/api/v1/pods?watch=true&resourceVersion=",
                                           a.At("metadata").GetString("resourceVersion")));
  const std::vector<Value> events = stream->TakeEvents();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].GetString("type"), "ERROR");
  EXPECT_EQ(events[0].At("object").GetInt("code"), 410);
  EXPECT_EQ(events[0].At("object").GetString("reason"), "Expired");
  EXPECT_TRUE(stream->closed());
}

TEST(WatchTest, ARestartLosesTheHistory) {
  TestServer s;
  const Value a = s.MakePod("a");
  const auto before = s.Watch("/api/v1/pods?watch=true");
  s.MakePod("b");
  s.server->DropWatchHistory();
  EXPECT_TRUE(before->closed());
  const auto after = s.Watch(absl::StrCat("/api/v1/pods?watch=true&resourceVersion=",
                                          a.At("metadata").GetString("resourceVersion")));
  EXPECT_THAT(Types(after->TakeEvents()), ElementsAre("ERROR"));
}

TEST(WatchTest, SelectorsTurnChangesIntoComingAndGoing) {
  // Worked example 18: unbound pods.
  TestServer s;
  const auto stream = s.Watch("/api/v1/pods?watch=true&fieldSelector=spec.nodeName%3D");
  const Value made = s.MakePod("p");
  const int64_t rv = std::stoll(std::string(made.At("metadata").GetString("resourceVersion")));
  s.Patch(absl::StrCat(kPods, "/p"), "merge", R"({"metadata":{"labels":{"a":"b"}}})");
  s.Bind("p", "n1");
  s.Patch(absl::StrCat(kPods, "/p/status"), "merge", R"({"status":{"phase":"Running"}})");
  s.Delete(absl::StrCat(kPods, "/p"), R"({"gracePeriodSeconds":0})");
  const std::vector<Value> events = stream->TakeEvents();
  EXPECT_THAT(Brief(events),
              ElementsAre(absl::StrCat("ADDED p@", rv), absl::StrCat("MODIFIED p@", rv + 1),
                          absl::StrCat("DELETED p@", rv + 2)));
  // The last one shows the object as it was before the change.
  EXPECT_FALSE(events[2].At("object").At("spec").Has("nodeName"));
}

TEST(WatchTest, OneNameIsAFieldSelector) {
  TestServer s;
  const auto stream = s.Watch("/api/v1/pods?watch=true&fieldSelector=metadata.name%3Db");
  s.MakePod("a");
  s.MakePod("b");
  EXPECT_EQ(stream->TakeEvents().size(), 1u);
}

TEST(WatchTest, WatchListEndsTheStateWithABookmark) {
  // Worked example 6.
  TestServer s;
  s.MakePod("p1");
  s.MakePod("p2");
  const auto stream = s.Watch(
      "/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
      "&allowWatchBookmarks=true");
  const std::vector<Value> events = stream->TakeEvents();
  EXPECT_THAT(Types(events), ElementsAre("ADDED", "ADDED", "BOOKMARK"));
  const Value& metadata = events[2].At("object").At("metadata");
  EXPECT_EQ(metadata.GetString("resourceVersion"), absl::StrCat(s.server->resource_version()));
  EXPECT_EQ(metadata.At("annotations").GetString("k8s.io/initial-events-end"), "true");
  s.Delete(absl::StrCat(kPods, "/p2"));
  EXPECT_THAT(Types(stream->TakeEvents()), ::testing::Contains("DELETED"));
}

TEST(WatchTest, WithoutInitialEventsAWatchBeginsNow) {
  TestServer s;
  s.MakePod("a");
  const auto stream =
      s.Watch("/api/v1/pods?watch=true&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
  EXPECT_TRUE(stream->TakeEvents().empty());
  s.MakePod("b");
  EXPECT_EQ(stream->TakeEvents().size(), 1u);
}

TEST(WatchTest, BookmarksComeEveryMinuteAndBeforeTheEnd) {
  TestServer s;
  const auto stream = s.Watch("/api/v1/pods?watch=true&allowWatchBookmarks=true&timeoutSeconds=90");
  s.Advance(absl::Seconds(59));
  EXPECT_TRUE(stream->TakeEvents().empty());
  s.Advance(absl::Seconds(2));
  EXPECT_THAT(Types(stream->TakeEvents()), ElementsAre("BOOKMARK"));
  s.Advance(absl::Seconds(27));  // 88 s: two seconds before the end
  EXPECT_THAT(Types(stream->TakeEvents()), ElementsAre("BOOKMARK"));
  EXPECT_FALSE(stream->closed());
  s.Advance(absl::Seconds(2));
  EXPECT_TRUE(stream->closed());
  EXPECT_TRUE(stream->TakeEvents().empty());
}

TEST(WatchTest, WithoutATimeoutAWatchLastsBetweenHalfAndOneHour) {
  TestServer s;
  const auto stream = s.Watch("/api/v1/pods?watch=true");
  s.Advance(absl::Minutes(29));
  EXPECT_FALSE(stream->closed());
  s.Advance(absl::Minutes(31));
  EXPECT_TRUE(stream->closed());
}

TEST(WatchTest, ClientsThatGoAwayAreForgotten) {
  TestServer s;
  const auto stream = s.Watch("/api/v1/pods?watch=true");
  EXPECT_EQ(s.server->watch_count(), 1u);
  stream->Disconnect();
  EXPECT_EQ(s.server->watch_count(), 0u);
  s.MakePod("a");
  EXPECT_TRUE(stream->TakeEvents().empty());
}

TEST(WatchTest, SlowReadersAreCutOff) {
  Options options;
  options.max_queued_watch_bytes = 2000;
  TestServer s(options);
  const auto stream = s.Watch("/api/v1/pods?watch=true");
  stream->StopReading();
  for (char c = 'a'; c <= 'f'; ++c) s.MakePod(std::string(1, c));
  EXPECT_TRUE(stream->closed());
  EXPECT_EQ(s.server->watch_count(), 0u);
}

TEST(WatchTest, TablesDescribeTheirColumnsOnce) {
  TestServer s;
  s.MakePod("a");
  const auto stream =
      s.Watch("/api/v1/pods?watch=true", "application/json;as=Table;v=v1;g=meta.k8s.io");
  s.MakePod("b");
  const std::vector<Value> events = stream->TakeEvents();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].At("object").GetString("kind"), "Table");
  EXPECT_GT(events[0].At("object").At("columnDefinitions").size(), 0u);
  EXPECT_EQ(events[1].At("object").At("columnDefinitions").size(), 0u);
  EXPECT_EQ(events[1].At("object").At("rows").size(), 1u);
}

// Four writers at once: every watch, whenever it began, sees a history that leads to the state that
// is stored at the end, with rising versions.
TEST(WatchTest, ConcurrentWritersLeaveEveryWatchACompleteHistory) {
  TestServer s;
  std::vector<std::shared_ptr<testing::RecordingStream>> streams;
  streams.push_back(s.Watch("/api/v1/configmaps?watch=true"));
  streams.push_back(s.Watch("/api/v1/configmaps?watch=true&labelSelector=even%3Dyes"));
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; ++t) {
    writers.emplace_back([&s, t] {
      for (int i = 0; i < 150; ++i) {
        const std::string name = absl::StrCat("m", (i * 7 + t) % 20);
        const std::string path = absl::StrCat("/api/v1/namespaces/default/configmaps/", name);
        if (i % 5 == 4) {
          s.Delete(path);
        } else if (i % 5 == 3) {
          s.Patch(path, "merge",
                  absl::StrCat(R"({"metadata":{"labels":{"even":")", i % 2 == 0 ? "yes" : "no",
                               "\"}}}"));
        } else {
          s.Post("/api/v1/namespaces/default/configmaps",
                 absl::StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")", name,
                              R"(","labels":{"even":"yes"}},"data":{"t":")", t, "\"}}"));
        }
      }
    });
  }
  for (int i = 0; i < 20; ++i) streams.push_back(s.Watch("/api/v1/configmaps?watch=true"));
  for (std::thread& writer : writers) writer.join();
  const Value all = s.Get("/api/v1/configmaps").body;
  for (size_t i = 0; i < streams.size(); ++i) {
    std::map<std::string, std::string> state;
    int64_t last = 0;
    for (const Value& event : streams[i]->TakeEvents()) {
      const Value& metadata = event.At("object").At("metadata");
      const std::string name(metadata.GetString("name"));
      const int64_t rv = std::stoll(std::string(metadata.GetString("resourceVersion")));
      const std::string type(event.GetString("type"));
      EXPECT_EQ(type == "ADDED", !state.contains(name)) << type << " " << name;
      if (type == "DELETED") {
        state.erase(name);
      } else {
        state[name] = absl::StrCat(rv);
      }
      // The first watches began before anything was there: theirs rise from the start.
      if (i < 2) {
        EXPECT_GT(rv, last);
      }
      last = rv;
    }
    std::map<std::string, std::string> stored;
    for (const Value& item : all.At("items").as_array()) {
      const Value& metadata = item.At("metadata");
      if (i == 1 && metadata.At("labels").GetString("even") != "yes") continue;
      stored[std::string(metadata.GetString("name"))] =
          std::string(metadata.GetString("resourceVersion"));
    }
    EXPECT_EQ(state, stored) << "watch " << i;
  }
}

TEST(WatchTest, CloseWatchesEndsAllAndRefusesNewOnes) {
  TestServer s;
  const auto stream = s.Watch("/api/v1/pods?watch=true");
  s.server->CloseWatches();
  EXPECT_TRUE(stream->closed());
  EXPECT_TRUE(s.Watch("/api/v1/pods?watch=true")->closed());
}

TEST(WatchTest, TooManyWatchesAreRefusedUntilOneEnds) {
  Options options;
  options.max_watches = 2;
  TestServer s(options);
  const auto first = s.Watch("/api/v1/pods?watch=1");
  const auto second = s.Watch("/api/v1/nodes?watch=1");
  ASSERT_TRUE(first != nullptr && second != nullptr);
  const TestServer::Reply refused = s.Get("/api/v1/pods?watch=1");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.Get("Retry-After"), "1");
  EXPECT_EQ(s.Get("/api/v1/pods").status, 200);
  first->Disconnect();
  EXPECT_NE(s.Watch("/api/v1/pods?watch=1"), nullptr);
}

}  // namespace
}  // namespace hekla::apiserver
