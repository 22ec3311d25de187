#include "pkg/ray/webhook/admission.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace hekla::ray::webhook {
namespace {

using apis::json::Value;

std::string Review(const std::string& operation, const std::string& object) {
  return absl::StrCat(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{)",
                      R"("uid":"u-1","operation":")", operation, R"(","object":)", object, "}}");
}
std::string Cluster(const std::string& name, const std::string& groups) {
  return absl::StrCat(R"({"metadata":{"name":")", name, R"("},"spec":{"workerGroupSpecs":)", groups,
                      "}}");
}
http::Response Post(const std::string& body,
                    const std::string& path = std::string(kRayClusterPath)) {
  return AdmissionHandler::Answer(
      {.method = "POST", .target = path + "?timeout=10s", .body = body});
}
Value Verdict(const std::string& body) {
  const http::Response response = Post(body);
  EXPECT_EQ(response.status, 200) << response.body;
  const auto answer = apis::json::Parse(response.body);
  EXPECT_TRUE(answer.ok());
  return answer.ok() ? answer->At("response") : Value();
}

TEST(AdmissionTest, WhatIsFinePasses) {
  for (const char* operation : {"CREATE", "UPDATE"}) {
    EXPECT_EQ(
        Post(Review(operation, Cluster("a", R"([{"groupName":"x"},{"groupName":"y"}])"))).body,
        R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{)"
        R"("uid":"u-1","allowed":true}})");
  }
  EXPECT_TRUE(Verdict(Review("CREATE", Cluster("a", "null"))).GetBool("allowed"));
  // No spec rule is looked at.
  EXPECT_TRUE(Verdict(Review("CREATE", Cluster("a", R"([{"groupName":"x","minReplicas":-1}])")))
                  .GetBool("allowed"));
}

TEST(AdmissionTest, NamesAreChecked) {
  const Value verdict = Verdict(Review("CREATE", Cluster("1a", "[]")));
  EXPECT_FALSE(verdict.GetBool("allowed", true));
  EXPECT_EQ(verdict.GetString("uid"), "u-1");
  const Value& status = verdict.At("status");
  EXPECT_EQ(status.GetInt("code"), 422);
  EXPECT_EQ(status.GetString("reason"), "Invalid");
  EXPECT_EQ(status.At("details").GetString("kind"), "RayCluster");
  EXPECT_EQ(status.At("details").At("causes").as_array()[0].GetString("field"), "metadata.name");
  EXPECT_FALSE(
      Verdict(Review("UPDATE", Cluster(std::string(54, 'a'), "[]"))).GetBool("allowed", true));
}

TEST(AdmissionTest, TheFirstRepeatedGroupIsNamed) {
  const Value verdict = Verdict(Review(
      "UPDATE",
      Cluster("a",
              R"([{"groupName":"x"},{"groupName":"y"},{"groupName":"x"},{"groupName":"y"}])")));
  EXPECT_EQ(verdict.At("status").GetString("message"),
            "RayCluster.ray.io \"a\" is invalid: spec.workerGroupSpecs[2]: Invalid value: "
            "\"x\": worker group names must be unique");
  const Value both =
      Verdict(Review("CREATE", Cluster("1a", R"([{"groupName":"x"},{"groupName":"x"}])")));
  EXPECT_EQ(both.At("status").At("details").At("causes").size(), 2u);
}

TEST(AdmissionTest, DeletionsPass) {
  EXPECT_TRUE(Verdict(Review("DELETE", "null")).GetBool("allowed"));
}

TEST(AdmissionTest, WhatIsNoReviewIsRefused) {
  EXPECT_EQ(Post("{").status, 400);
  EXPECT_EQ(Post("{}").status, 400);
  EXPECT_EQ(Post(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})").status, 400);
  EXPECT_EQ(Post("{}", "/elsewhere").status, 404);
  EXPECT_EQ(
      AdmissionHandler::Answer({.method = "GET", .target = std::string(kRayClusterPath)}).status,
      400);
}

}  // namespace
}  // namespace hekla::ray::webhook
