#include "pkg/plugins/sla/sla_plugin.h"

#include "gtest/gtest.h"
#include "test/harness/builders.h"
#include "test/harness/world.h"

namespace hekla::plugins {
namespace {

using harness::Value;
using harness::World;

// The clock stands at the creation time of objects made with created = 0.
class SlaPluginTest : public ::testing::Test {
 protected:
  void Group(const char* name, int created, const char* limit) {
    Value group = harness::BuildPodGroup({.name = name, .created = created});
    if (*limit != '\0') {
      group.Ensure({"metadata", "annotations"}).Set("volcano.sh/sla-waiting-time", limit);
    }
    group.Ensure({"spec"}).Set("minResources", harness::MapOf({{"cpu", "100"}}));
    CHECK(world_.Apply(group).ok());
  }
  model::JobId FindJob(const char* name) {
    return world_.cluster().FindJob(std::string("default/") + name);
  }
  void Run(const std::string& tiers, const World::Hook& hook) {
    CHECK(world_.Apply(harness::BuildQueue("default", 1)).ok());
    CHECK(world_.Configure("actions: enqueue\ntiers:\n" + tiers).ok());
    world_.Run(hook);
  }
  World world_;
};

TEST_F(SlaPluginTest, TheSoonerDeadlineComesFirst) {
  Group("long", 0, "2h");
  Group("short", 10, "1h30m");
  Group("none", 0, "");
  Run("- plugins:\n  - name: sla\n", [&](framework::Session& session) {
    const auto& order = session.points().job_order;
    EXPECT_LT(order(FindJob("short"), FindJob("long")), 0);
    EXPECT_LT(order(FindJob("long"), FindJob("none")), 0);
    EXPECT_EQ(order(FindJob("none"), FindJob("none")), 0);
  });
}

TEST_F(SlaPluginTest, TheArgumentCountsWhereAJobHasNoneOfItsOwn) {
  Group("own", 0, "3h");
  Group("global", 0, "");
  Run("- plugins:\n  - name: sla\n    arguments: {sla-waiting-time: 1h}\n",
      [&](framework::Session& session) {
        EXPECT_LT(session.points().job_order(FindJob("global"), FindJob("own")), 0);
      });
}

// Spec 5.11: tier 1 sla, tier 2 overcommit; no node, so overcommit rejects.
TEST_F(SlaPluginTest, AJobWhoseTimeIsUpIsAdmittedWithoutAskingLaterTiers) {
  Group("late", 0, "1h");
  Group("early", 0, "3h");
  world_.clock().Advance(absl::Hours(2));
  Run("- plugins:\n  - name: sla\n- plugins:\n  - name: overcommit\n",
      [&](framework::Session& session) {
        EXPECT_TRUE(session.points().job_enqueueable(FindJob("late")));
        EXPECT_FALSE(session.points().job_enqueueable(FindJob("early")));
      });
}

// Nothing but the time changes between the cycles: the group asks for more than overcommit admits.
TEST_F(SlaPluginTest, ARefusedJobIsAskedAgainWhenItsTimeIsUp) {
  Group("late", 0, "1h");
  const auto is_admitted = [&] {
    return world_.tables().jobs.phase[FindJob("late")] == model::PodGroupPhase::kInqueue;
  };
  Run("- plugins:\n  - name: sla\n- plugins:\n  - name: overcommit\n", nullptr);
  EXPECT_FALSE(is_admitted());
  world_.Run();
  EXPECT_FALSE(is_admitted());
  world_.clock().Advance(absl::Hours(2));
  world_.Run();
  EXPECT_TRUE(is_admitted());
}

TEST_F(SlaPluginTest, ARejectionInItsOwnTierStands) {
  Group("late", 0, "1h");
  world_.clock().Advance(absl::Hours(2));
  Run("- plugins:\n  - name: sla\n  - name: overcommit\n", [&](framework::Session& session) {
    EXPECT_FALSE(session.points().job_enqueueable(FindJob("late")));
  });
}

TEST_F(SlaPluginTest, UnreadableLimitsAreNone) {
  Group("a", 0, "soon");
  Group("b", 0, "-1h");
  Run("- plugins:\n  - name: sla\n    arguments: {sla-waiting-time: never}\n",
      [&](framework::Session& session) {
        EXPECT_EQ(session.points().job_order(FindJob("a"), FindJob("b")), 0);
      });
}

}  // namespace
}  // namespace hekla::plugins
