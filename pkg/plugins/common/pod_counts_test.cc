#include "pkg/plugins/common/pod_counts.h"

#include <string>

#include "gtest/gtest.h"
#include "pkg/plugins/common/testing/node_world.h"

namespace hekla::plugins {
namespace {

using model::NodeId;
using model::TaskId;
using plugins::testing::NodeWorld;

class PodCountsTest : public ::testing::Test, public model::TaskObserver {
 protected:
  PodCountsTest() {
    for (int i = 0; i < 40; ++i) {
      world_.Node("n" + std::to_string(i), {{"zone", "z" + std::to_string(i % 4)}});
    }
    nodes_.Attach(world_.cluster());
    world_.cluster().SetObserver(this);
    counts_.Sync();
  }
  ~PodCountsTest() override { world_.cluster().SetObserver(nullptr); }
  void OnTaskMoved(TaskId task, NodeId node, bool added) override {
    counts_.OnTaskMoved(task, node, added);
  }
  ColumnId ByZone(const plugins::testing::Pairs& labels) {
    PodQuery query;
    query.parts = {{world_.Sel(labels), {world_.S("default")}, false, {}}};
    return counts_.Column(counts_.Query(query), nodes_.TopologyOf(world_.S("zone")), {});
  }
  int32_t In(ColumnId column, const std::string& zone) {
    const Topology& topology = nodes_.topology(counts_.column(column).topology);
    return counts_.column(column).At(topology.index.at(world_.S(zone)));
  }

  NodeWorld world_;
  NodeColumns nodes_;
  PodCounts counts_{nodes_, {TermRole::kAntiAffinity}};
};

TEST_F(PodCountsTest, CountsFollowMovesAndNodesThatChangeTheirDomain) {
  world_.Pod({.name = "a", .labels = {{"app", "x"}}, .node = "n1"});
  const ColumnId column = ByZone({{"app", "x"}});
  EXPECT_EQ(In(column, "z1"), 1);
  world_.Pod({.name = "b", .labels = {{"app", "x"}}, .node = "n5"});
  world_.Pod({.name = "c", .labels = {{"app", "y"}}, .node = "n5"});
  EXPECT_EQ(In(column, "z1"), 2);
  world_.Node("n5", {{"zone", "z2"}});
  counts_.Sync();
  EXPECT_EQ(In(column, "z1"), 1);
  EXPECT_EQ(In(column, "z2"), 1);
  world_.RemovePod("a");
  EXPECT_EQ(In(column, "z1"), 0);
  EXPECT_EQ(counts_.column(column).total, 1);
}

TEST_F(PodCountsTest, ChangesAreKnownByPositionOfTheTouchLog) {
  const ColumnId column = ByZone({{"app", "x"}});
  const uint64_t before = counts_.Now();
  world_.Pod({.name = "a", .labels = {{"app", "x"}}, .node = "n1"});
  world_.Pod({.name = "b", .labels = {{"app", "x"}}, .node = "n5"});
  const uint64_t middle = counts_.Now();
  world_.RemovePod("a");
  std::vector<CountColumn::Change> net;
  ASSERT_TRUE(counts_.ChangesSince(column, before, net));
  ASSERT_EQ(net.size(), 1u);
  EXPECT_EQ(net[0].delta, 1);  // two came, one left
  ASSERT_TRUE(counts_.ChangesSince(column, middle, net));
  ASSERT_EQ(net.size(), 1u);
  EXPECT_EQ(net[0].delta, -1);
  ASSERT_TRUE(counts_.ChangesSince(column, counts_.Now(), net));
  EXPECT_TRUE(net.empty());
}

TEST_F(PodCountsTest, QueriesOfJobsLongGoneAreDropped) {
  counts_.SetCellBudgetForTest(2000);
  size_t largest = 0;
  for (int job = 0; job < 500; ++job) {
    const std::string name = "job-" + std::to_string(job);
    world_.Pod({.name = name, .labels = {{"job", name}}, .node = "n3"});
    const ColumnId column = ByZone({{"job", name}});
    EXPECT_EQ(In(column, "z3"), 1);
    largest = std::max(largest, counts_.Cells());
    world_.RemovePod(name);
    counts_.Sync();
  }
  EXPECT_LT(largest, 4000u);
  EXPECT_GT(counts_.epoch(), 2u);
  // What is asked for again is counted again.
  world_.Pod({.name = "a", .labels = {{"app", "x"}}, .node = "n1"});
  EXPECT_EQ(In(ByZone({{"app", "x"}}), "z1"), 1);
}

}  // namespace
}  // namespace hekla::plugins
