#include "pkg/framework/node_search.h"

#include <algorithm>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "pkg/framework/max_tree.h"
#include "pkg/framework/node_scan.h"
#include "pkg/framework/testing/session_world.h"
#include "pkg/plugins/registry.h"
#include "pkg/util/random.h"

namespace hekla::framework {
namespace {

using model::NodeId;
using model::PodTemplate;
using model::TaskId;
using model::TaskStatus;
using testing::SessionWorld;

TEST(MaxTreeTest, AgreesWithALookAtEveryValue) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    util::Random random(seed);
    const size_t n = 1 + random.Below(200);
    std::vector<double> values(n, MaxTree::kAbsent);
    MaxTree tree;
    tree.Assign(values);
    for (int step = 0; step < 100; ++step) {
      const size_t at = random.Below(n);
      values[at] = random.Below(4) == 0 ? MaxTree::kAbsent : static_cast<double>(random.Below(5));
      tree.Set(at, values[at]);
      const bool whole = random.Below(2) == 0;
      const size_t begin = whole ? 0 : random.Below(n);
      const size_t end = whole ? n : begin + random.Below(n - begin + 1);
      std::vector<size_t> best;
      for (size_t i = begin; i < end; ++i) {
        if (values[i] == MaxTree::kAbsent) continue;
        if (!best.empty() && values[i] > values[best[0]]) best.clear();
        if (best.empty() || values[i] == values[best[0]]) best.push_back(i);
      }
      const MaxTree::Top top = tree.TopOf(begin, end);
      ASSERT_EQ(top.count, best.size());
      if (best.empty()) continue;
      ASSERT_EQ(top.value, values[best[0]]);
      const uint64_t k = random.Below(best.size());
      ASSERT_EQ(tree.Find(begin, end, top.value, k), best[k]);
    }
  }
}

// A random cluster with the node-level plugins, and pods of a few kinds that use all of them.
class RandomWorld : public SessionWorld {
 public:
  // `alike`: more nodes, of few shapes, and mostly plain pods, so that nodes share rows.
  explicit RandomWorld(uint64_t seed, bool alike = false) : random(seed), alike_(alike) {
    for (const char* name : {"predicates", "nodeorder", "binpack"}) {
      if (name == std::string("binpack") && random.Below(2) == 0) continue;
      for (const PluginEntry& entry : plugins::AllPlugins()) {
        if (entry.name != name) continue;
        PluginOption option;
        option.name = name;
        PluginDeps deps;
        deps.clock = &clock;
        AddPlugin(name, entry.make(option, deps), option);
      }
    }
    world.AddQueue("default");
    world.AddJob("pg", 1);
    const int nodes = (alike ? 40 : 3) + static_cast<int>(random.Below(alike ? 80 : 40));
    for (int i = 0; i < nodes; ++i) AddRandomNode(i);
    for (int i = 0; i < (alike ? 16 : 6); ++i) kinds.push_back(RandomKind());
  }

  void AddRandomNode(int i) {
    auto spec = std::make_shared<model::NodeSpec>();
    const NodeId id = world.AddNode(
        {.name = "n" + std::to_string(i),
         .cpu = 1000 * static_cast<int64_t>(alike_ ? 2 + random.Below(2) : 1 + random.Below(8)),
         .memory = int64_t{1} << (alike_ ? 31 : 30 + random.Below(3)),
         .pods = static_cast<int64_t>(alike_ ? 5 : 1 + random.Below(8)),
         .labels = {{"disk", random.Below(2) == 0 ? "ssd" : "hdd"},
                    {"topology.kubernetes.io/zone", "z" + std::to_string(random.Below(3))}}});
    *spec = *world.tables().nodes.spec[id];
    spec->unschedulable = random.Below(10) == 0;
    if (alike_ && random.Below(8) == 0) spec->images = {{world.Sym("image"), int64_t{1} << 30}};
    const auto effect = alike_ || random.Below(2) == 0 ? model::Taint::Effect::kNoSchedule
                                                       : model::Taint::Effect::kPreferNoSchedule;
    if (random.Below(3) == 0) spec->taints = {{world.Sym("t"), world.Sym("v"), effect}};
    world.cluster().Apply(model::Upsert<model::NodeSpec>{spec});
  }

  PodTemplate RandomKind() {
    auto made = world.MakePod({.name = "x",
                               .cpu = 250 * static_cast<int64_t>(random.Below(5)),
                               .memory = static_cast<int64_t>(random.Below(3)) << 28});
    PodTemplate pod = *made->pod;
    if (alike_ && random.Below(4) != 0) {
      if (random.Below(3) == 0) pod.node_selector = {{world.Sym("disk"), world.Sym("ssd")}};
      if (random.Below(3) == 0) pod.images = {world.Sym("image")};
      return pod;
    }
    const auto in = [&](const char* key, const char* value) {
      return model::Requirement{world.Sym(key), model::SelectorOp::kIn, {world.Sym(value)}, 0};
    };
    if (random.Below(4) == 0) pod.node_selector = {{world.Sym("disk"), world.Sym("ssd")}};
    if (random.Below(3) == 0) {
      model::NodeTerm term;
      term.expressions = {in("disk", "hdd")};
      term.weight = 10;
      pod.preferred_affinity = {term};
    }
    if (random.Below(3) == 0) pod.tolerations = {{world.Sym("t"), {}, true, false, std::nullopt}};
    if (random.Below(4) == 0) {
      pod.host_ports = {{world.Sym("0.0.0.0"), world.Sym("TCP"), 80}};
    }
    const char* topology =
        random.Below(2) == 0 ? "topology.kubernetes.io/zone" : "kubernetes.io/hostname";
    model::PodTerm term;
    term.selector.requirements = {in("app", random.Below(2) == 0 ? "a" : "b")};
    term.namespaces = {world.Sym("ns")};
    term.topology_key = world.Sym(topology);
    term.weight = 5;
    switch (random.Below(7)) {
      case 0:
        pod.anti_affinity = {term};
        break;
      case 1:
        pod.affinity = {term};
        break;
      case 2:
        pod.preferred_anti_affinity = {term};
        break;
      case 3: {
        model::SpreadConstraint spread;
        spread.topology_key = world.Sym(topology);
        spread.hard = random.Below(2) == 0;
        spread.selector.requirements = {in("app", "a")};
        pod.spread = {spread};
        break;
      }
      default:
        break;
    }
    return pod;
  }

  TaskId AddRandomPod() {
    auto spec = world.MakePod({.name = "p" + std::to_string(next_++),
                               .job = "pg",
                               .labels = {{"app", random.Below(2) == 0 ? "a" : "b"}}});
    auto pod = std::make_shared<PodTemplate>(kinds[random.Below(kinds.size())]);
    if (alike_ && random.Below(2) == 0) {  // a class of its own
      pod->request.Add(model::kCpu, static_cast<int64_t>(random.Below(100)));
      pod->nonzero_cpu_milli = pod->request[model::kCpu];
    }
    spec->pod = pod;
    return world.Apply(spec);
  }

  util::Random random;
  std::vector<PodTemplate> kinds;

 private:
  bool alike_;
  int next_ = 0;
};

void ExpectSameAsScan(RandomWorld& w, Session& session, TaskId task, SearchResult* out) {
  NodeSet set;
  if (w.random.Below(6) == 0) {
    set.begin = static_cast<uint32_t>(w.random.Below(w.world.tables().nodes.live_count()));
    set.end = set.begin + static_cast<uint32_t>(w.random.Below(20));
  }
  SearchOptions options;
  options.check_resources = w.random.Below(8) != 0;
  const SearchResult found = session.search().Best(task, set, options);
  NodeScan plain(w.world.cluster());
  plain.Attach(session.points(), w.reasons);
  SearchResult expected;
  if (plain.Prepare(task, &expected.pre_filter)) expected = plain.Best(task, set, options);
  EXPECT_EQ(found.node.value(), expected.node.value());
  EXPECT_EQ(found.room, expected.room);
  EXPECT_EQ(found.pre_filter.valid(), expected.pre_filter.valid());
  if (!found.node.valid()) {
    FitErrors kept, fresh;
    session.search().Explain(task, NodeSet(), options, kept);
    if (plain.Prepare(task, &expected.pre_filter)) {
      plain.Explain(task, NodeSet(), options, fresh);
      EXPECT_EQ(Render(kept, w.reasons), Render(fresh, w.reasons));
    }
  }
  *out = options.check_resources ? found : SearchResult();
}

// Every answer against a plain scan, over placements, undo, and changes between sessions.
void ExpectAnswersOfAPlainScan(bool alike) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    RandomWorld w(seed, alike);
    std::vector<TaskId> placed;
    for (int cycle = 0; cycle < 4; ++cycle) {
      std::vector<TaskId> pods;
      for (int i = 0; i < 25; ++i) pods.push_back(w.AddRandomPod());
      w.Cycle([&](Session& session) {
        Statement statement(session);
        for (TaskId task : pods) {
          SearchResult found;
          ExpectSameAsScan(w, session, task, &found);
          if (!found.node.valid()) continue;
          if (found.room == Room::kIdle) {
            statement.Allocate(task, found.node);
          } else {
            statement.Pipeline(task, found.node, false);
          }
          if (w.random.Below(5) == 0) {
            statement.Undo(task);
          } else if (w.random.Below(8) == 0) {
            statement.Discard();
          }
        }
        statement.Commit();
      });
      if (::testing::Test::HasFailure()) {
        FAIL() << "seed " << seed << " cycle " << cycle;
      }
      for (TaskId task : pods) {
        if (w.world.StatusOf(task) == TaskStatus::kBinding) placed.push_back(task);
      }
      for (int i = 0; i < 6 && !placed.empty(); ++i) {
        const size_t at = w.random.Below(placed.size());
        if (w.random.Below(2) == 0) {
          w.world.RemovePod(placed[at]);
        } else {
          const auto& nodes = w.world.tables().nodes;
          const NodeId node = w.world.tables().tasks.node[placed[at]];
          const std::string name(w.world.dictionary().symbols.Text(nodes.name[node]));
          w.world.Update(placed[at], TaskStatus::kReleasing, name, true);
        }
        placed.erase(placed.begin() + static_cast<int64_t>(at));
      }
      if (w.random.Below(2) == 0) w.AddRandomNode(static_cast<int>(w.random.Below(45)));
    }
    w.world.cluster().CheckConsistency();
  }
}

TEST(NodeSearchPropertyTest, KeptAnswersEqualAPlainScan) { ExpectAnswersOfAPlainScan(false); }

TEST(NodeSearchPropertyTest, RowsOfEqualNodesEqualAPlainScan) { ExpectAnswersOfAPlainScan(true); }

TEST(NodeSearchTest, ATinyBudgetChangesNoAnswer) {
  RandomWorld w(7);
  w.search.reset();
  w.search = std::make_unique<NodeSearch>(w.world.cluster(), 100);
  w.Cycle([&](Session& session) {
    Statement statement(session);
    for (int i = 0; i < 60; ++i) {
      SearchResult found;
      const TaskId task = w.AddRandomPod();
      ExpectSameAsScan(w, session, task, &found);
      if (found.room == Room::kIdle) statement.Allocate(task, found.node);
    }
    statement.Commit();
  });
}

}  // namespace
}  // namespace hekla::framework
