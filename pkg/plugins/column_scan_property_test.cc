#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "pkg/framework/column_scan.h"
#include "pkg/framework/node_scan.h"
#include "pkg/framework/static_answers.h"
#include "pkg/plugins/common/testing/random_pods.h"
#include "pkg/plugins/registry.h"

namespace hekla::plugins {
namespace {

using model::NodeId;
using model::TaskId;
using plugins::testing::NodeWorld;
using plugins::testing::RandomPods;

void UseNodePlugins(NodeWorld& world) {
  std::vector<std::unique_ptr<framework::Plugin>> plugins;
  for (const framework::PluginEntry& entry : AllPlugins()) {
    if (entry.name == "predicates" || entry.name == "nodeorder" || entry.name == "binpack") {
      plugins.push_back(entry.make({}, {}));
    }
  }
  ASSERT_EQ(plugins.size(), 3u);
  world.Use(std::move(plugins));
}

// Searches in columns and node by node, for every pending pod, several ranges and options.
class Comparison {
 public:
  explicit Comparison(NodeWorld& world)
      : world_(world),
        scan_(world.cluster()),
        statics_(world.cluster(), scan_),
        columns_(world.cluster(), scan_, statics_) {}

  void Run(RandomPods& pods, uint64_t seed) {
    scan_.Attach(world_.session().points(), world_.reasons());
    columns_.Attach(world_.session().points());
    const auto leaves = static_cast<uint32_t>(world_.tables().nodes.leaves.size());
    for (TaskId task : pods.PendingPods()) {
      framework::ReasonId refused;
      if (!scan_.Prepare(task, &refused)) continue;
      for (const framework::NodeSet& set :
           {framework::NodeSet{}, framework::NodeSet{1, leaves / 2, {}},
            framework::NodeSet{leaves / 3, leaves, {}}}) {
        for (const framework::SearchOptions& options :
             {framework::SearchOptions{}, framework::SearchOptions{false, true},
              framework::SearchOptions{true, false}}) {
          const framework::SearchResult plain = scan_.Best(task, set, options);
          const framework::SearchResult dense = columns_.Best(task, set, options);
          ASSERT_EQ(dense.node, plain.node) << "seed " << seed;
          ASSERT_EQ(dense.room, plain.room) << "seed " << seed;
          found_ += plain.node.valid() ? 1 : 0;
          future_ += plain.room == framework::Room::kFutureIdle ? 1 : 0;
        }
      }
    }
  }
  int found() const { return found_; }
  int future() const { return future_; }

 private:
  NodeWorld& world_;
  framework::NodeScan scan_;
  framework::StaticAnswers statics_;
  framework::ColumnScan columns_;
  int found_ = 0;
  int future_ = 0;
};

TEST(ColumnScanPropertyTest, DecidesAsTheScanNodeByNode) {
  int found = 0;
  int future = 0;
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    NodeWorld world;
    RandomPods pods(world, seed);
    pods.AddNodes(6 + static_cast<int>(seed % 40));
    for (int i = 0; i < 30; ++i) pods.AddPod();
    ASSERT_NO_FATAL_FAILURE(UseNodePlugins(world));
    Comparison comparison(world);
    for (int cycle = 0; cycle < 4; ++cycle) {
      for (int i = 0; i < 4; ++i) {
        pods.Move();
        ASSERT_NO_FATAL_FAILURE(comparison.Run(pods, seed));
      }
      for (int i = 0; i < 6; ++i) pods.Churn();
      world.NextCycle();
    }
    found += comparison.found();
    future += comparison.future();
  }
  EXPECT_GT(found, 10000);
  EXPECT_GT(future, 50);
}

}  // namespace
}  // namespace hekla::plugins
