#include "pkg/sim/ray/ray_auditor.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

class RayAuditorTest : public ::testing::Test {
 protected:
  static Value J(const std::string& text) { return *apis::json::Parse(text); }
  static Value Cluster(int replicas, const std::string& extra = "") {
    return J(absl::StrCat(R"({"metadata":{"name":"c","namespace":"n","uid":"u")", extra,
                          R"(},"spec":{"workerGroupSpecs":[{"groupName":"w","maxReplicas":9,)",
                          R"("replicas":)", replicas, "}]}}"));
  }
  static Value Pod(const std::string& name, bool head, const std::string& extra = "") {
    return J(absl::StrCat(R"({"kind":"Pod","metadata":{"name":")", name, R"(","uid":")", name,
                          R"(","labels":{"ray.io/node-type":")", head ? "head" : "worker",
                          R"(","ray.io/group":"w"},"ownerReferences":[{"kind":"RayCluster",)",
                          R"("name":"c","uid":"u"}])", extra, "}}"));
  }
  std::string Found() const {
    std::string rules;
    for (const Violation& v : auditor_.violations()) absl::StrAppend(&rules, v.rule, " ");
    return rules;
  }

  RayAuditor auditor_{absl::Minutes(4)};
  absl::Time now_ = absl::FromUnixSeconds(1000000);
};

TEST_F(RayAuditorTest, ASecondHeadIsFound) {
  auditor_.ObserveCluster("ADDED", Cluster(0), now_);
  auditor_.ObservePod("ADDED", Pod("h1", true), now_);
  EXPECT_EQ(Found(), "");
  auditor_.ObservePod("ADDED", Pod("h2", true), now_);
  EXPECT_EQ(Found(), "one-head ");
}

TEST_F(RayAuditorTest, AHeadAfterOneThatEndsIsFine) {
  auditor_.ObserveCluster("ADDED", Cluster(0), now_);
  auditor_.ObservePod("ADDED", Pod("h1", true), now_);
  auditor_.ObservePod("MODIFIED", Pod("h1", true, R"(,"deletionTimestamp":"t")"), now_);
  auditor_.ObservePod("ADDED", Pod("h2", true), now_);
  EXPECT_EQ(Found(), "");
}

TEST_F(RayAuditorTest, OneWorkerTooManyIsFound) {
  auditor_.ObserveCluster("ADDED", Cluster(1), now_);
  auditor_.ObservePod("ADDED", Pod("w1", false), now_);
  EXPECT_EQ(Found(), "");
  auditor_.ObservePod("ADDED", Pod("w2", false), now_);
  EXPECT_EQ(Found(), "one-pod-per-replica ");
}

TEST_F(RayAuditorTest, AFormerSpecMayBeActedUponForAWhile) {
  auditor_.ObserveCluster("ADDED", Cluster(2), now_);
  auditor_.ObservePod("ADDED", Pod("w1", false), now_);
  auditor_.ObserveCluster("MODIFIED", Cluster(1), now_);
  auditor_.ObservePod("ADDED", Pod("w2", false), now_);
  EXPECT_EQ(Found(), "");
  now_ += absl::Minutes(10);
  auditor_.ObserveCluster("MODIFIED", Cluster(0), now_);
  auditor_.ObservePod("ADDED", Pod("w3", false), now_);
  EXPECT_EQ(Found(), "one-pod-per-replica ");
}

TEST_F(RayAuditorTest, WhatIsLeftInTheEndIsFound) {
  auditor_.ObserveCluster("ADDED", Cluster(1), now_);
  auditor_.CheckEnd({Pod("w1", false)}, now_);
  EXPECT_EQ(Found(), "");
  auditor_.ObserveCluster("MODIFIED", Cluster(1, R"(,"deletionTimestamp":"t")"), now_);
  auditor_.CheckEnd({}, now_);
  EXPECT_EQ(Found(), "finalizers-end ");
  auditor_.ObserveCluster("DELETED", Cluster(1), now_);
  auditor_.CheckEnd({Pod("w1", false)}, now_);
  EXPECT_EQ(Found(), "finalizers-end no-leaked-child ");
}

}  // namespace
}  // namespace hekla::sim
