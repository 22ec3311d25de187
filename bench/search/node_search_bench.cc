#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "glog/logging.h"
#include "pkg/plugins/common/testing/node_world.h"
#include "pkg/plugins/registry.h"
#include "pkg/util/random.h"

// Searches for a node through the filters and scorers of the default configuration.
namespace hekla::bench {
namespace {

using model::NodeId;
using model::PodTemplate;
using model::TaskId;
using plugins::testing::NodeWorld;

constexpr int64_t kGi = int64_t{1} << 30;
constexpr char kZone[] = "topology.kubernetes.io/zone";

void UseNodePlugins(NodeWorld& world, const std::vector<std::string>& names) {
  std::vector<std::unique_ptr<framework::Plugin>> plugins;
  for (const std::string& name : names) {
    for (const framework::PluginEntry& entry : plugins::AllPlugins()) {
      if (entry.name == name) plugins.push_back(entry.make({}, {}));
    }
  }
  CHECK_EQ(plugins.size(), names.size());
  world.Use(std::move(plugins));
}

void Fill(NodeWorld& world, int nodes, int pods_per_node) {
  util::Random random(7);
  for (int n = 0; n < nodes; ++n) {
    const std::string name = absl::StrCat("node-", n);
    world.Node(name, {{kZone, absl::StrCat("z", n % 3)}, {"disk", n % 2 ? "ssd" : "hdd"}},
               [&](model::NodeSpec& spec) {
                 spec.allocatable.Set(model::kCpu, 32000);
                 spec.allocatable.Set(model::kMemory, 128 * kGi);
               });
    for (int p = 0; p < pods_per_node; ++p) {
      world.Pod({.name = absl::StrCat("pod-", n, "-", p),
                 .labels = {{"app", absl::StrCat("app", random.Below(20))}},
                 .node = name,
                 .pod = [&](PodTemplate& pod) {
                   pod.request.Set(model::kCpu, 100 * static_cast<int64_t>(random.Below(40)));
                   pod.request.Set(model::kMemory, static_cast<int64_t>(random.Below(8)) * kGi);
                   pod.nonzero_cpu_milli = pod.request[model::kCpu];
                   pod.nonzero_memory_bytes = pod.request[model::kMemory];
                 }});
    }
  }
}

enum class Kind { kPlain, kAffinity, kSpread, kAntiAffinity };

TaskId NewClass(NodeWorld& world, int i, Kind kind) {
  return world.Pod({.name = absl::StrCat("new-", i),
                    .labels = {{"app", absl::StrCat("app", i % 20)}},
                    .pod = [&](PodTemplate& pod) {
                      pod.best_effort = false;
                      pod.request.Set(model::kCpu, 100 + i % 997);
                      pod.request.Set(model::kMemory, kGi + int64_t{i} * 4096);
                      pod.nonzero_cpu_milli = pod.request[model::kCpu];
                      pod.nonzero_memory_bytes = pod.request[model::kMemory];
                      model::PodTerm term;
                      term.selector = world.Sel({{"app", absl::StrCat("app", i % 20)}});
                      term.namespaces = {world.S("default")};
                      if (kind == Kind::kAffinity) pod.node_selector = world.L({{"disk", "ssd"}});
                      if (kind == Kind::kSpread) {
                        model::SpreadConstraint c;
                        c.topology_key = world.S(kZone);
                        c.max_skew = 1000;
                        c.selector = term.selector;
                        pod.spread = {c};
                      }
                      if (kind == Kind::kAntiAffinity) {
                        term.selector = world.Sel({{"app", "none"}});
                        term.topology_key = world.S("kubernetes.io/hostname");
                        pod.anti_affinity = {term};
                      }
                    }});
}

constexpr int kSearches = 3000;

// Every pod its own class, searched for once: search and placement, then the next.
void OwnClasses(benchmark::State& state, Kind kind, const std::vector<std::string>& plugins) {
  NodeWorld world;
  Fill(world, static_cast<int>(state.range(0)), 8);
  std::vector<TaskId> tasks;
  for (int i = 0; i < kSearches; ++i) tasks.push_back(NewClass(world, i, kind));
  UseNodePlugins(world, plugins);
  size_t next = 0;
  int64_t placed = 0;
  for (auto _ : state) {
    const TaskId task = tasks[next++];
    const framework::SearchResult found = world.session().search().Best(task, {}, {});
    CHECK(found.node.valid());
    world.Move(task, model::TaskStatus::kAllocated, found.node);
    ++placed;
  }
  state.SetItemsProcessed(placed);
}

const std::vector<std::string> kDefaults = {"predicates", "nodeorder"};
const std::vector<std::string> kChart = {"predicates", "nodeorder", "binpack"};

BENCHMARK_CAPTURE(OwnClasses, plain, Kind::kPlain, kDefaults)
    ->Arg(1000)
    ->Arg(10000)
    ->Iterations(kSearches);
BENCHMARK_CAPTURE(OwnClasses, plain_binpack, Kind::kPlain, kChart)
    ->Arg(10000)
    ->Iterations(kSearches);
BENCHMARK_CAPTURE(OwnClasses, node_selector, Kind::kAffinity, kDefaults)
    ->Arg(10000)
    ->Iterations(kSearches);
BENCHMARK_CAPTURE(OwnClasses, hard_spread, Kind::kSpread, kDefaults)
    ->Arg(10000)
    ->Iterations(kSearches);
BENCHMARK_CAPTURE(OwnClasses, anti_affinity, Kind::kAntiAffinity, kDefaults)
    ->Arg(10000)
    ->Iterations(kSearches);

}  // namespace
}  // namespace hekla::bench
