#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/plugins/common/testing/node_world.h"
#include "pkg/plugins/nodeorder/nodeorder_plugin.h"

namespace hekla::plugins {
namespace {

using apis::json::Value;
using model::NodeId;
using model::PodTemplate;
using model::TaskId;
using ::testing::ElementsAre;
using Effect = model::Taint::Effect;

constexpr char kZone[] = "topology.kubernetes.io/zone";
constexpr int64_t kMi = int64_t{1} << 20;
constexpr int64_t kGi = int64_t{1} << 30;

class NodeorderTest : public ::testing::Test {
 protected:
  void Open(Value arguments) {
    world_.Use(std::make_unique<NodeorderPlugin>(framework::Arguments(std::move(arguments))));
  }
  // Only one scorer, with weight 1.
  void OpenOnly(absl::string_view key) {
    Value arguments = Value::MakeObject();
    for (const char* other :
         {"leastrequested.weight", "mostrequested.weight", "balancedresource.weight",
          "nodeaffinity.weight", "podaffinity.weight", "tainttoleration.weight",
          "imagelocality.weight", "podtopologyspread.weight"}) {
      arguments.Set(other, key == other ? 1 : 0);
    }
    Open(std::move(arguments));
  }
  NodeId Node(const std::string& name, int64_t cpu, int64_t memory,
              const plugins::testing::Pairs& labels = {}) {
    return world_.Node(name, labels, [&](model::NodeSpec& spec) {
      spec.allocatable.Set(model::kCpu, cpu);
      spec.allocatable.Set(model::kMemory, memory);
    });
  }
  std::function<void(PodTemplate&)> Request(int64_t cpu, int64_t memory) {
    return [=](PodTemplate& pod) {
      pod.request.Set(model::kCpu, cpu);
      pod.request.Set(model::kMemory, memory);
      pod.nonzero_cpu_milli = cpu;
      pod.nonzero_memory_bytes = memory;
    };
  }
  model::PodTerm Term(const plugins::testing::Pairs& labels, int32_t weight) {
    model::PodTerm term;
    term.selector = world_.Sel(labels);
    term.namespaces = {world_.S("default")};
    term.topology_key = world_.S(kZone);
    term.weight = weight;
    return term;
  }
  plugins::testing::NodeWorld world_;
};

// The clusters of spec 16.1 and 16.3; balance as recorded decisions have it: half of 150 + the
// balance with the pod - the balance without.
TEST_F(NodeorderTest, DefaultsAddUp) {
  const NodeId a = Node("a", 8000, 16 * kGi);
  const NodeId b = Node("b", 4000, 16 * kGi);
  world_.Pod({.name = "old", .node = "a", .pod = Request(2000, 4 * kGi)});
  const TaskId pod = world_.Pod({.name = "p", .pod = Request(2000, 4 * kGi)});
  Open({});
  // a: least 50 + (150 + 100 - 100) / 2 + taints 300; b: least 62 + (150 + 87 - 100) / 2 + 300.
  EXPECT_THAT(world_.Scores(pod, {a, b}), ElementsAre(425, 430));
}

// Spec 16.2: 900 of 1000 milli-cores and 800 of 1000 MiB are left.
TEST_F(NodeorderTest, ContainersWithoutRequestsCountSomething) {
  const NodeId n = Node("n", 1000, 1000 * kMi);
  const TaskId pod = world_.Pod({.name = "p"});
  OpenOnly("leastrequested.weight");
  EXPECT_THAT(world_.Scores(pod, {n}), ElementsAre(85));
  OpenOnly("mostrequested.weight");
  EXPECT_THAT(world_.Scores(pod, {n}), ElementsAre(15));
  OpenOnly("balancedresource.weight");
  EXPECT_THAT(world_.Scores(pod, {n}), ElementsAre(0));
}

// Fractions 0.5, 0.25, 1.0: balance 68 with the pod, 100 without.
TEST_F(NodeorderTest, BalanceOfThreeResources) {
  const auto gpu = const_cast<model::Dictionary&>(world_.cluster().dictionary())
                       .resources.Intern("nvidia.com/gpu");
  const NodeId n = world_.Node("n", {}, [&](auto& spec) { spec.allocatable.Set(gpu, 2000); });
  const NodeId plain = world_.Node("plain");
  const TaskId pod = world_.Pod({.name = "p", .pod = [&](PodTemplate& pod) {
                                   Request(4000, 4 * kGi)(pod);
                                   pod.request.Set(gpu, 2000);
                                 }});
  OpenOnly("balancedresource.weight");
  // Without GPUs on the node two fractions are left: |0.5 - 0.25| / 2 = 0.125, balance 87.
  EXPECT_THAT(world_.Scores(pod, {n, plain}), ElementsAre(59, 68));
}

TEST_F(NodeorderTest, MissingAndExceededCapacity) {
  const NodeId no_cpu = Node("no-cpu", 0, 8 * kGi);
  const NodeId small = Node("small", 1000, 8 * kGi);
  const NodeId nothing = Node("nothing", 0, 0);
  const TaskId pod = world_.Pod({.name = "p", .pod = Request(2000, 4 * kGi)});
  OpenOnly("leastrequested.weight");
  EXPECT_THAT(world_.Scores(pod, {no_cpu, small, nothing}), ElementsAre(50, 25, 0));
  OpenOnly("mostrequested.weight");
  EXPECT_THAT(world_.Scores(pod, {no_cpu, small, nothing}), ElementsAre(50, 75, 0));
  // 0.5 alone: 100; min(1, 2) and 0.5: 75; none: 100.
  OpenOnly("balancedresource.weight");
  EXPECT_THAT(world_.Scores(pod, {no_cpu, small, nothing}), ElementsAre(75, 62, 75));
}

// Amounts beyond the fast path give the integer quotient too.
TEST_F(NodeorderTest, HugeAmountsAreDividedExactly) {
  const int64_t huge = (int64_t{1} << 58) - 1;
  const NodeId n = Node("n", 8000, huge);
  const TaskId pod = world_.Pod({.name = "p", .pod = Request(8000, huge / 100 * 99)});
  OpenOnly("leastrequested.weight");
  // cpu 0, memory trunc(100 * (huge - huge / 100 * 99) / huge) = 1.
  EXPECT_THAT(world_.Scores(pod, {n}), ElementsAre(0));
  OpenOnly("mostrequested.weight");  // cpu 100, memory 98: 99 * trunc(huge / 100) < 0.99 * huge
  EXPECT_THAT(world_.Scores(pod, {n}), ElementsAre(99));
}

// Spec 16.4: {50, 20, 0}, twice.
TEST_F(NodeorderTest, PreferredNodeAffinityIsNormalisedToTheBest) {
  const NodeId n1 = world_.Node("n1", {{"a", "1"}, {"b", "1"}});
  const NodeId n2 = world_.Node("n2", {{"b", "1"}});
  const NodeId n3 = world_.Node("n3");
  const TaskId pod = world_.Pod({.name = "p", .pod = [&](PodTemplate& pod) {
                                   const auto has = [&](absl::string_view key) {
                                     return world_.Req(key, model::SelectorOp::kExists, {});
                                   };
                                   pod.preferred_affinity = {{{has("a")}, {}, false, 30},
                                                             {{has("b")}, {}, false, 20},
                                                             {{}, {}, false, 90}};
                                 }});
  const TaskId plain = world_.Pod({.name = "q"});
  Open(Value::MakeObject({{"leastrequested.weight", 0},
                          {"balancedresource.weight", 0},
                          {"tainttoleration.weight", 0}}));
  EXPECT_THAT(world_.Scores(pod, {n1, n2, n3}), ElementsAre(200, 80, 0));
  EXPECT_THAT(world_.Scores(plain, {n1, n2, n3}), ElementsAre(0, 0, 0));
}

// Spec 16.4: counts {0, 1, 2}, three times.
TEST_F(NodeorderTest, UntoleratedPreferencesCost) {
  std::vector<NodeId> nodes;
  for (int i = 0; i < 3; ++i) {
    nodes.push_back(world_.Node(absl::StrCat("n", i), {}, [&](model::NodeSpec& spec) {
      for (int t = 0; t < i; ++t) {
        spec.taints.push_back(world_.T(absl::StrCat("k", t), "v", Effect::kPreferNoSchedule));
      }
    }));
  }
  const TaskId pod = world_.Pod({.name = "p"});
  const TaskId tolerant = world_.Pod({.name = "q", .pod = [&](PodTemplate& pod) {
                                        model::Toleration any;
                                        any.exists = true;
                                        pod.tolerations = {any};
                                      }});
  const TaskId other_effect = world_.Pod({.name = "r", .pod = [&](PodTemplate& pod) {
                                            model::Toleration any;
                                            any.exists = true;
                                            any.effect = Effect::kNoSchedule;
                                            pod.tolerations = {any};
                                          }});
  Open(Value::MakeObject({{"leastrequested.weight", 0}, {"balancedresource.weight", 0}}));
  EXPECT_THAT(world_.Scores(pod, nodes), ElementsAre(300, 150, 0));
  EXPECT_THAT(world_.Scores(tolerant, nodes), ElementsAre(300, 300, 300));
  EXPECT_THAT(world_.Scores(other_effect, nodes), ElementsAre(300, 150, 0));
}

// Spec 16.4: raw {40, 30, 0} → {100, 75, 0}, twice; equal ones → 0.
TEST_F(NodeorderTest, PreferredPodAffinityIsSpannedBetweenItsExtremes) {
  const std::vector<NodeId> nodes = {world_.Node("n1", {{kZone, "a"}}),
                                     world_.Node("n2", {{kZone, "b"}}),
                                     world_.Node("n3", {{kZone, "c"}})};
  world_.Pod({.name = "w1", .labels = {{"app", "w"}}, .node = "n1"});
  world_.Pod({.name = "w2", .labels = {{"app", "v"}}, .node = "n2"});
  const TaskId pod = world_.Pod(
      {.name = "p", .pod = [&](PodTemplate& pod) {
         pod.preferred_pod_affinity = {Term({{"app", "w"}}, 40), Term({{"app", "v"}}, 30)};
       }});
  const TaskId repelled = world_.Pod({.name = "q", .pod = [&](PodTemplate& pod) {
                                        pod.preferred_anti_affinity = {Term({{"app", "w"}}, 40)};
                                      }});
  Open(Value::MakeObject({{"leastrequested.weight", 0},
                          {"balancedresource.weight", 0},
                          {"tainttoleration.weight", 0}}));
  EXPECT_THAT(world_.Scores(pod, nodes), ElementsAre(200, 150, 0));
  EXPECT_THAT(world_.Scores(repelled, nodes), ElementsAre(0, 200, 200));
  EXPECT_THAT(world_.Scores(pod, {nodes[0]}), ElementsAre(0));
}

TEST_F(NodeorderTest, PlacedPodsPreferencesCountForThePodTheySelect) {
  const std::vector<NodeId> nodes = {world_.Node("n1", {{kZone, "a"}}),
                                     world_.Node("n2", {{kZone, "b"}})};
  const TaskId pod = world_.Pod({.name = "p", .labels = {{"app", "p"}}});
  const TaskId fan = world_.Pod({.name = "fan", .pod = [&](PodTemplate& pod) {
                                   pod.preferred_pod_affinity = {Term({{"app", "p"}}, 7)};
                                 }});
  OpenOnly("podaffinity.weight");
  EXPECT_THAT(world_.Scores(pod, nodes), ElementsAre(0, 0));
  world_.Move(fan, model::TaskStatus::kAllocated, nodes[1]);
  EXPECT_THAT(world_.Scores(pod, nodes), ElementsAre(0, 100));
  world_.Move(fan, model::TaskStatus::kPending, NodeId());
  EXPECT_THAT(world_.Scores(pod, nodes), ElementsAre(0, 0));
}

// Spec 16.5: 500 MiB on 4 of 10 nodes: trunc(100 * (200 - 23) / (1000 - 23)) = 18.
TEST_F(NodeorderTest, ImagesCountByHowManyNodesHaveThem) {
  std::vector<NodeId> nodes;
  for (int i = 0; i < 10; ++i) {
    nodes.push_back(world_.Node(absl::StrCat("n", i), {}, [&](model::NodeSpec& spec) {
      if (i < 4) spec.images = {{world_.S("app:1"), 500 * kMi}};
    }));
  }
  const TaskId pod =
      world_.Pod({.name = "p", .pod = [&](PodTemplate& pod) { pod.images = {world_.S("app:1")}; }});
  const TaskId other = world_.Pod(
      {.name = "q", .pod = [&](PodTemplate& pod) { pod.images = {world_.S("other:1")}; }});
  OpenOnly("imagelocality.weight");
  EXPECT_THAT(world_.Scores(pod, {nodes[0], nodes[9]}), ElementsAre(18, 0));
  EXPECT_THAT(world_.Scores(other, {nodes[0], nodes[9]}), ElementsAre(0, 0));
  world_.RemoveNode("n9");  // 500 MiB * 4 / 9 = 222.2 MiB: trunc(100 * 199.2 / 977) = 20
  world_.NextCycle();
  EXPECT_THAT(world_.Scores(pod, {nodes[0], nodes[8]}), ElementsAre(20, 0));
}

// Spec 16.7: zones with 3 and 1 pods.
TEST_F(NodeorderTest, SoftSpreadPrefersTheEmptierZone) {
  const std::vector<NodeId> nodes = {world_.Node("n1", {{kZone, "z1"}}),
                                     world_.Node("n2", {{kZone, "z1"}}),
                                     world_.Node("n3", {{kZone, "z2"}}), world_.Node("n4")};
  int made = 0;
  for (const char* node : {"n1", "n1", "n2", "n3"}) {
    world_.Pod({.name = absl::StrCat("w", made++), .labels = {{"app", "w"}}, .node = node});
  }
  const TaskId pod = world_.Pod({.name = "p", .pod = [&](PodTemplate& pod) {
                                   model::SpreadConstraint c;
                                   c.topology_key = world_.S(kZone);
                                   c.hard = false;
                                   c.selector = world_.Sel({{"app", "w"}});
                                   pod.spread = {c};
                                 }});
  Open(Value::MakeObject({{"leastrequested.weight", 0},
                          {"balancedresource.weight", 0},
                          {"tainttoleration.weight", 0}}));
  EXPECT_THAT(world_.Scores(pod, nodes), ElementsAre(50, 50, 200, 0));
}

// Spec 16.7: the system's defaults, from a Service; 0 without one.
TEST_F(NodeorderTest, ServicesGiveDefaultSpreadConstraints) {
  const std::vector<NodeId> nodes = {world_.Node("n1", {{kZone, "za"}}),
                                     world_.Node("n2", {{kZone, "za"}}),
                                     world_.Node("n3", {{kZone, "zb"}})};
  int made = 0;
  for (const char* node : {"n1", "n1", "n3"}) {
    world_.Pod({.name = absl::StrCat("w", made++), .labels = {{"app", "w"}}, .node = node});
  }
  const TaskId pod = world_.Pod({.name = "p", .labels = {{"app", "w"}}});
  OpenOnly("podtopologyspread.weight");
  EXPECT_THAT(world_.Scores(pod, nodes), ElementsAre(0, 0, 0));
  model::PodOwnerSpec service;
  service.kind = model::PodOwnerSpec::Kind::kService;
  service.namespace_name = "default";
  service.name = "w";
  service.selector = world_.Sel({{"app", "w"}});
  world_.Put(service);
  world_.NextCycle();
  EXPECT_THAT(world_.Scores(pod, nodes), ElementsAre(75, 100, 100));
}

TEST_F(NodeorderTest, ControllersGiveDefaultSpreadConstraints) {
  const std::vector<NodeId> nodes = {world_.Node("n1"), world_.Node("n2")};
  world_.Pod({.name = "w", .labels = {{"app", "w"}}, .node = "n1"});
  const TaskId pod =
      world_.Pod({.name = "p", .labels = {{"app", "w"}}, .task = [&](model::TaskSpec& task) {
                    task.controller_kind = world_.S("ReplicaSet");
                    task.controller_name = world_.S("w-1");
                  }});
  model::PodOwnerSpec owner;
  owner.kind = model::PodOwnerSpec::Kind::kReplicaSet;
  owner.namespace_name = "default";
  owner.name = "w-1";
  owner.selector = world_.Sel({{"app", "w"}});
  world_.Put(owner);
  OpenOnly("podtopologyspread.weight");
  // Hostname: ln 4 * 1 + 2 → 3, and 2. No zone on any node. trunc(100 * (3 + 2 - 3) / 3) = 66.
  EXPECT_THAT(world_.Scores(pod, nodes), ElementsAre(66, 100));
}

TEST_F(NodeorderTest, NegativeWeightsSubtract) {
  const NodeId n = Node("n", 1000, 1000 * kMi);
  const TaskId pod = world_.Pod({.name = "p"});
  Open(Value::MakeObject({{"leastrequested.weight", -2}, {"tainttoleration.weight", 0}}));
  EXPECT_THAT(world_.Scores(pod, {n}), ElementsAre(-170));
}

}  // namespace
}  // namespace hekla::plugins
