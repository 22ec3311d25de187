#include "pkg/apiserver/budgets.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/testing/test_server.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;
using testing::J;
using testing::TestServer;

constexpr char kBudgets[] = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
constexpr char kPods[] = "/api/v1/namespaces/default/pods";

TEST(BudgetTest, PercentagesAreRoundedUp) {
  EXPECT_EQ(DesiredHealthy(J(R"({"minAvailable":3})"), 10), 3);
  EXPECT_EQ(DesiredHealthy(J(R"({"minAvailable":"50%"})"), 5), 3);  // 2.5 up
  EXPECT_EQ(DesiredHealthy(J(R"({"maxUnavailable":1})"), 5), 4);
  EXPECT_EQ(DesiredHealthy(J(R"({"maxUnavailable":"30%"})"), 5), 3);  // 5 - 2
  EXPECT_EQ(DesiredHealthy(J(R"({"maxUnavailable":9})"), 5), 0);
}

TEST(BudgetTest, IsRecountedByTheTick) {
  // Worked example 24: the second eviction is refused with the old count before the recount, with
  // the new one after it.
  TestServer s;
  for (const char* name : {"p1", "p2", "p3", "p4"}) {
    s.MakePod(name, R"("labels":{"app":"x"})");
    s.Bind(name, "n");
    s.Patch(absl::StrCat(kPods, "/", name, "/status"), "strategic",
            R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})");
  }
  s.Post(kBudgets,
         R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"guard"},)"
         R"("spec":{"minAvailable":3,"selector":{"matchLabels":{"app":"x"}}}})");
  s.Advance(absl::Seconds(1));
  const Value status = s.Get(absl::StrCat(kBudgets, "/guard")).body.At("status");
  EXPECT_EQ(status.GetInt("disruptionsAllowed"), 1);
  EXPECT_EQ(status.GetInt("currentHealthy"), 4);
  EXPECT_EQ(status.GetInt("observedGeneration"), 1);
  const auto evict = [&](const std::string& name) {
    return s.Post(
        absl::StrCat(kPods, "/", name, "/eviction"),
        absl::StrCat(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")", name,
                     "\"}}"));
  };
  const auto why = [](const TestServer::Reply& r) {
    return std::string(r.body.At("details").At("causes").as_array()[0].GetString("message"));
  };
  EXPECT_EQ(evict("p1").status, 201);
  const auto early = evict("p2");
  EXPECT_EQ(early.status, 429);
  EXPECT_EQ(why(early), "The disruption budget guard needs 3 healthy pods and has 4 currently");
  s.Advance(absl::Seconds(1));
  EXPECT_EQ(why(evict("p2")),
            "The disruption budget guard needs 3 healthy pods and has 3 currently");
}

}  // namespace
}  // namespace hekla::apiserver
