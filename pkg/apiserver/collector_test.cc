#include "pkg/apiserver/collector.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/testing/test_server.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;
using testing::TestServer;

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";

std::string Owner(const Value& owner, const char* kind, bool block = false) {
  return absl::StrCat(R"("ownerReferences":[{"apiVersion":"v1","kind":")", kind, R"(","name":")",
                      owner.At("metadata").GetString("name"), R"(","uid":")",
                      owner.At("metadata").GetString("uid"), R"(","blockOwnerDeletion":)",
                      block ? "true" : "false", "}]");
}

Value MakeMap(TestServer& s, const std::string& name, const std::string& metadata = "") {
  const auto reply =
      s.Post(kMaps, absl::StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")",
                                 name, "\"", metadata.empty() ? "" : ",", metadata, "}}"));
  EXPECT_EQ(reply.status, 201) << reply.text;
  return reply.body;
}

int StatusOf(TestServer& s, const std::string& name) {
  return s.Get(absl::StrCat(kMaps, "/", name)).status;
}

TEST(GarbageTest, DependentsFollowTheirOwnersDownTheChain) {
  TestServer s;
  const Value a = MakeMap(s, "a");
  const Value b = MakeMap(s, "b", Owner(a, "ConfigMap"));
  MakeMap(s, "c", Owner(b, "ConfigMap"));
  s.Delete(absl::StrCat(kMaps, "/a"));
  EXPECT_EQ(StatusOf(s, "b"), 404);
  EXPECT_EQ(StatusOf(s, "c"), 404);
}

TEST(GarbageTest, ASecondOwnerKeepsTheDependent) {
  TestServer s;
  const Value a = MakeMap(s, "a");
  const Value b = MakeMap(s, "b");
  const auto uid = [](const Value& v) { return v.At("metadata").GetString("uid"); };
  MakeMap(s, "c",
          absl::StrCat(R"("ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a",)",
                       R"("uid":")", uid(a),
                       R"("},{"apiVersion":"v1","kind":"ConfigMap","name":"b","uid":")", uid(b),
                       "\"}]"));
  s.Delete(absl::StrCat(kMaps, "/a"));
  const Value c = s.Get(absl::StrCat(kMaps, "/c")).body;
  ASSERT_EQ(c.At("metadata").At("ownerReferences").size(), 1u);
  EXPECT_EQ(c.At("metadata").At("ownerReferences").as_array()[0].GetString("name"), "b");
}

TEST(GarbageTest, AnOwnerThatNeverWasTakesItsDependentAlong) {
  TestServer s;
  MakeMap(s, "c",
          R"("ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"no","uid":"u"}])");
  EXPECT_EQ(StatusOf(s, "c"), 404);
}

TEST(GarbageTest, OrphansLoseTheReferenceOnly) {
  TestServer s;
  const Value a = MakeMap(s, "a");
  MakeMap(s, "b", Owner(a, "ConfigMap"));
  s.Delete(absl::StrCat(kMaps, "/a"), R"({"propagationPolicy":"Orphan"})");
  EXPECT_EQ(StatusOf(s, "a"), 404);
  const Value b = s.Get(absl::StrCat(kMaps, "/b")).body;
  EXPECT_FALSE(b.At("metadata").Has("ownerReferences"));
}

TEST(GarbageTest, ForegroundOwnersWaitForBlockingDependents) {
  TestServer s;
  const Value a = MakeMap(s, "a");
  MakeMap(s, "b", absl::StrCat(Owner(a, "ConfigMap", true), R"(,"finalizers":["x.y/z"])"));
  const auto reply = s.Delete(absl::StrCat(kMaps, "/a"), R"({"propagationPolicy":"Foreground"})");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body.At("metadata").At("finalizers").as_array()[0], Value("foregroundDeletion"));
  EXPECT_EQ(StatusOf(s, "a"), 200);
  EXPECT_TRUE(s.Get(absl::StrCat(kMaps, "/b")).body.At("metadata").Has("deletionTimestamp"));
  s.Patch(absl::StrCat(kMaps, "/b"), "merge", R"({"metadata":{"finalizers":null}})");
  EXPECT_EQ(StatusOf(s, "b"), 404);
  EXPECT_EQ(StatusOf(s, "a"), 404);
}

TEST(NamespaceTest, GoesWithItsContent) {
  TestServer s;
  s.Post("/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}})");
  s.Post("/api/v1/namespaces/n/configmaps",
         R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}})");
  const auto stream = s.Watch("/api/v1/namespaces/n/configmaps?watch=1");
  const auto reply = s.Delete("/api/v1/namespaces/n");
  EXPECT_EQ(reply.body.At("status").GetString("phase"), "Terminating");
  EXPECT_EQ(s.Get("/api/v1/namespaces/n").status, 404);
  EXPECT_EQ(stream->TakeEvents().size(), 2u);  // ADDED, DELETED
}

TEST(NamespaceTest, WaitsForPodsThatStillRun) {
  TestServer s;
  s.Post("/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}})");
  ASSERT_EQ(s.Post("/api/v1/namespaces/n/pods",
                   R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},)"
                   R"("spec":{"nodeName":"x","containers":[{"name":"c","image":"i"}]}})")
                .status,
            201);
  s.Delete("/api/v1/namespaces/n");
  EXPECT_EQ(s.Get("/api/v1/namespaces/n").status, 200);
  const auto refused = s.Post("/api/v1/namespaces/n/configmaps",
                              R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.body.GetString("message"),
            "configmaps \"m\" is forbidden: unable to create new content in namespace n because it "
            "is being terminated");
  s.Delete("/api/v1/namespaces/n/pods/p", R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(s.Get("/api/v1/namespaces/n").status, 404);
}

TEST(NamespaceTest, TheFirstThreeStay) {
  TestServer s;
  for (const char* name : {"default", "kube-system", "kube-public"}) {
    const auto reply = s.Delete(absl::StrCat("/api/v1/namespaces/", name));
    EXPECT_EQ(reply.status, 403);
    EXPECT_EQ(
        reply.body.GetString("message"),
        absl::StrCat("namespaces \"", name, "\" is forbidden: this namespace may not be deleted"));
  }
}

TEST(NamespaceTest, FinalizersOfOthersHoldUntilFinalize) {
  TestServer s;
  s.Post("/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}})");
  const Value ns = s.Get("/api/v1/namespaces/n").body;
  EXPECT_EQ(ns.At("spec").At("finalizers").size(), 1u);
  EXPECT_EQ(ns.At("metadata").At("labels").GetString("kubernetes.io/metadata.name"), "n");
  EXPECT_EQ(s.Put("/api/v1/namespaces/n/finalize",
                  R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"},)"
                  R"("spec":{"finalizers":[]}})")
                .status,
            200);
  EXPECT_EQ(s.Get("/api/v1/namespaces/n").body.At("spec").At("finalizers").size(), 0u);
}

TEST(NamespaceTest, GetsADefaultServiceAccount) {
  TestServer s;
  s.Post("/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}})");
  EXPECT_EQ(s.Get("/api/v1/namespaces/n/serviceaccounts/default").status, 200);
}

}  // namespace
}  // namespace hekla::apiserver
