#include "pkg/apiserver/server.h"

#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/testing/test_server.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::J;
using testing::TestServer;

constexpr char kPods[] = "/api/v1/namespaces/default/pods";
constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";

std::string Message(const TestServer::Reply& reply) {
  return std::string(reply.body.GetString("message"));
}

TEST(ApiServerTest, CreatesGetsAndListsAPod) {
  TestServer s;
  const Value pod = s.MakePod("a");
  EXPECT_EQ(pod.At("metadata").GetString("namespace"), "default");
  EXPECT_EQ(pod.At("metadata").GetInt("generation"), 1);
  EXPECT_EQ(pod.At("status").GetString("phase"), "Pending");
  EXPECT_EQ(s.Get("/api/v1/namespaces/default/pods/a").body, pod);
  const Value list = s.Get("/api/v1/pods").body;
  EXPECT_EQ(list.GetString("kind"), "PodList");
  ASSERT_EQ(list.At("items").size(), 1u);
  EXPECT_FALSE(list.At("items").as_array()[0].Has("kind"));
}

TEST(ApiServerTest, UidsLookLikeVersionFourAndFollowTheSeed) {
  TestServer a, b;
  const Value pod = a.MakePod("a");
  const std::string uid(pod.At("metadata").GetString("uid"));
  EXPECT_THAT(uid, ::testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                                           "[0-9a-f]{12}"));
  EXPECT_EQ(b.MakePod("a"), pod);
}

TEST(ApiServerTest, CreateWipesWhatClientsDoNotDecide) {
  TestServer s;
  const Value made =
      s.Post(kMaps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","uid":"x",)"
                    R"("creationTimestamp":"2001-01-01T00:00:00Z","deletionTimestamp":)"
                    R"("2001-01-01T00:00:00Z","deletionGracePeriodSeconds":3,"selfLink":"/x"}})")
          .body;
  const Value& metadata = made.At("metadata");
  EXPECT_NE(metadata.GetString("uid"), "x");
  EXPECT_EQ(metadata.GetString("creationTimestamp"), "2026-01-01T00:00:00Z");
  EXPECT_FALSE(metadata.Has("deletionTimestamp"));
  EXPECT_FALSE(metadata.Has("deletionGracePeriodSeconds"));
  EXPECT_FALSE(metadata.Has("selfLink"));
}

TEST(ApiServerTest, CreateRefusesAResourceVersion) {
  TestServer s;
  const auto reply = s.Post(
      kMaps,
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m","resourceVersion":"1"}})");
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(Message(reply), "resourceVersion should not be set on objects to be created");
}

TEST(ApiServerTest, GenerateNameAddsFiveCharactersToAtMostFiftyEight) {
  TestServer s;
  const std::string prefix(80, 'p');
  const auto reply = s.Post(
      kMaps, absl::StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":")",
                          prefix, "\"}}"));
  ASSERT_EQ(reply.status, 201) << reply.text;
  const std::string name(reply.body.At("metadata").GetString("name"));
  EXPECT_EQ(name.size(), 63u);
  EXPECT_EQ(name.substr(0, 58), prefix.substr(0, 58));
  EXPECT_EQ(name.substr(58).find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string::npos);
}

TEST(ApiServerTest, DryRunChangesNothing) {
  TestServer s;
  const int64_t version = s.server->resource_version();
  EXPECT_EQ(s.Post(absl::StrCat(kMaps, "?dryRun=All"),
                   R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}})")
                .status,
            201);
  EXPECT_EQ(s.Get(absl::StrCat(kMaps, "/m")).status, 404);
  EXPECT_EQ(s.server->resource_version(), version);
  const auto bad = s.Post(absl::StrCat(kMaps, "?dryRun=Some"),
                          R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}})");
  EXPECT_EQ(bad.status, 422);
  EXPECT_EQ(Message(bad),
            "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: "
            "supported values: \"All\"");
}

TEST(ApiServerTest, VersionsCountOverAllKinds) {
  TestServer s;
  const int64_t before = s.server->resource_version();
  s.MakePod("a");
  s.Post(kMaps, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}})");
  EXPECT_EQ(s.server->resource_version(), before + 2);
}

TEST(ApiServerTest, PutWithUnchangedContentWritesNothing) {
  TestServer s;
  const Value pod = s.MakePod("a");
  const int64_t version = s.server->resource_version();
  const auto reply = s.Put(absl::StrCat(kPods, "/a"), apis::json::Dump(pod));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, pod);
  EXPECT_EQ(s.server->resource_version(), version);
}

TEST(ApiServerTest, PutCreatesLeasesAndEventsButNotPods) {
  TestServer s;
  EXPECT_EQ(s.Put("/apis/coordination.k8s.io/v1/namespaces/default/leases/l",
                  R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
                  R"("metadata":{"name":"l"},"spec":{}})")
                .status,
            201);
  EXPECT_EQ(s.Put(absl::StrCat(kMaps, "/m"),
                  R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}})")
                .status,
            404);
}

TEST(ApiServerTest, AWrongUidInAPutIsAConflict) {
  TestServer s;
  Value pod = s.MakePod("a");
  pod["metadata"].Set("uid", "00000000-0000-0000-0000-000000000000");
  const auto reply = s.Put(absl::StrCat(kPods, "/a"), apis::json::Dump(pod));
  EXPECT_EQ(reply.status, 409);
  EXPECT_THAT(Message(reply), HasSubstr("Precondition failed: UID in precondition"));
}

TEST(ApiServerTest, GenerationCountsChangesOfTheSpec) {
  TestServer s;
  s.MakePod("a");
  const auto generation = [](const TestServer::Reply& r) {
    return r.body.At("metadata").GetInt("generation");
  };
  const std::string pod = absl::StrCat(kPods, "/a");
  EXPECT_EQ(generation(s.Patch(pod, "merge", R"({"metadata":{"labels":{"x":"1"}}})")), 1);
  EXPECT_EQ(generation(
                s.Patch(pod, "strategic", R"({"spec":{"containers":[{"name":"c","image":"j"}]}})")),
            2);
  EXPECT_EQ(generation(s.Patch(absl::StrCat(pod, "/status"), "merge",
                               R"({"status":{"phase":"Running"}})")),
            2);
}

TEST(ApiServerTest, StatusIsWrittenOnlyThroughItsSubresource) {
  TestServer s;
  s.MakePod("a");
  const std::string pod = absl::StrCat(kPods, "/a");
  EXPECT_EQ(s.Patch(pod, "merge", R"({"status":{"phase":"Failed"}})")
                .body.At("status")
                .GetString("phase"),
            "Pending");
  const auto reply = s.Patch(absl::StrCat(pod, "/status"), "merge",
                             R"({"status":{"phase":"Failed"},"spec":{"nodeName":"n"}})");
  EXPECT_EQ(reply.body.At("status").GetString("phase"), "Failed");
  EXPECT_FALSE(reply.body.At("spec").Has("nodeName"));
}

TEST(ApiServerTest, ListsInPagesOfOneSnapshot) {
  TestServer s;
  for (char c = 'a'; c <= 'e'; ++c) s.MakePod(std::string(1, c));
  const auto names = [](const Value& list) {
    std::vector<std::string> out;
    for (const Value& item : list.At("items").as_array()) {
      out.emplace_back(item.At("metadata").GetString("name"));
    }
    return out;
  };
  const Value first = s.Get(absl::StrCat(kPods, "?limit=2")).body;
  EXPECT_THAT(names(first), ElementsAre("a", "b"));
  EXPECT_EQ(first.At("metadata").GetInt("remainingItemCount"), 3);
  // Changes after the first page do not show on the later ones.
  s.Delete(absl::StrCat(kPods, "/c"));
  s.MakePod("aa");
  s.MakePod("ca");
  const std::string token(first.At("metadata").GetString("continue"));
  const Value second = s.Get(absl::StrCat(kPods, "?limit=2&continue=", token)).body;
  EXPECT_THAT(names(second), ElementsAre("c", "d"));
  EXPECT_EQ(second.At("metadata").At("resourceVersion"),
            first.At("metadata").At("resourceVersion"));
  const Value third =
      s.Get(absl::StrCat(kPods, "?limit=2&continue=", second.At("metadata").GetString("continue")))
          .body;
  EXPECT_THAT(names(third), ElementsAre("e"));
  EXPECT_FALSE(third.At("metadata").Has("continue"));
}

TEST(ApiServerTest, ContinueTokensAreThoseOfRealServers) {
  // Worked example 19 in small: the relative key of an all-namespaces list, then a zero byte.
  TestServer s;
  s.MakePod("pod-0042");
  s.MakePod("pod-0043");
  const Value page = s.Get("/api/v1/pods?limit=1").body;
  std::string json;
  ASSERT_TRUE(absl::WebSafeBase64Unescape(page.At("metadata").GetString("continue"), &json));
  EXPECT_EQ(json, absl::StrCat("{\"v\":\"meta.k8s.io/v1\",\"rv\":",
                               page.At("metadata").GetString("resourceVersion"),
                               ",\"start\":\"default/pod-0042\\u0000\"}"));
}

TEST(ApiServerTest, OldPagesExpireWithTheHistory) {
  Options options;
  options.watch_window = 3;
  TestServer s(options);
  for (char c = 'a'; c <= 'c'; ++c) s.MakePod(std::string(1, c));
  const Value page = s.Get(absl::StrCat(kPods, "?limit=1")).body;
  for (char c = 'd'; c <= 'i'; ++c) s.MakePod(std::string(1, c));
  const auto reply =
      s.Get(absl::StrCat(kPods, "?limit=1&continue=", page.At("metadata").GetString("continue")));
  EXPECT_EQ(reply.status, 410);
  EXPECT_EQ(reply.body.GetString("reason"), "Expired");
}

TEST(ApiServerTest, ListsTheStateOfAnExactVersion) {
  TestServer s;
  const Value pod = s.MakePod("a");
  s.MakePod("b");
  const Value list = s.Get(absl::StrCat(kPods, "?resourceVersionMatch=Exact&resourceVersion=",
                                        pod.At("metadata").GetString("resourceVersion")))
                         .body;
  EXPECT_EQ(list.At("items").size(), 1u);
  EXPECT_EQ(list.At("metadata").At("resourceVersion"), pod.At("metadata").At("resourceVersion"));
}

TEST(ApiServerTest, AVersionOfTheFutureTimesOut) {
  TestServer s;
  const auto reply = s.Get(absl::StrCat(kPods, "?resourceVersion=100000"));
  EXPECT_EQ(reply.status, 504);
  EXPECT_EQ(Message(reply), absl::StrCat("Timeout: Too large resource version: 100000, current: ",
                                         s.server->resource_version()));
  EXPECT_EQ(reply.body.At("details").At("causes").as_array()[0].GetString("reason"),
            "ResourceVersionTooLarge");
}

TEST(ApiServerTest, StrictUpdatesNameUnknownAndDuplicateFields) {
  TestServer s;
  const auto reply =
      s.Post(absl::StrCat(kMaps, "?fieldValidation=Strict"),
             R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"x":1,"x":2})");
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(Message(reply), HasSubstr("strict decoding error: "));
  EXPECT_THAT(Message(reply), HasSubstr("duplicate field \"x\""));
  EXPECT_THAT(Message(reply), HasSubstr("unknown field \"x\""));
}

TEST(ApiServerTest, TokensAreCheckedWhereTheyAreGiven) {
  Options options;
  options.tokens = {"tok"};
  TestServer s(options);
  http::Request request;
  request.method = "GET";
  request.target = "/api/v1/nodes";
  EXPECT_EQ(s.Send(request).status, 200);
  request.headers.Set("Authorization", "Bearer tok");
  EXPECT_EQ(s.Send(request).status, 200);
  request.headers.Set("Authorization", "Bearer other");
  EXPECT_EQ(s.Send(request).status, 401);
  options.require_token = true;
  TestServer strict(options);
  EXPECT_EQ(strict.Get("/api/v1/nodes").status, 401);
}

TEST(ApiServerTest, BothEventApisShowOneStore) {
  TestServer s;
  ASSERT_EQ(s.Post("/apis/events.k8s.io/v1/namespaces/default/events",
                   R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"e"},)"
                   R"("eventTime":"2026-01-01T00:00:00.000000Z","reportingController":"c",)"
                   R"("reportingInstance":"i","action":"A","reason":"R","type":"Normal",)"
                   R"("note":"n","regarding":{"kind":"Pod","namespace":"default","name":"p"}})")
                .status,
            201);
  const Value core = s.Get("/api/v1/namespaces/default/events/e").body;
  EXPECT_EQ(core.GetString("message"), "n");
  EXPECT_EQ(core.GetString("reportingComponent"), "c");
  EXPECT_EQ(core.At("involvedObject").GetString("name"), "p");
  const Value list = s.Get("/apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dp").body;
  ASSERT_EQ(list.At("items").size(), 1u);
  EXPECT_EQ(list.At("items").as_array()[0].GetString("note"), "n");
}

TEST(ApiServerTest, EventsExpireAnHourAfterTheirLastWrite) {
  TestServer s;
  ASSERT_EQ(s.Post("/api/v1/namespaces/default/events",
                   R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},)"
                   R"("involvedObject":{"namespace":"default"}})")
                .status,
            201);
  const auto stream = s.Watch("/api/v1/events?watch=1&timeoutSeconds=10000");
  s.Advance(absl::Minutes(59));
  EXPECT_EQ(s.Get("/api/v1/namespaces/default/events/e").status, 200);
  s.Advance(absl::Minutes(2));
  EXPECT_EQ(s.Get("/api/v1/namespaces/default/events/e").status, 404);
  const std::vector<Value> events = stream->TakeEvents();
  EXPECT_EQ(events.back().GetString("type"), "DELETED");
}

TEST(ApiServerTest, NodesAreTaintedUntilTheyAreReady) {
  TestServer s;
  const Value made =
      s.Post("/api/v1/nodes", R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}})").body;
  EXPECT_EQ(made.At("spec").At("taints").as_array()[0].GetString("key"),
            "node.kubernetes.io/not-ready");
  s.Patch("/api/v1/nodes/n/status", "strategic",
          R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  EXPECT_FALSE(s.Get("/api/v1/nodes/n").body.At("spec").Has("taints"));
}

TEST(ApiServerTest, PrioritiesComeFromClasses) {
  // Worked example 25.
  TestServer s;
  const auto make = [&](const char* name, int value, bool global) {
    ASSERT_EQ(s.Post("/apis/scheduling.k8s.io/v1/priorityclasses",
                     absl::StrCat(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",)",
                                  R"("metadata":{"name":")", name, R"("},"value":)", value,
                                  R"(,"globalDefault":)", global ? "true" : "false", "}"))
                  .status,
              201);
  };
  make("low", 100, false);
  make("mid", 500, true);
  const Value pod = s.MakePod("a");
  EXPECT_EQ(pod.At("spec").GetInt("priority"), 500);
  EXPECT_EQ(pod.At("spec").GetString("priorityClassName"), "mid");
  const auto post = [&](const char* spec) {
    return s.Post(kPods,
                  absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"b"},)",
                               R"("spec":{"containers":[{"name":"c","image":"i"}],)", spec, "}}"));
  };
  const auto missing = post(R"("priorityClassName":"nope")");
  EXPECT_EQ(missing.status, 403);
  EXPECT_THAT(Message(missing), HasSubstr("no PriorityClass with name nope was found"));
  EXPECT_EQ(post(R"("priorityClassName":"low","priority":7)").status, 403);
  const auto second = s.Post("/apis/scheduling.k8s.io/v1/priorityclasses",
                             R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",)"
                             R"("metadata":{"name":"other"},"value":1,"globalDefault":true})");
  EXPECT_EQ(second.status, 403);
}

TEST(ApiServerTest, ImportTakesObjectsAsWritten) {
  TestServer s;
  const auto imported = s.server->Import(
      J(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"far",)"
        R"("uid":"u1","creationTimestamp":"2020-01-01T00:00:00Z",)"
        R"("deletionTimestamp":"2020-01-01T00:01:00Z"},)"
        R"("spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]},)"
        R"("status":{"phase":"Running"}})"));
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Value pod = s.Get("/api/v1/namespaces/far/pods/p").body;
  EXPECT_EQ(pod.At("metadata").GetString("uid"), "u1");
  EXPECT_EQ(pod.At("metadata").GetString("creationTimestamp"), "2020-01-01T00:00:00Z");
  EXPECT_EQ(pod.At("metadata").GetString("deletionTimestamp"), "2020-01-01T00:01:00Z");
  EXPECT_EQ(pod.At("status").GetString("phase"), "Running");
  EXPECT_EQ(s.Get("/api/v1/namespaces/far").status, 200);
}

TEST(ApiServerTest, InProcessErrorsCarryTheirCodes) {
  TestServer s;
  const Value map = J(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}})");
  ASSERT_TRUE(s.server->Create(map).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(s.server->Create(map).status()));
  EXPECT_TRUE(absl::IsNotFound(s.server->Get("v1", "ConfigMap", "default", "x").status()));
  Value stale = *s.server->Get("v1", "ConfigMap", "default", "m");
  stale["metadata"].Set("resourceVersion", "1");
  EXPECT_TRUE(absl::IsAborted(s.server->Update(stale).status()));
  EXPECT_TRUE(s.server->Delete("v1", "ConfigMap", "default", "m").ok());
  EXPECT_EQ(s.server->List("v1", "ConfigMap", "")->size(), 0u);
}

TEST(ApiServerTest, RefusalsQuoteNoBrokenText) {
  TestServer s;
  // The quoted beginning of the body ends within a character, or there is none.
  for (const char* body :
       {"{\xff", "{\"apiVersion\": \"v1\", \"k\xc3\xa4", "{\xed\xa0\x80", "{\xc0\x80"}) {
    const TestServer::Reply reply = s.Post(kPods, body);
    EXPECT_EQ(reply.status, 400) << reply.text;
    EXPECT_EQ(reply.body.GetString("reason"), "BadRequest");
  }
  EXPECT_THAT(Message(s.Post(kPods, "{\xff")), HasSubstr("{\xef\xbf\xbd"));
}

TEST(ApiServerTest, OnlyPodsAreEnteredByExec) {
  TestServer s;
  EXPECT_EQ(s.Get("/api/v1/namespaces/default/pods/a/exec").status, 501);
  EXPECT_EQ(s.Get("/api/v1/nodes/a/proxy").status, 501);
  EXPECT_EQ(s.Get("/api/v1/nodes/a/exec").status, 404);
  EXPECT_EQ(s.Get("/apis/apps/v1/namespaces/default/deployments/a/exec").status, 404);
}

TEST(ApiServerTest, ImportedClaimsStayAsTheyAreAndCreatedOnesAreProtected) {
  TestServer s;
  constexpr char kClaim[] =
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c"},"spec":)"
      R"({"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})";
  ASSERT_TRUE(s.server->Import(J(kClaim)).ok());
  const std::string path = "/api/v1/namespaces/default/persistentvolumeclaims";
  EXPECT_FALSE(s.Get(path + "/c").body.At("metadata").Has("finalizers"));
  s.Delete(path + "/c");
  EXPECT_EQ(s.Post(path, kClaim).body.At("metadata").At("finalizers"),
            J(R"(["kubernetes.io/pvc-protection"])"));
}

TEST(ApiServerTest, WithoutClusterControllersBudgetsAreLeftAlone) {
  for (const bool controllers : {true, false}) {
    Options options;
    options.cluster_controllers = controllers;
    TestServer s(options);
    const std::string path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    s.Post(path, R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":)"
                 R"({"name":"b"},"spec":{"minAvailable":1,"selector":{}}})");
    s.MakePod("a");
    s.Advance(absl::Seconds(1));
    const Value budget = s.Get(path + "/b").body;
    EXPECT_EQ(budget.At("status").GetInt("expectedPods", 0), controllers ? 1 : 0);
  }
}

TEST(ApiServerTest, EveryListedKindTakesARequest) {
  TestServer s;
  int kinds = 0;
  const Value groups = s.Get("/apis").body;
  for (const Value& group : groups.At("groups").as_array()) {
    const std::string base =
        absl::StrCat("/apis/", group.At("preferredVersion").GetString("groupVersion"));
    const Value list = s.Get(base).body;
    for (const Value& resource : list.At("resources").as_array()) {
      if (absl::StrContains(resource.GetString("name"), "/")) continue;
      ++kinds;
      const std::string path =
          absl::StrCat(base, resource.GetBool("namespaced") ? "/namespaces/default/" : "/",
                       resource.GetString("name"));
      const TestServer::Reply reply = s.Post(path, R"({"metadata":{"name":"a"}})");
      EXPECT_TRUE(reply.status == 201 || reply.status == 400 || reply.status == 422)
          << path << " " << reply.status << " " << reply.text;
    }
  }
  EXPECT_GT(kinds, 35);
}

TEST(ApiServerTest, AutoscalersHaveTheirDefaults) {
  TestServer s;
  const TestServer::Reply made =
      s.Post("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
             R"({"metadata":{"name":"a"},"spec":{"maxReplicas":3,"scaleTargetRef":)"
             R"({"kind":"Deployment","name":"d","apiVersion":"apps/v1"}}})");
  EXPECT_EQ(made.status, 201) << made.text;
  EXPECT_EQ(made.body.At("spec").At("minReplicas"), Value(1));
  EXPECT_EQ(made.body.At("spec").At("metrics"),
            J(R"([{"type":"Resource","resource":{"name":"cpu","target":)"
              R"({"type":"Utilization","averageUtilization":80}}}])"));
}

}  // namespace
}  // namespace hekla::apiserver
