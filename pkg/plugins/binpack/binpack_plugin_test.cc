#include "pkg/plugins/binpack/binpack_plugin.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/plugins/common/testing/node_world.h"

namespace hekla::plugins {
namespace {

using apis::json::Value;
using model::NodeId;
using model::TaskId;
using ::testing::ElementsAre;

constexpr int64_t kGi = int64_t{1} << 30;

class BinpackPluginTest : public ::testing::Test {
 protected:
  void Open(Value arguments = {}) {
    world_.Use(std::make_unique<BinpackPlugin>(framework::Arguments(std::move(arguments))));
  }
  model::ResourceDim Gpu() {
    return const_cast<model::Dictionary&>(world_.cluster().dictionary())
        .resources.Intern("nvidia.com/gpu");
  }
  // Of 16 cpu, 64 GiB, 8 GPUs.
  NodeId BigNode(const std::string& name) {
    return world_.Node(name, {}, [&](model::NodeSpec& spec) {
      spec.allocatable.Set(model::kCpu, 16000);
      spec.allocatable.Set(model::kMemory, 64 * kGi);
      spec.allocatable.Set(Gpu(), 8000);
    });
  }
  TaskId Pod(const std::string& name, int64_t cpu, int64_t memory, int64_t gpus,
             const std::string& node = "") {
    return world_.Pod({.name = name, .node = node, .pod = [&](model::PodTemplate& pod) {
                         pod.request.Set(model::kCpu, cpu);
                         pod.request.Set(model::kMemory, memory);
                         pod.request.Set(Gpu(), gpus * 1000);
                       }});
  }
  plugins::testing::NodeWorld world_;
};

// Spec 16.1: (0.5 + 0.5) / 2 and (0.5 + 0.25) / 2.
TEST_F(BinpackPluginTest, DefaultsWeighCpuAndMemoryAlike) {
  const NodeId a = world_.Node("a");
  const NodeId b = world_.Node("b", {}, [](auto& n) { n.allocatable.Set(model::kCpu, 4000); });
  Pod("old", 2000, 4 * kGi, 0, "a");
  const TaskId pod = Pod("p", 2000, 4 * kGi, 0);
  Open();
  EXPECT_THAT(world_.Scores(pod, {a, b}), ElementsAre(50, 37.5));
}

// Spec 16.8: (5 * 0.5 + 1 * 0.5 + 2 * 0.5) / 8 = 0.5; with 7 GPUs used nothing fits.
TEST_F(BinpackPluginTest, ResourcesHaveWeightsAndAFullNodeScoresZero) {
  const NodeId a = BigNode("a");
  const NodeId b = BigNode("b");
  Pod("old-a", 4000, 16 * kGi, 2, "a");
  Pod("old-b", 4000, 16 * kGi, 7, "b");
  const TaskId pod = Pod("p", 4000, 16 * kGi, 2);
  Open(Value::MakeObject({{"binpack.weight", 10},
                          {"binpack.cpu", 5},
                          {"binpack.memory", 1},
                          {"binpack.resources", " nvidia.com/gpu , cpu"},
                          {"binpack.resources.cpu", 9},
                          {"binpack.resources.nvidia.com/gpu", 2}}));
  EXPECT_THAT(world_.Scores(pod, {a, b}), ElementsAre(500, 0));
}

TEST_F(BinpackPluginTest, NegativeAndZeroWeights) {
  const NodeId a = world_.Node("a");
  const TaskId pod = Pod("p", 4000, 4 * kGi, 0);  // half of cpu, a quarter of memory
  Open(Value::MakeObject({{"binpack.cpu", -3}}));
  EXPECT_THAT(world_.Scores(pod, {a}), ElementsAre(37.5));  // -3 counts as 1
  Open(Value::MakeObject({{"binpack.weight", -1}}));
  EXPECT_THAT(world_.Scores(pod, {a}), ElementsAre(-37.5));
  Open(Value::MakeObject({{"binpack.cpu", 0}}));
  EXPECT_THAT(world_.Scores(pod, {a}), ElementsAre(25));
  Open(Value::MakeObject({{"binpack.cpu", 0}, {"binpack.memory", 0}}));
  EXPECT_THAT(world_.Scores(pod, {a}), ElementsAre(0));
  Open(Value::MakeObject({{"binpack.weight", 0}}));
  EXPECT_TRUE(world_.session().points().scorers.empty());
}

// A weighted resource the node lacks adds nothing but keeps its part of the weights.
TEST_F(BinpackPluginTest, MissingCapacityStaysInTheDenominator) {
  const NodeId plain = world_.Node("plain");
  const TaskId pod = Pod("p", 4000, 4 * kGi, 1);
  Open(Value::MakeObject({{"binpack.resources", "nvidia.com/gpu"}}));
  EXPECT_THAT(world_.Scores(pod, {plain}), ElementsAre(25));  // (0.5 + 0.25 + 0) / 3
}

}  // namespace
}  // namespace hekla::plugins
