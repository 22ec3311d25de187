#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "pkg/plugins/common/testing/random_pods.h"
#include "pkg/plugins/nodeorder/nodeorder_plugin.h"

namespace hekla::plugins {
namespace {

using model::NodeId;
using model::PodTerm;
using model::Symbol;
using model::TaskId;
using plugins::testing::NodeWorld;
using plugins::testing::RandomPods;
using Effect = model::Taint::Effect;

// The scorers as one reads them in the spec, with their default weights and without images.
class PlainScorers {
 public:
  explicit PlainScorers(NodeWorld& world) : world_(world), t_(world.tables()) {}

  std::vector<double> Scores(TaskId task, const std::vector<NodeId>& nodes) {
    const model::PodTemplate& pod = *t_.tasks.pod[task];
    std::vector<double> total(nodes.size(), 0);
    for (size_t i = 0; i < nodes.size(); ++i) total[i] += Least(pod, nodes[i]);
    if (pod.request[model::kCpu] != 0 || pod.request[model::kMemory] != 0) {
      for (size_t i = 0; i < nodes.size(); ++i) total[i] += Balanced(pod, nodes[i]);
    }
    AddNodeAffinity(pod, nodes, total);
    AddTaints(pod, nodes, total);
    AddPodAffinity(task, nodes, total);
    AddSpread(task, nodes, total);
    return total;
  }

 private:
  const model::SymbolTable& symbols() { return world_.cluster().dictionary().symbols; }
  Symbol Label(NodeId node, Symbol key) {
    return model::FindLabel(t_.nodes.spec[node]->labels, key);
  }
  double Least(const model::PodTemplate& pod, NodeId node) {
    int64_t cpu = pod.nonzero_cpu_milli;
    int64_t memory = pod.nonzero_memory_bytes;
    for (TaskId other : t_.nodes.tasks[node]) {
      cpu += t_.tasks.pod[other]->nonzero_cpu_milli;
      memory += t_.tasks.pod[other]->nonzero_memory_bytes;
    }
    const auto& room = t_.nodes.spec[node]->allocatable;
    const auto left = [](int64_t used, int64_t whole) {
      return used > whole ? 0 : (whole - used) * 100 / whole;
    };
    return static_cast<double>(
        (50 * left(cpu, room[model::kCpu]) + 50 * left(memory, room[model::kMemory])) / 100);
  }
  int64_t Balance(const model::Resource& with, NodeId node) {
    double fraction[2];
    for (model::ResourceDim d : {model::kCpu, model::kMemory}) {
      int64_t used = with[d];
      for (TaskId other : t_.nodes.tasks[node]) used += t_.tasks.pod[other]->request[d];
      const auto whole = static_cast<double>(t_.nodes.spec[node]->allocatable[d]);
      fraction[d] = std::min(1.0, static_cast<double>(used) / whole);
    }
    return static_cast<int64_t>((1 - std::abs((fraction[0] - fraction[1]) / 2)) * 100);
  }
  double Balanced(const model::PodTemplate& pod, NodeId node) {
    return static_cast<double>((150 + Balance(pod.request, node) - Balance({}, node)) / 2);
  }
  void AddNodeAffinity(const model::PodTemplate& pod, const std::vector<NodeId>& nodes,
                       std::vector<double>& total) {
    std::vector<int64_t> raw(nodes.size(), 0);
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (const auto& term : pod.preferred_affinity) {
        bool all = !term.expressions.empty();
        for (const auto& r : term.expressions) {
          all = all && model::Matches(r, t_.nodes.spec[nodes[i]]->labels, symbols());
        }
        if (all) raw[i] += term.weight;
      }
    }
    const int64_t top = *std::max_element(raw.begin(), raw.end());
    for (size_t i = 0; i < nodes.size() && top > 0; ++i) {
      total[i] += 2 * static_cast<double>(100 * raw[i] / top);
    }
  }
  void AddTaints(const model::PodTemplate& pod, const std::vector<NodeId>& nodes,
                 std::vector<double>& total) {
    std::vector<int64_t> raw(nodes.size(), 0);
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (const auto& taint : t_.nodes.spec[nodes[i]]->taints) {
        if (taint.effect != Effect::kPreferNoSchedule) continue;
        bool tolerated = false;
        for (const auto& t : pod.tolerations) tolerated = tolerated || model::Tolerates(t, taint);
        raw[i] += tolerated ? 0 : 1;
      }
    }
    const int64_t top = *std::max_element(raw.begin(), raw.end());
    for (size_t i = 0; i < nodes.size(); ++i) {
      total[i] += 3 * static_cast<double>(top == 0 ? 100 : 100 - 100 * raw[i] / top);
    }
  }
  bool Means(const PodTerm& term, TaskId owner, TaskId pod) {
    const auto& ns = t_.namespaces;
    const auto where = t_.tasks.namespace_id[pod];
    bool in = std::count(term.namespaces.begin(), term.namespaces.end(), ns.name[where]) > 0;
    if (term.namespaces.empty() && !term.has_namespace_selector) {
      in = where == t_.tasks.namespace_id[owner];
    }
    if (term.has_namespace_selector) {
      in = in || model::Matches(term.namespace_selector, ns.labels[where], symbols());
    }
    return in && model::Matches(term.selector, *t_.tasks.spec[pod]->labels, symbols());
  }
  void AddPodAffinity(TaskId task, const std::vector<NodeId>& nodes, std::vector<double>& total) {
    std::vector<int64_t> raw(nodes.size(), 0);
    const auto add = [&](const PodTerm& term, NodeId where, int64_t weight) {
      const Symbol value = Label(where, term.topology_key);
      for (size_t i = 0; i < nodes.size(); ++i) {
        if (value.valid() && Label(nodes[i], term.topology_key) == value) raw[i] += weight;
      }
    };
    const model::PodTemplate& own = *t_.tasks.pod[task];
    for (NodeId node : t_.nodes.leaves) {
      for (TaskId other : t_.nodes.tasks[node]) {
        const model::PodTemplate& theirs = *t_.tasks.pod[other];
        for (const auto& t : own.preferred_pod_affinity) {
          if (Means(t, task, other)) add(t, node, t.weight);
        }
        for (const auto& t : own.preferred_anti_affinity) {
          if (Means(t, task, other)) add(t, node, -t.weight);
        }
        for (const auto& t : theirs.preferred_pod_affinity) {
          if (Means(t, other, task)) add(t, node, t.weight);
        }
        for (const auto& t : theirs.preferred_anti_affinity) {
          if (Means(t, other, task)) add(t, node, -t.weight);
        }
      }
    }
    const auto [low, high] = std::minmax_element(raw.begin(), raw.end());
    if (*low == *high) return;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const double share = static_cast<double>(raw[i] - *low) / static_cast<double>(*high - *low);
      total[i] += 2 * static_cast<double>(static_cast<int64_t>(100 * share));
    }
  }
  bool Eligible(const model::PodTemplate& pod, const model::SpreadConstraint& c, NodeId node) {
    const model::NodeSpec& spec = *t_.nodes.spec[node];
    for (const auto& taint : spec.taints) {
      bool fine = !c.honor_taints || taint.effect == Effect::kPreferNoSchedule;
      for (const auto& t : pod.tolerations) fine = fine || model::Tolerates(t, taint);
      if (!fine) return false;
    }
    if (!c.honor_affinity) return true;
    for (const auto& [key, value] : pod.node_selector) {
      if (model::FindLabel(spec.labels, key) != value) return false;
    }
    bool any = !pod.has_required_affinity;
    for (const auto& term : pod.required_affinity) {
      bool all = !term.expressions.empty();
      for (const auto& r : term.expressions) {
        all = all && model::Matches(r, spec.labels, symbols());
      }
      any = any || all;
    }
    return any;
  }
  int Count(TaskId task, const model::Selector& selector, NodeId node) {
    int count = 0;
    for (TaskId p : t_.nodes.tasks[node]) {
      count += !selector.empty() && !t_.tasks.spec[p]->deleting &&
               t_.tasks.namespace_id[p] == t_.tasks.namespace_id[task] &&
               model::Matches(selector, *t_.tasks.spec[p]->labels, symbols());
    }
    return count;
  }
  void AddSpread(TaskId task, const std::vector<NodeId>& nodes, std::vector<double>& total) {
    const model::PodTemplate& pod = *t_.tasks.pod[task];
    const auto has_keys = [&](NodeId node) {
      for (const auto& c : pod.spread) {
        if (!c.hard && !Label(node, c.topology_key).valid()) return false;
      }
      return true;
    };
    std::vector<double> raw(nodes.size(), 0);
    bool any = false;
    for (const auto& c : pod.spread) {
      if (c.hard) continue;
      any = true;
      const bool per_node = c.topology_key == world_.S("kubernetes.io/hostname");
      std::set<uint32_t> domains;
      for (NodeId node : nodes) {
        if (has_keys(node)) domains.insert(Label(node, c.topology_key).value());
      }
      const double weight = std::log(static_cast<double>(domains.size() + 2));
      std::map<uint32_t, int> counts;
      for (NodeId node : t_.nodes.leaves) {
        if (!has_keys(node) || (!per_node && !Eligible(pod, c, node))) continue;
        counts[Label(node, c.topology_key).value()] += Count(task, c.selector, node);
      }
      for (size_t i = 0; i < nodes.size(); ++i) {
        raw[i] += counts[Label(nodes[i], c.topology_key).value()] * weight + (c.max_skew - 1);
      }
    }
    if (!any) return;
    int64_t low = INT64_MAX;
    int64_t high = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!has_keys(nodes[i])) continue;
      low = std::min(low, int64_t{std::llround(raw[i])});
      high = std::max(high, int64_t{std::llround(raw[i])});
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!has_keys(nodes[i])) continue;
      const int64_t score = high == 0 ? 100 : 100 * (high + low - std::llround(raw[i])) / high;
      total[i] += 2 * static_cast<double>(score);
    }
  }

  NodeWorld& world_;
  const model::Tables& t_;
};

std::unique_ptr<NodeorderPlugin> MakePlugin() {
  return std::make_unique<NodeorderPlugin>(
      framework::Arguments(apis::json::Value::MakeObject({{"imagelocality.weight", 0}})));
}

void ExpectLikePlain(NodeWorld& world, RandomPods& pods, uint64_t seed) {
  PlainScorers plain(world);
  std::vector<NodeId> nodes = pods.LiveNodes();
  for (TaskId task : pods.PendingPods()) {
    ASSERT_EQ(world.Scores(task, nodes), plain.Scores(task, nodes)) << "seed " << seed;
    const std::vector<NodeId> some(nodes.begin(), nodes.begin() + 3);
    ASSERT_EQ(world.Scores(task, some), plain.Scores(task, some)) << "seed " << seed;
  }
}

TEST(ScorerPropertyTest, IncrementalScoresEqualPlainEvaluation) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    NodeWorld world;
    RandomPods pods(world, seed);
    pods.AddNodes(8);
    for (int i = 0; i < 20; ++i) pods.AddPod();
    world.Use(MakePlugin());
    for (int cycle = 0; cycle < 5; ++cycle) {
      for (int i = 0; i < 4; ++i) {
        pods.Move();
        ASSERT_NO_FATAL_FAILURE(ExpectLikePlain(world, pods, seed));
      }
      for (int i = 0; i < 5; ++i) pods.Churn();
      world.NextCycle();
      ASSERT_NO_FATAL_FAILURE(ExpectLikePlain(world, pods, seed));
    }
    world.Use(MakePlugin());
    ASSERT_NO_FATAL_FAILURE(ExpectLikePlain(world, pods, seed));
  }
}

// Whole ranges of leaves are scored in columns, other lists node by node: to the same last digit.
TEST(ScorerPropertyTest, RangesOfLeavesScoreLikeAnyOtherList) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    NodeWorld world;
    RandomPods pods(world, seed);
    util::Random random(seed);
    pods.AddNodes(10);
    for (int i = 0; i < 40; ++i) {
      const auto shift = random.Below(40);
      world.Node("odd" + std::to_string(i), {}, [&](model::NodeSpec& spec) {
        spec.allocatable.Set(model::kCpu, static_cast<int64_t>(random.Below(100000)));
        spec.allocatable.Set(model::kMemory, static_cast<int64_t>(random.Next() >> (20 + shift)));
      });
    }
    for (int i = 0; i < 60; ++i) pods.AddPod();
    world.Use(std::make_unique<NodeorderPlugin>(
        framework::Arguments(apis::json::Value::MakeObject({{"mostrequested.weight", 1}}))));
    for (int step = 0; step < 10; ++step) {
      pods.Move();
      const absl::Span<const NodeId> leaves = world.tables().nodes.leaves;
      for (const absl::Span<const NodeId> range : {leaves, leaves.subspan(7, 31)}) {
        const std::vector<NodeId> copy(range.begin(), range.end());
        std::vector<double> columns(range.size());
        std::vector<double> one_by_one(range.size());
        for (TaskId task : pods.PendingPods()) {
          for (const auto& entry : world.session().points().scorers) {
            if (!entry.scorer->PreScore(task, copy)) continue;
            entry.scorer->Score(task, range, absl::MakeSpan(columns));
            entry.scorer->Score(task, copy, absl::MakeSpan(one_by_one));
            ASSERT_EQ(columns, one_by_one) << "seed " << seed << " " << entry.scorer->name();
          }
        }
      }
    }
  }
}

// Images are the one thing the plain reading above leaves out: a new instance must agree.
TEST(ScorerPropertyTest, ANewInstanceScoresImagesAlike) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    NodeWorld world;
    RandomPods pods(world, seed);
    pods.AddNodes(8);
    for (int i = 0; i < 10; ++i) pods.AddPod();
    const auto make = [] {
      return std::make_unique<NodeorderPlugin>(
          framework::Arguments(apis::json::Value::MakeObject({{"imagelocality.weight", 1000}})));
    };
    world.Use(make());
    for (int cycle = 0; cycle < 4; ++cycle) {
      for (int i = 0; i < 6; ++i) pods.Churn();
      world.NextCycle();
    }
    std::vector<std::vector<double>> kept;
    for (TaskId task : pods.PendingPods()) kept.push_back(world.Scores(task, pods.LiveNodes()));
    world.Use(make());
    size_t i = 0;
    for (TaskId task : pods.PendingPods()) {
      ASSERT_EQ(world.Scores(task, pods.LiveNodes()), kept[i++]) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace hekla::plugins
