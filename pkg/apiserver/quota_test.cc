#include "pkg/apiserver/quota.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/apiserver/testing/test_server.h"

namespace hekla::apiserver::testing {
namespace {

constexpr char kQuotas[] = "/api/v1/namespaces/default/resourcequotas";
constexpr char kClaims[] = "/api/v1/namespaces/default/persistentvolumeclaims";

void Limit(TestServer& s, const std::string& hard, const std::string& used) {
  const std::string amounts = absl::StrCat(R"("hard":{)", hard, "}");
  ASSERT_EQ(s.Post(kQuotas, absl::StrCat(R"({"apiVersion":"v1","kind":"ResourceQuota",)",
                                         R"("metadata":{"name":"q"},"spec":{)", amounts, "}}"))
                .status,
            201);
  ASSERT_EQ(s.Patch(absl::StrCat(kQuotas, "/q/status"), "merge",
                    absl::StrCat(R"({"status":{)", amounts, R"(,"used":{)", used, "}}}"))
                .status,
            200);
}

TestServer::Reply MakePod(TestServer& s, const std::string& name, const std::string& resources) {
  return s.Post("/api/v1/namespaces/default/pods",
                absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name,
                             R"("},"spec":{"containers":[{"name":"c","image":"i","resources":)",
                             resources, "}]}}"));
}

TEST(QuotaTest, WhatDoesNotFitIsRefusedAndWhatFitsIsCounted) {
  TestServer s;
  Limit(s, R"("pods":"2","requests.cpu":"3")", R"("pods":"1","requests.cpu":"1")");
  EXPECT_EQ(MakePod(s, "a", R"({"requests":{"cpu":"2"}})").status, 201);
  const auto quota = s.Get(absl::StrCat(kQuotas, "/q"));
  EXPECT_EQ(quota.body.At("status").At("used").GetString("pods"), "2");
  EXPECT_EQ(quota.body.At("status").At("used").GetString("requests.cpu"), "3");
  const auto refused = MakePod(s, "b", R"({"requests":{"cpu":"500m"}})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.body.GetString("message"),
            "pods \"b\" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=500m, "
            "used: pods=2,requests.cpu=3, limited: pods=2,requests.cpu=3");
}

TEST(QuotaTest, AContainerMustNameWhatIsLimited) {
  TestServer s;
  Limit(s, R"("limits.memory":"1Gi")", "");
  const auto refused = MakePod(s, "a", "{}");
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.body.GetString("message"),
            "pods \"a\" is forbidden: failed quota: q: must specify limits.memory for: c");
}

TEST(QuotaTest, OnlyWhatTheStatusSaysCounts) {
  TestServer s;
  ASSERT_EQ(s.Post(kQuotas, R"({"apiVersion":"v1","kind":"ResourceQuota",)"
                            R"("metadata":{"name":"q"},"spec":{"hard":{"pods":"0"}}})")
                .status,
            201);
  EXPECT_EQ(MakePod(s, "a", "{}").status, 201);
}

TEST(ClaimProtectionTest, AClaimStaysWhileAPodUsesIt) {
  TestServer s;
  const auto claim =
      s.Post(kClaims, R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":)"
                      R"({"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],)"
                      R"("resources":{"requests":{"storage":"1Gi"}}}})");
  EXPECT_EQ(claim.status, 201);
  ASSERT_EQ(claim.body.At("metadata").At("finalizers").size(), 1u);
  s.MakePod("user", "", R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}])");
  EXPECT_EQ(s.Delete(absl::StrCat(kClaims, "/data")).status, 200);
  EXPECT_EQ(s.Get(absl::StrCat(kClaims, "/data")).status, 200) << "in use";
  EXPECT_EQ(s.Delete("/api/v1/namespaces/default/pods/user").status, 200);
  EXPECT_EQ(s.Get(absl::StrCat(kClaims, "/data")).status, 404);
}

TEST(BareServerTest, ChildrenOutliveTheirOwnerWithoutControllers) {
  Options options;
  options.cluster_controllers = false;
  TestServer s(options);
  const auto owner = s.MakePod("owner");
  s.MakePod("child", absl::StrCat(R"("ownerReferences":[{"apiVersion":"v1","kind":"Pod",)",
                                  R"("name":"owner","uid":")",
                                  owner.At("metadata").GetString("uid"), R"("}])"));
  EXPECT_EQ(s.Delete("/api/v1/namespaces/default/pods/owner").status, 200);
  EXPECT_EQ(s.Get("/api/v1/namespaces/default/pods/child").status, 200);
}

TEST(DefaultsTest, NamesNotesAndJobsAreAsRealServersMakeThem) {
  TestServer s;
  const auto refused = s.Post("/api/v1/namespaces/default/pods",
                              R"({"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"g-"},)"
                              R"("spec":{"priorityClassName":"none","containers":[{"name":"c",)"
                              R"("image":"i"}]}})");
  EXPECT_EQ(refused.body.GetString("message"),
            "pods \"g-\" is forbidden: no PriorityClass with name none was found");
  const auto job = s.Post("/apis/batch/v1/namespaces/default/jobs",
                          R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":)"
                          R"({"template":{"spec":{"restartPolicy":"Never","containers":[{"name":)"
                          R"("c","image":"i"}]}}}})");
  EXPECT_EQ(job.body.At("metadata").At("labels").GetString("job-name"), "j");
  EXPECT_EQ(job.body.At("spec").At("manualSelector"), apis::json::Value(false));
  const auto policy =
      s.Post("/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
             R"({"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy",)"
             R"("metadata":{"name":"n"},"spec":{"podSelector":{},"egress":[{"ports")"
             R"(:[{"port":53}]}]}})");
  EXPECT_EQ(policy.body.At("spec").At("policyTypes").size(), 2u);
  const std::string note(1025, 'n');
  const auto event = s.Post(
      "/apis/events.k8s.io/v1/namespaces/default/events",
      absl::StrCat(R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":)",
                   R"("e","namespace":"default"},"eventTime":"2026-01-01T00:00:00.000000Z",)",
                   R"("reportingController":"c","reportingInstance":"i","action":"A",)",
                   R"("reason":"R","type":"Normal","note":")", note,
                   R"(","regarding":{"namespace":"default"}})"));
  EXPECT_EQ(event.status, 422);
  EXPECT_TRUE(
      absl::StrContains(event.body.GetString("message"), "can have at most 1024 characters"));
}

}  // namespace
}  // namespace hekla::apiserver::testing
