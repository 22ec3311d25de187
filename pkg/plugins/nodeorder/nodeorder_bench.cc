#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "glog/logging.h"
#include "pkg/plugins/common/testing/node_world.h"
#include "pkg/plugins/nodeorder/nodeorder_plugin.h"
#include "pkg/util/random.h"

namespace hekla::plugins {
namespace {

using model::NodeId;
using model::TaskId;
using plugins::testing::NodeWorld;

constexpr int64_t kGi = int64_t{1} << 30;

// Nodes in three zones, each half full of running pods.
void Fill(NodeWorld& world, int nodes, int pods_per_node) {
  util::Random random(7);
  for (int n = 0; n < nodes; ++n) {
    const std::string name = absl::StrCat("node-", n);
    world.Node(name, {{"topology.kubernetes.io/zone", absl::StrCat("z", n % 3)}},
               [&](model::NodeSpec& spec) {
                 spec.allocatable.Set(model::kCpu, 32000);
                 spec.allocatable.Set(model::kMemory, 128 * kGi);
               });
    for (int p = 0; p < pods_per_node; ++p) {
      world.Pod({.name = absl::StrCat("pod-", n, "-", p),
                 .labels = {{"app", absl::StrCat("app", random.Below(20))}},
                 .node = name,
                 .pod = [&](model::PodTemplate& pod) {
                   pod.request.Set(model::kCpu, static_cast<int64_t>(random.Below(4000)));
                   pod.request.Set(model::kMemory, static_cast<int64_t>(random.Below(8)) * kGi);
                   pod.nonzero_cpu_milli = pod.request[model::kCpu];
                   pod.nonzero_memory_bytes = pod.request[model::kMemory];
                 }});
    }
  }
}

TaskId Candidate(NodeWorld& world, const std::string& name) {
  return world.Pod({.name = name, .pod = [&](model::PodTemplate& pod) {
                      pod.request.Set(model::kCpu, 1000);
                      pod.request.Set(model::kMemory, 2 * kGi);
                      pod.nonzero_cpu_milli = 1000;
                      pod.nonzero_memory_bytes = 2 * kGi;
                      model::PodTerm term;
                      term.selector = world.Sel({{"app", "app3"}});
                      term.namespaces = {world.S("default")};
                      term.topology_key = world.S("topology.kubernetes.io/zone");
                      term.weight = 10;
                      if (name == "affine") pod.preferred_pod_affinity = {term};
                      if (name == "spread") {
                        model::SpreadConstraint c;
                        c.topology_key = term.topology_key;
                        c.selector = term.selector;
                        c.hard = false;
                        pod.spread = {c};
                      }
                    }});
}

// One scorer over all nodes.
void ScoreColumn(benchmark::State& state, const char* scorer, const char* pod) {
  NodeWorld world;
  Fill(world, static_cast<int>(state.range(0)), 8);
  const TaskId task = Candidate(world, pod);
  world.Use(std::make_unique<NodeorderPlugin>(framework::Arguments()));
  const std::vector<NodeId>& nodes = world.tables().nodes.leaves;
  std::vector<double> raw(nodes.size());
  framework::NodeScorer* found = nullptr;
  for (const auto& entry : world.session().points().scorers) {
    if (entry.scorer->name() == scorer) found = entry.scorer;
  }
  CHECK(found != nullptr) << scorer;
  CHECK(found->PreScore(task, nodes)) << scorer;
  for (auto _ : state) {
    if (found->depends_on_candidates()) found->PreScore(task, nodes);
    found->Score(task, nodes, absl::MakeSpan(raw));
    benchmark::DoNotOptimize(raw.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(nodes.size()));
}
BENCHMARK_CAPTURE(ScoreColumn, least, "NodeResourcesLeastAllocated", "plain")
    ->Arg(1000)
    ->Arg(10000);
BENCHMARK_CAPTURE(ScoreColumn, balanced, "NodeResourcesBalancedAllocation", "plain")
    ->Arg(1000)
    ->Arg(10000);
BENCHMARK_CAPTURE(ScoreColumn, taints, "TaintToleration", "plain")->Arg(1000)->Arg(10000);
BENCHMARK_CAPTURE(ScoreColumn, images, "ImageLocality", "plain")->Arg(1000)->Arg(10000);
BENCHMARK_CAPTURE(ScoreColumn, pod_affinity, "InterPodAffinity", "affine")->Arg(1000)->Arg(10000);
BENCHMARK_CAPTURE(ScoreColumn, spread, "PodTopologySpread", "spread")->Arg(1000)->Arg(10000);

// Every scorer of the default configuration over all nodes, normalised and summed.
void ScoreAll(benchmark::State& state) {
  NodeWorld world;
  Fill(world, static_cast<int>(state.range(0)), 8);
  const TaskId task = Candidate(world, "plain");
  world.Use(std::make_unique<NodeorderPlugin>(framework::Arguments()));
  const std::vector<NodeId>& nodes = world.tables().nodes.leaves;
  std::vector<double> scores(nodes.size());
  for (auto _ : state) {
    world.session().search().Scores(task, nodes, absl::MakeSpan(scores));
    benchmark::DoNotOptimize(scores.data());
  }
  CHECK_GT(scores[0], 300);  // taints alone give 300
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(nodes.size()));
}
BENCHMARK(ScoreAll)->Arg(1000)->Arg(5000)->Arg(10000);

// A pod comes to a node and goes again while counts are kept.
void MoveWithCounts(benchmark::State& state) {
  NodeWorld world;
  Fill(world, static_cast<int>(state.range(0)), 8);
  const TaskId task = Candidate(world, "affine");
  world.Use(std::make_unique<NodeorderPlugin>(framework::Arguments()));
  const std::vector<NodeId> nodes = world.tables().nodes.leaves;
  world.Scores(task, {nodes[0]});
  size_t i = 0;
  for (auto _ : state) {
    world.Move(task, model::TaskStatus::kAllocated, nodes[i++ % nodes.size()]);
    world.Move(task, model::TaskStatus::kPending, NodeId());
  }
  state.SetItemsProcessed(state.iterations() * 2);
}
BENCHMARK(MoveWithCounts)->Arg(1000)->Arg(10000);

}  // namespace
}  // namespace hekla::plugins
