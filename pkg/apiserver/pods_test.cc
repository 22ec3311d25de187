#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/deleter.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/testing/test_server.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;
using ::testing::HasSubstr;
using testing::TestServer;

constexpr char kPods[] = "/api/v1/namespaces/default/pods";
constexpr char kBudgets[] = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

std::string Message(const TestServer::Reply& reply) {
  return std::string(reply.body.GetString("message"));
}

TEST(BindingTest, SetsTheNodeOnceAndMergesAnnotations) {
  // Worked example 17.
  TestServer s;
  s.MakePod("web-1", R"("annotations":{"a":"0","b":"2"})");
  const auto first =
      s.Post(absl::StrCat(kPods, "/web-1/binding"),
             R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"web-1",)"
             R"("annotations":{"a":"1"},"labels":{"l":"1"}},"target":{"name":"n4"}})");
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(first.body.GetString("status"), "Success");
  const Value pod = s.Get(absl::StrCat(kPods, "/web-1")).body;
  EXPECT_EQ(pod.At("metadata").At("annotations"), testing::J(R"({"a":"1","b":"2"})"));
  EXPECT_EQ(pod.At("metadata").At("labels"), testing::J(R"({"l":"1"})"));
  EXPECT_EQ(pod.At("metadata").GetInt("generation"), 1);
  const Value& condition = pod.At("status").At("conditions").as_array()[0];
  EXPECT_EQ(condition.GetString("type"), "PodScheduled");
  EXPECT_EQ(condition.GetString("status"), "True");
  const auto again = s.Bind("web-1", "n4");
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(Message(again),
            "Operation cannot be fulfilled on pods/binding \"web-1\": pod web-1 is already "
            "assigned to node \"n4\"");
}

TEST(BindingTest, RemovesTheReasonOfAnEarlierFailure) {
  TestServer s;
  s.MakePod("a");
  s.Patch(absl::StrCat(kPods, "/a/status"), "strategic",
          R"({"status":{"nominatedNodeName":"x","conditions":[{"type":"PodScheduled",)"
          R"("status":"False","reason":"Unschedulable","message":"m"}]}})");
  ASSERT_EQ(s.Bind("a", "n").status, 201);
  const Value status = s.Get(absl::StrCat(kPods, "/a")).body.At("status");
  EXPECT_FALSE(status.Has("nominatedNodeName"));
  const Value& condition = status.At("conditions").as_array()[0];
  EXPECT_FALSE(condition.Has("reason"));
  EXPECT_EQ(condition.GetString("lastTransitionTime"), "2026-01-01T00:00:00Z");
}

TEST(BindingTest, RefusesDeletedGatedAndRenamedPods) {
  TestServer s;
  s.MakePod("g", "", R"("schedulingGates":[{"name":"x/y"}])");
  EXPECT_THAT(Message(s.Bind("g", "n")), HasSubstr("pod g has non-empty .spec.schedulingGates"));
  s.MakePod("d", R"("finalizers":["a.b/c"])");
  s.Delete(absl::StrCat(kPods, "/d"));
  EXPECT_THAT(Message(s.Bind("d", "n")),
              HasSubstr("pod d is being deleted, cannot be assigned to a host"));
  s.MakePod("a");
  const auto renamed = s.Post(absl::StrCat(kPods, "/a/binding"),
                              R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"b"},)"
                              R"("target":{"name":"n"}})");
  EXPECT_EQ(renamed.status, 400);
  const auto elsewhere = s.Post(absl::StrCat(kPods, "/a/binding"),
                                R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"a"},)"
                                R"("target":{"kind":"Pod","name":"n"}})");
  EXPECT_EQ(elsewhere.status, 500);
}

TEST(BindingTest, TheOldPathTakesTheNameFromTheBody) {
  TestServer s;
  s.MakePod("a");
  EXPECT_EQ(s.Post("/api/v1/namespaces/default/bindings",
                   R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"a"},)"
                   R"("target":{"name":"n"}})")
                .status,
            201);
  EXPECT_EQ(s.Get(absl::StrCat(kPods, "/a")).body.At("spec").GetString("nodeName"), "n");
}

TEST(GraceTest, LaterDeletesOnlyShortenThePeriod) {
  // Worked example 15.
  const absl::Time noon = absl::FromUnixSeconds(1767268800);
  GraceResult r = NextGrace(std::nullopt, std::nullopt, 30, false, noon);
  EXPECT_EQ(r.state.deletion, noon + absl::Seconds(30));
  EXPECT_EQ(r.state.grace, 30);
  r = NextGrace(r.state, 10, 30, false, noon + absl::Seconds(5));
  EXPECT_EQ(r.state.deletion, noon + absl::Seconds(10));
  EXPECT_EQ(r.state.grace, 10);
  const GraceResult longer = NextGrace(r.state, 60, 30, false, noon + absl::Seconds(6));
  EXPECT_FALSE(longer.changed);
  r = NextGrace(r.state, 5, 30, false, noon + absl::Seconds(8));
  EXPECT_EQ(r.state.deletion, noon + absl::Seconds(8));
  EXPECT_EQ(r.state.grace, 1);
  r = NextGrace(r.state, 0, 30, false, noon + absl::Seconds(8));
  EXPECT_EQ(r.state.grace, 0);
  EXPECT_EQ(NextGrace(std::nullopt, -7, 30, false, noon).state.grace, 1);
  EXPECT_EQ(NextGrace(std::nullopt, 30, 30, true, noon).state.grace, 0);
}

TEST(GraceTest, BoundPodsStayUntilTheKubeletIsDone) {
  TestServer s;
  s.MakePod("a");
  s.Bind("a", "n");
  const Value marked = s.Delete(absl::StrCat(kPods, "/a")).body;
  EXPECT_EQ(marked.At("metadata").GetString("deletionTimestamp"), "2026-01-01T00:00:30Z");
  EXPECT_EQ(marked.At("metadata").GetInt("deletionGracePeriodSeconds"), 30);
  EXPECT_EQ(marked.At("metadata").GetInt("generation"), 2);
  // Again without a period: nothing changes, nothing is written.
  const int64_t version = s.server->resource_version();
  EXPECT_EQ(s.Delete(absl::StrCat(kPods, "/a")).status, 200);
  EXPECT_EQ(s.server->resource_version(), version);
  EXPECT_EQ(s.Delete(absl::StrCat(kPods, "/a"), R"({"gracePeriodSeconds":0})").status, 200);
  EXPECT_EQ(s.Get(absl::StrCat(kPods, "/a")).status, 404);
}

TEST(GraceTest, FinalizersAndGraceBothHold) {
  TestServer s;
  s.MakePod("a", R"("finalizers":["a.b/c"])");
  s.Bind("a", "n");
  s.Delete(absl::StrCat(kPods, "/a"));
  s.Delete(absl::StrCat(kPods, "/a"), R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(s.Get(absl::StrCat(kPods, "/a")).status, 200);
  EXPECT_EQ(s.Patch(absl::StrCat(kPods, "/a"), "merge", R"({"metadata":{"finalizers":["x.y/z"]}})")
                .status,
            422);
  s.Patch(absl::StrCat(kPods, "/a"), "merge", R"({"metadata":{"finalizers":null}})");
  EXPECT_EQ(s.Get(absl::StrCat(kPods, "/a")).status, 404);
}

TEST(GraceTest, RemovingTheLastFinalizerDoesNotEndTheGracePeriod) {
  TestServer s;
  s.MakePod("a", R"("finalizers":["a.b/c"])");
  s.Bind("a", "n");
  s.Delete(absl::StrCat(kPods, "/a"));
  s.Patch(absl::StrCat(kPods, "/a"), "merge", R"({"metadata":{"finalizers":null}})");
  EXPECT_EQ(s.Get(absl::StrCat(kPods, "/a")).status, 200);
}

TEST(EvictionTest, SpendsTheBudgetOfReadyPods) {
  // Worked example 24.
  TestServer s;
  for (const char* name : {"p1", "p2", "p3", "p4"}) {
    s.MakePod(name, R"("labels":{"app":"x"})");
    s.Bind(name, "n");
    s.Patch(absl::StrCat(kPods, "/", name, "/status"), "strategic",
            R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
  }
  s.MakePod("pending", R"("labels":{"app":"x"})");
  ASSERT_EQ(s.Post(kBudgets, R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget",)"
                             R"("metadata":{"name":"guard"},"spec":{"minAvailable":3,)"
                             R"("selector":{"matchLabels":{"app":"x"}}}})")
                .status,
            201);
  s.Patch(absl::StrCat(kBudgets, "/guard/status"), "merge",
          R"({"status":{"observedGeneration":1,"disruptionsAllowed":1,"currentHealthy":4,)"
          R"("desiredHealthy":3,"expectedPods":4}})");
  const auto evict = [&](const std::string& name) {
    return s.Post(
        absl::StrCat(kPods, "/", name, "/eviction"),
        absl::StrCat(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")", name,
                     "\"}}"));
  };
  EXPECT_EQ(evict("p1").status, 201);
  EXPECT_EQ(evict("pending").status, 201);
  const auto refused = evict("p2");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(Message(refused), "Cannot evict pod as it would violate the pod's disruption budget.");
  const Value& cause = refused.body.At("details").At("causes").as_array()[0];
  EXPECT_EQ(cause.GetString("reason"), "DisruptionBudget");
  EXPECT_THAT(std::string(cause.GetString("message")),
              HasSubstr("The disruption budget guard needs 3 healthy pods and has"));
}

TEST(PodTest, GatedPodsSayWhy) {
  TestServer s;
  const Value pod = s.MakePod("g", "", R"("schedulingGates":[{"name":"x/y"}])");
  const Value& condition = pod.At("status").At("conditions").as_array()[0];
  EXPECT_EQ(condition.GetString("reason"), "SchedulingGated");
}

TEST(PodTest, LogsAreRefusedClearly) {
  TestServer s;
  s.MakePod("a");
  EXPECT_EQ(s.Get(absl::StrCat(kPods, "/a/log")).status, 204);
  s.Bind("a", "n");
  EXPECT_EQ(Message(s.Get(absl::StrCat(kPods, "/a/log"))),
            "container \"c\" in pod \"a\" is waiting to start: ContainerCreating");
  s.Patch(absl::StrCat(kPods, "/a/status"), "merge", R"({"status":{"phase":"Running"}})");
  EXPECT_EQ(s.Get(absl::StrCat(kPods, "/a/log")).status, 501);
  EXPECT_EQ(Message(s.Get(absl::StrCat(kPods, "/a/log?container=x"))),
            "container x is not valid for pod a");
  EXPECT_EQ(s.Post(absl::StrCat(kPods, "/a/exec"), "{}").status, 501);
}

// ---------------------------------------------------------------- resize

class ResizeTest : public ::testing::Test {
 protected:
  static constexpr char kPod[] = "/api/v1/namespaces/default/pods/p";

  ResizeTest() {
    s_.Post("/api/v1/namespaces/default/pods",
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},"spec":{)"
            R"("initContainers":[{"name":"init","image":"i"},{"name":"side","image":"i",)"
            R"("restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}],"containers":[)"
            R"({"name":"one","image":"i","resources":{"requests":{"cpu":"2","memory":"1Gi"},)"
            R"("limits":{"cpu":"3","example.com/gpu":"1"}}},{"name":"two","image":"i"}]}})");
  }
  TestServer::Reply Resize(const std::string& spec) {
    return s_.Patch(absl::StrCat(kPod, "/resize"), "strategic",
                    absl::StrCat(R"({"spec":)", spec, "}"));
  }
  std::string Refused(const std::string& spec) {
    const TestServer::Reply reply = Resize(spec);
    EXPECT_EQ(reply.status, 422) << reply.text;
    std::string message(reply.body.GetString("message"));
    const absl::string_view prefix = "Pod \"p\" is invalid: ";
    EXPECT_TRUE(absl::StartsWith(message, prefix)) << message;
    return message.substr(std::min(message.size(), prefix.size()));
  }

  TestServer s_;
};

TEST_F(ResizeTest, ChangesCpuAndMemoryAloneAndCountsAsAChange) {
  const Value before = s_.Get(kPod).body;
  const TestServer::Reply reply =
      s_.Patch(absl::StrCat(kPod, "/resize"), "strategic",
               R"({"metadata":{"labels":{"a":"c"}},"spec":{"activeDeadlineSeconds":5,)"
               R"("initContainers":[{"name":"side","resources":{"requests":{"cpu":"500m"}}}],)"
               R"("containers":[{"name":"one","image":"other","resources":{"requests":{"cpu":"1",)"
               R"("memory":"2Gi"},"limits":{"cpu":"4"}}}]}})");
  ASSERT_EQ(reply.status, 200) << reply.text;
  Value want = before;
  Value& one = want["spec"]["containers"].as_array()[0]["resources"];
  one["requests"].Set("cpu", "1");
  one["requests"].Set("memory", "2Gi");
  one["limits"].Set("cpu", "4");
  want["spec"]["initContainers"].as_array()[1]["resources"]["requests"].Set("cpu", "500m");
  want["metadata"].Set("generation", 2);
  want["metadata"].Set("resourceVersion", reply.body.At("metadata").At("resourceVersion"));
  EXPECT_EQ(s_.Get(kPod).body, want);
  EXPECT_EQ(s_.Get(absl::StrCat(kPod, "/resize")).body, want);
  // The same by PUT; and a bound pod is resized like one that waits.
  ASSERT_EQ(s_.Bind("p", "n1").status, 201);
  Value whole = s_.Get(kPod).body;
  whole["spec"]["containers"].as_array()[0]["resources"]["requests"].Set("cpu", "1500m");
  EXPECT_EQ(s_.Put(absl::StrCat(kPod, "/resize"), apis::json::Dump(whole)).status, 200);
  EXPECT_EQ(s_.Put(absl::StrCat(kPod, "/resize"), apis::json::Dump(whole)).status, 409);
  EXPECT_EQ(s_.Get(kPod)
                .body.At("spec")
                .At("containers")
                .as_array()[0]
                .At("resources")
                .At("requests")
                .GetString("cpu"),
            "1500m");
  EXPECT_EQ(s_.Delete(absl::StrCat(kPod, "/resize")).status, 405);
  EXPECT_EQ(s_.Get("/api/v1/namespaces/default/pods/none/resize").status, 404);
}

TEST_F(ResizeTest, OtherChangesAreRefusedWithTheTextsOfRealServers) {
  const std::string mutable_only = "spec: Forbidden: only cpu and memory resources are mutable";
  EXPECT_EQ(Refused(R"({"containers":[{"name":"one","resources":{"limits":{"example.com/gpu":"2"},)"
                    R"("requests":{"example.com/gpu":"2"}}}]})"),
            mutable_only);
  EXPECT_EQ(Refused(R"({"containers":[{"name":"one","resizePolicy":[{"resourceName":"cpu",)"
                    R"("restartPolicy":"RestartContainer"}]}]})"),
            mutable_only);
  EXPECT_EQ(
      Refused(R"({"containers":[{"name":"one","resources":{"requests":{"memory":null}}}]})"),
      "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed");
  EXPECT_EQ(Refused(R"({"containers":[{"name":"one","resources":{"limits":{"cpu":null}}}]})"),
            "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed");
  EXPECT_EQ(Refused(R"({"initContainers":[{"name":"init","resources":{"requests":{"cpu":"1"}}}]})"),
            "spec: Forbidden: resources for non-sidecar init containers are immutable");
  EXPECT_EQ(
      Refused(R"({"containers":[{"name":"one","resources":{"requests":{"cpu":"5"}}}]})"),
      "spec.containers[0].resources.requests: Invalid value: \"5\": must be less than or equal "
      "to cpu limit of 3");
  EXPECT_EQ(Refused(R"({"containers":[{"name":"three","image":"i"}]})"),
            "spec.containers: Forbidden: containers may not be added or removed on resize");
  Value whole = s_.Get(kPod).body;
  Value& list = whole["spec"]["containers"];
  std::swap(list.as_array()[0], list.as_array()[1]);
  EXPECT_EQ(
      s_.Put(absl::StrCat(kPod, "/resize"), apis::json::Dump(whole)).body.GetString("message"),
      "Pod \"p\" is invalid: [spec.containers[0].name: Forbidden: containers may not be renamed "
      "or reordered on resize, spec.containers[1].name: Forbidden: containers may not be "
      "renamed or reordered on resize]");
  s_.MakePod("small", "", R"("nodeSelector":{})");
  EXPECT_EQ(
      s_.Patch("/api/v1/namespaces/default/pods/small/resize", "json",
               R"([{"op":"add","path":"/spec/containers/0/resources","value":{"requests":{)"
               R"("cpu":"1"}}}])")
          .body.GetString("message"),
      "Pod \"small\" is invalid: spec: Invalid value: \"BestEffort\": Pod QOS Class may not change "
      "as a result of resizing");
  // Through the pod itself requests stay as they are.
  EXPECT_EQ(
      s_.Patch(kPod, "strategic",
               R"({"spec":{"containers":[{"name":"one","resources":{"requests":{"cpu":"1"}}}]}})")
          .status,
      422);
}

TEST_F(ResizeTest, DiscoveryListsIt) {
  const Value list = s_.Get("/api/v1").body;
  int found = 0;
  for (const Value& resource : list.At("resources").as_array()) {
    if (resource.GetString("name") != "pods/resize") continue;
    ++found;
    EXPECT_EQ(apis::json::Dump(resource.At("verbs")), R"(["get","patch","update"])");
    EXPECT_EQ(resource.GetString("kind"), "Pod");
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace hekla::apiserver
