#include <gtest/gtest.h>

#include "pkg/apis/policy/pod_disruption_budget.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::apis::policy {
namespace {

TEST(PodDisruptionBudgetCodecTest, ReadsNumbersAndPercentages) {
  absl::StatusOr<PodDisruptionBudget> pdb = DecodePodDisruptionBudget(*json::Parse(
      R"({"spec":{"minAvailable":2,"maxUnavailable":"30%","selector":{"matchLabels":{"a":"1"}}},
          "status":{"disruptionsAllowed":1,"disruptedPods":{"b":"t","a":"t"}}})"));
  HEKLA_ASSERT_OK(pdb);
  EXPECT_EQ(pdb->min_available, "2");
  EXPECT_EQ(pdb->max_unavailable, "30%");
  EXPECT_EQ(pdb->disruptions_allowed, 1);
  EXPECT_EQ(pdb->disrupted_pods, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(
      DecodePodDisruptionBudget(*json::Parse(R"({"spec":{"minAvailable":[]}})")).status().message(),
      "spec.minAvailable: expected a number or a percentage");
}

}  // namespace
}  // namespace hekla::apis::policy
