#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/plugins/common/testing/node_world.h"
#include "pkg/plugins/predicates/predicates_plugin.h"

namespace hekla::plugins {
namespace {

using model::NodeId;
using model::PodTemplate;
using model::TaskId;
using model::TaskStatus;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kZone[] = "topology.kubernetes.io/zone";
constexpr char kAffinity[] = "node(s) didn't match pod affinity rules";
constexpr char kAnti[] = "node(s) didn't match pod anti-affinity rules";
constexpr char kExisting[] = "node(s) didn't satisfy existing pods anti-affinity rules";
constexpr char kSpread[] = "node(s) didn't match pod topology spread constraints";
constexpr char kNoLabel[] =
    "node(s) didn't match pod topology spread constraints (missing required label)";

class CoupledFiltersTest : public ::testing::Test {
 protected:
  void Open() {
    world_.Use(std::make_unique<PredicatesPlugin>(framework::Arguments(), framework::PluginDeps()));
  }
  model::PodTerm Term(const plugins::testing::Pairs& labels, const std::string& key,
                      const std::vector<std::string>& namespaces = {"default"}) {
    model::PodTerm term;
    term.selector = world_.Sel(labels);
    for (const std::string& name : namespaces) term.namespaces.push_back(world_.S(name));
    term.topology_key = world_.S(key);
    return term;
  }
  model::SpreadConstraint Spread(const std::string& key, const plugins::testing::Pairs& labels) {
    model::SpreadConstraint c;
    c.topology_key = world_.S(key);
    c.selector = world_.Sel(labels);
    return c;
  }
  // n1, n2 in z1; n3 in z2; n4 without a zone.
  void FourNodes() {
    n1_ = world_.Node("n1", {{kZone, "z1"}});
    n2_ = world_.Node("n2", {{kZone, "z1"}});
    n3_ = world_.Node("n3", {{kZone, "z2"}});
    n4_ = world_.Node("n4");
  }

  plugins::testing::NodeWorld world_;
  NodeId n1_, n2_, n3_, n4_;
};

// Spec 16.6.
TEST_F(CoupledFiltersTest, AntiAffinityOfPlacedPodsKeepsNewPodsAway) {
  FourNodes();
  world_.Pod({.name = "old", .node = "n1", .pod = [&](PodTemplate& pod) {
                pod.anti_affinity = {Term({{"app", "web"}}, kZone)};
              }});
  const TaskId web = world_.Pod({.name = "web", .labels = {{"app", "web"}}});
  const TaskId foreign =
      world_.Pod({.name = "web", .namespace_name = "other", .labels = {{"app", "web"}}});
  Open();
  EXPECT_THAT(world_.Verdict(web, n1_), ElementsAre(kExisting));
  EXPECT_THAT(world_.Verdict(web, n2_), ElementsAre(kExisting));
  EXPECT_THAT(world_.Verdict(web, n3_), IsEmpty());
  EXPECT_THAT(world_.Verdict(web, n4_), IsEmpty());
  EXPECT_THAT(world_.Verdict(foreign, n1_), IsEmpty());
}

// Spec 16.6: the first pod of a group that wants to be together.
TEST_F(CoupledFiltersTest, FirstPodOfASelfAffineGroupFitsWhereTheKeyIs) {
  FourNodes();
  const auto edit = [&](PodTemplate& pod) { pod.affinity = {Term({{"app", "db"}}, kZone)}; };
  const TaskId first = world_.Pod({.name = "a", .labels = {{"app", "db"}}, .pod = edit});
  const TaskId second = world_.Pod({.name = "b", .labels = {{"app", "db"}}, .pod = edit});
  const TaskId alien = world_.Pod({.name = "c", .labels = {{"app", "x"}}, .pod = edit});
  Open();
  EXPECT_THAT(world_.Verdict(first, n1_), IsEmpty());
  EXPECT_THAT(world_.Verdict(first, n4_), ElementsAre(kAffinity));
  EXPECT_THAT(world_.Verdict(alien, n1_), ElementsAre(kAffinity));
  world_.Move(first, TaskStatus::kAllocated, n3_);
  EXPECT_THAT(world_.Verdict(second, n1_), ElementsAre(kAffinity));
  EXPECT_THAT(world_.Verdict(second, n3_), IsEmpty());
  EXPECT_THAT(world_.Verdict(alien, n3_), IsEmpty());
  world_.Move(first, TaskStatus::kPending, NodeId());
  EXPECT_THAT(world_.Verdict(second, n1_), IsEmpty());
}

TEST_F(CoupledFiltersTest, AllAffinityTermsMustBeMetByTheSamePods) {
  FourNodes();
  world_.Pod({.name = "one", .labels = {{"a", "1"}}, .node = "n1"});
  world_.Pod({.name = "both", .labels = {{"a", "1"}, {"b", "2"}}, .node = "n3"});
  const TaskId pod = world_.Pod(
      {.name = "p", .pod = [&](PodTemplate& pod) {
         pod.affinity = {Term({{"a", "1"}}, kZone), Term({{"b", "2"}}, "kubernetes.io/hostname")};
       }});
  Open();
  EXPECT_THAT(world_.Verdict(pod, n1_), ElementsAre(kAffinity));
  EXPECT_THAT(world_.Verdict(pod, n3_), IsEmpty());
}

// Spec 16.20: namespace selectors.
TEST_F(CoupledFiltersTest, NamespaceSelectorsDoNotAddTheOwnersNamespace) {
  FourNodes();
  world_.Namespace("a", {});
  world_.Namespace("b", {{"team", "x"}});
  world_.Pod({.name = "t", .namespace_name = "a", .labels = {{"app", "t"}}, .node = "n1"});
  const auto with = [&](const model::Selector& namespaces) {
    return [&, namespaces](PodTemplate& pod) {
      model::PodTerm term = Term({{"app", "t"}}, kZone, {});
      term.has_namespace_selector = true;
      term.namespace_selector = namespaces;
      pod.affinity = {term};
    };
  };
  const TaskId team =
      world_.Pod({.name = "p", .namespace_name = "a", .pod = with(world_.Sel({{"team", "x"}}))});
  const TaskId every = world_.Pod({.name = "q", .namespace_name = "c", .pod = with({})});
  Open();
  EXPECT_THAT(world_.Verdict(team, n1_), ElementsAre(kAffinity));
  EXPECT_THAT(world_.Verdict(every, n1_), IsEmpty());
  world_.Namespace("a", {{"team", "x"}});
  world_.NextCycle();
  EXPECT_THAT(world_.Verdict(team, n1_), IsEmpty());
}

TEST_F(CoupledFiltersTest, TermsThatNameNoNamespaceMeanTheOwners) {
  FourNodes();
  const auto edit = [&](PodTemplate& pod) {
    pod.anti_affinity = {Term({{"app", "t"}}, kZone, {})};
  };
  world_.Pod(
      {.name = "t", .namespace_name = "a", .labels = {{"app", "t"}}, .node = "n1", .pod = edit});
  const TaskId same = world_.Pod({.name = "p", .namespace_name = "a", .pod = edit});
  const TaskId other = world_.Pod({.name = "p", .namespace_name = "b", .pod = edit});
  Open();
  EXPECT_THAT(world_.Verdict(same, n2_), ElementsAre(kAnti));
  EXPECT_THAT(world_.Verdict(other, n2_), IsEmpty());
}

// Spec 16.7: zones with 2, 1, 1 matching pods.
TEST_F(CoupledFiltersTest, SpreadComparesWithTheEmptiestDomain) {
  std::vector<NodeId> zones;
  for (const char* zone : {"z1", "z2", "z3"}) {
    zones.push_back(world_.Node(std::string("n-") + zone, {{kZone, zone}}));
  }
  const NodeId bare = world_.Node("bare");
  int made = 0;
  for (const char* node : {"n-z1", "n-z1", "n-z2", "n-z3"}) {
    world_.Pod({.name = "w" + std::to_string(made++), .labels = {{"app", "w"}}, .node = node});
  }
  const auto with = [&](int min_domains) {
    return [&, min_domains](PodTemplate& pod) {
      pod.spread = {Spread(kZone, {{"app", "w"}})};
      pod.spread[0].min_domains = min_domains;
    };
  };
  const TaskId pod = world_.Pod({.name = "p", .labels = {{"app", "w"}}, .pod = with(1)});
  const TaskId four = world_.Pod({.name = "q", .labels = {{"app", "w"}}, .pod = with(4)});
  Open();
  EXPECT_THAT(world_.Verdict(pod, zones[0]), ElementsAre(kSpread));  // 2 + 1 - 1 > 1
  EXPECT_THAT(world_.Verdict(pod, zones[1]), IsEmpty());             // 1 + 1 - 1
  EXPECT_THAT(world_.Verdict(pod, bare), ElementsAre(kNoLabel));
  for (NodeId zone : zones) {
    EXPECT_THAT(world_.Verdict(four, zone), ElementsAre(kSpread));  // 1 + 1 - 0 > 1
  }
  // The smallest count rises to 2 once every zone has two.
  world_.Pod({.name = "w8", .labels = {{"app", "w"}}, .node = "n-z2"});
  EXPECT_THAT(world_.Verdict(pod, zones[1]), ElementsAre(kSpread));
  world_.Pod({.name = "w9", .labels = {{"app", "w"}}, .node = "n-z3"});
  EXPECT_THAT(world_.Verdict(pod, zones[0]), IsEmpty());
}

// Spec 16.20: selectors that are empty or null.
TEST_F(CoupledFiltersTest, EmptyAndNullSpreadSelectorsCountNobody) {
  FourNodes();
  for (int i = 0; i < 3; ++i) world_.Pod({.name = "w" + std::to_string(i), .node = "n1"});
  const TaskId empty =
      world_.Pod({.name = "p", .pod = [&](PodTemplate& pod) { pod.spread = {Spread(kZone, {})}; }});
  const TaskId null = world_.Pod({.name = "q", .pod = [&](PodTemplate& pod) {
                                    pod.spread = {Spread(kZone, {})};
                                    pod.spread[0].selector.nothing = true;
                                  }});
  Open();
  EXPECT_THAT(world_.Verdict(empty, n1_), IsEmpty());
  EXPECT_THAT(world_.Verdict(null, n1_), IsEmpty());
}

TEST_F(CoupledFiltersTest, SpreadCountsOnlyLivingPodsOnEligibleNodes) {
  FourNodes();
  const NodeId n5 = world_.Node("n5", {{kZone, "z3"}}, [&](model::NodeSpec& spec) {
    spec.taints = {world_.T("k", "v", model::Taint::Effect::kNoSchedule)};
  });
  world_.Pod({.name = "w1", .labels = {{"app", "w"}}, .node = "n1"});
  world_.Pod(
      {.name = "w2", .labels = {{"app", "w"}}, .node = "n3", .task = [](model::TaskSpec& task) {
         task.deleting = true;
         task.status = TaskStatus::kReleasing;
       }});
  const auto with = [&](bool honor_taints) {
    return [&, honor_taints](PodTemplate& pod) {
      pod.spread = {Spread(kZone, {{"app", "w"}})};
      pod.spread[0].honor_taints = honor_taints;
      pod.spread[0].min_domains = 3;
    };
  };
  const TaskId ignoring = world_.Pod({.name = "p", .labels = {{"app", "w"}}, .pod = with(false)});
  const TaskId honoring = world_.Pod({.name = "q", .labels = {{"app", "w"}}, .pod = with(true)});
  Open();
  EXPECT_THAT(world_.Verdict(ignoring, n1_), ElementsAre(kSpread));  // z2 and z3 count 0
  EXPECT_THAT(world_.Verdict(ignoring, n3_), IsEmpty());
  EXPECT_THAT(world_.Verdict(honoring, n1_), ElementsAre(kSpread));  // two domains < three
  EXPECT_THAT(world_.Verdict(honoring, n5), ElementsAre("node(s) had untolerated taint(s)"));
}

}  // namespace
}  // namespace hekla::plugins
