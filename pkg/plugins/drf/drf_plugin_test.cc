#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/harness/builders.h"
#include "test/harness/world.h"

namespace hekla::plugins {
namespace {

using harness::World;
using ::testing::ElementsAre;

constexpr char kConfig[] = "actions: enqueue\ntiers:\n- plugins:\n  - name: drf\n";

// Spec scheduler-actions 5.4: total cpu 100, memory 400 (here Gi), pods 1000.
class DrfPluginTest : public ::testing::Test {
 protected:
  DrfPluginTest() {
    Apply(harness::BuildNode("n1", {{"cpu", "100"}, {"memory", "400Gi"}, {"pods", "1000"}}));
    Apply(harness::BuildQueue("default", 1));
    Job("j1", 4, "5", "8Gi");
    Job("j2", 3, "2", "60Gi");
    Job("j3", 0, "1", "1Gi");
    Job("j4", 250, "10m", "102400Ki");
    Pod("j1", 4, "5", "8Gi", "");
    CHECK(world_.Configure(kConfig).ok());
  }
  void Apply(const harness::Value& object) { CHECK(world_.Apply(object).ok()); }
  void Pod(const std::string& job, int i, const char* cpu, const char* memory,
           const std::string& node) {
    Apply(harness::BuildPod({.name = job + "-" + std::to_string(i),
                             .node = node,
                             .phase = node.empty() ? "Pending" : "Running",
                             .requests = {{"cpu", cpu}, {"memory", memory}},
                             .pod_group = job}));
  }
  void Job(const std::string& name, int tasks, const char* cpu, const char* memory) {
    Apply(harness::BuildPodGroup({.name = name, .phase = "Running"}));
    for (int i = 0; i < tasks; ++i) Pod(name, i, cpu, memory, "n1");
  }
  model::TaskId Task(const std::string& name) { return world_.FindTask("default/" + name); }
  model::JobId FindJob(const std::string& name) {
    return world_.cluster().FindJob("default/" + name);
  }
  World world_;
};

TEST_F(DrfPluginTest, JobsWithTheSmallerDominantShareComeFirst) {
  world_.Run([&](framework::Session& session) {
    const auto& order = session.points().job_order;
    // Shares 0.2, 0.45, 0 and 0.25 (250 of 1000 pods): J3, J1, J4, J2.
    EXPECT_LT(order(FindJob("j3"), FindJob("j1")), 0);
    EXPECT_LT(order(FindJob("j1"), FindJob("j4")), 0);
    EXPECT_LT(order(FindJob("j4"), FindJob("j2")), 0);
    EXPECT_EQ(order(FindJob("j2"), FindJob("j2")), 0);
  });
}

TEST_F(DrfPluginTest, VictimsWouldStillHoldMore) {
  world_.Run([&](framework::Session& session) {
    const std::vector<model::TaskId> candidates = {Task("j2-0"), Task("j2-1"), Task("j2-2"),
                                                   Task("j4-0")};
    // ls = 25/100. J2-0 leaves 120/400 = 0.3; J2-1 leaves 0.15; J4-0 leaves 249/1000.
    EXPECT_THAT(session.points().preemptable(Task("j1-4"), candidates), ElementsAre(Task("j2-0")));
  });
}

TEST_F(DrfPluginTest, SharesAreGauges) {
  world_.Run();
  EXPECT_EQ(world_.metrics().job_share.With({"default", "j1"})->value(), 0.2);
  EXPECT_EQ(world_.metrics().job_share.With({"default", "j3"})->value(), 0);
}

TEST_F(DrfPluginTest, SharesFollowStatementsAndTheirUndo) {
  world_.Run([&](framework::Session& session) {
    const auto& order = session.points().job_order;
    framework::Statement statement(session);
    statement.Allocate(Task("j1-4"), world_.cluster().FindNode("n1"));
    // 25/100 against 250/1000.
    EXPECT_EQ(order(FindJob("j1"), FindJob("j4")), 0);
    statement.Discard();
    EXPECT_LT(order(FindJob("j1"), FindJob("j4")), 0);
  });
}

}  // namespace
}  // namespace hekla::plugins
