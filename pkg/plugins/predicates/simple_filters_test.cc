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
using model::SelectorOp;
using model::TaskId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Effect = model::Taint::Effect;

constexpr char kAffinity[] = "node(s) didn't match Pod's node affinity/selector";
constexpr char kTainted[] = "node(s) had untolerated taint(s)";
constexpr char kPorts[] = "node(s) didn't have free ports for the requested pod ports";

class SimpleFiltersTest : public ::testing::Test {
 protected:
  void Open(apis::json::Value arguments = {}) {
    world_.Use(std::make_unique<PredicatesPlugin>(framework::Arguments(std::move(arguments)),
                                                  framework::PluginDeps()));
  }
  TaskId Pod(std::function<void(PodTemplate&)> edit) {
    return world_.Pod({.name = "p" + std::to_string(++pods_), .pod = std::move(edit)});
  }
  model::HostPort Port(absl::string_view ip, absl::string_view protocol, int port) {
    return {world_.S(ip), world_.S(protocol), port};
  }

  plugins::testing::NodeWorld world_;
  int pods_ = 0;
};

TEST_F(SimpleFiltersTest, UnschedulableNodesTakeOnlyPodsThatTolerateTheirTaint) {
  const NodeId closed = world_.Node("n1", {}, [](auto& n) { n.unschedulable = true; });
  const TaskId plain = Pod([](PodTemplate&) {});
  const TaskId tolerant = Pod([&](PodTemplate& pod) {
    model::Toleration t;
    t.key = world_.S("node.kubernetes.io/unschedulable");
    t.exists = true;
    pod.tolerations = {t};
  });
  Open();
  EXPECT_THAT(world_.Verdict(plain, closed), ElementsAre("node(s) were unschedulable"));
  EXPECT_THAT(world_.Verdict(tolerant, closed), IsEmpty());
}

// Spec 16.20: tolerations.
TEST_F(SimpleFiltersTest, TolerationsMatchByKeyOperatorAndEffect) {
  const NodeId no_execute =
      world_.Node("n1", {}, [&](auto& n) { n.taints = {world_.T("k", "v", Effect::kNoExecute)}; });
  const NodeId no_schedule =
      world_.Node("n2", {}, [&](auto& n) { n.taints = {world_.T("k", "v", Effect::kNoSchedule)}; });
  const NodeId preferred = world_.Node(
      "n3", {}, [&](auto& n) { n.taints = {world_.T("k", "v", Effect::kPreferNoSchedule)}; });
  const auto with = [&](model::Toleration t) {
    return Pod([=](PodTemplate& pod) { pod.tolerations = {t}; });
  };
  model::Toleration exists_key;
  exists_key.key = world_.S("k");
  exists_key.exists = true;
  model::Toleration everything;
  everything.exists = true;
  model::Toleration empty_value;
  empty_value.key = world_.S("k");
  empty_value.value = world_.S("");
  const TaskId a = with(exists_key);
  const TaskId b = with(everything);
  const TaskId c = with(empty_value);
  const TaskId none = Pod([](PodTemplate&) {});
  Open();
  EXPECT_THAT(world_.Verdict(a, no_execute), IsEmpty());
  EXPECT_THAT(world_.Verdict(b, no_execute), IsEmpty());
  EXPECT_THAT(world_.Verdict(b, no_schedule), IsEmpty());
  EXPECT_THAT(world_.Verdict(c, no_schedule), ElementsAre(kTainted));
  EXPECT_THAT(world_.Verdict(none, no_execute), ElementsAre(kTainted));
  EXPECT_THAT(world_.Verdict(none, preferred), IsEmpty());
}

// Spec 16.20: NotIn on a missing label, Gt on numbers and text, an empty term.
TEST_F(SimpleFiltersTest, NodeAffinityOperators) {
  const NodeId bare = world_.Node("n1");
  const NodeId eight = world_.Node("n2", {{"cores", "8"}, {"zone", "a"}});
  const NodeId nine = world_.Node("n3", {{"cores", "9"}, {"zone", "b"}});
  const NodeId text = world_.Node("n4", {{"cores", "x"}, {"zone", "c"}});
  const auto with = [&](model::Requirement r) {
    return Pod([=](PodTemplate& pod) {
      pod.has_required_affinity = true;
      pod.required_affinity = {{{r}, {}, false, 0}};
    });
  };
  const TaskId not_a = with(world_.Req("zone", SelectorOp::kNotIn, {"a"}));
  const TaskId above = with(world_.Req("cores", SelectorOp::kGt, {}, 8));
  const TaskId below = with(world_.Req("cores", SelectorOp::kLt, {}, 9));
  const TaskId has = with(world_.Req("cores", SelectorOp::kExists, {}));
  const TaskId has_not = with(world_.Req("cores", SelectorOp::kDoesNotExist, {}));
  const TaskId empty_term = Pod([](PodTemplate& pod) {
    pod.has_required_affinity = true;
    pod.required_affinity = {{}};
  });
  Open();
  EXPECT_THAT(world_.Verdict(not_a, bare), IsEmpty());
  EXPECT_THAT(world_.Verdict(not_a, eight), ElementsAre(kAffinity));
  EXPECT_THAT(world_.Verdict(above, eight), ElementsAre(kAffinity));
  EXPECT_THAT(world_.Verdict(above, nine), IsEmpty());
  EXPECT_THAT(world_.Verdict(above, text), ElementsAre(kAffinity));
  EXPECT_THAT(world_.Verdict(above, bare), ElementsAre(kAffinity));
  EXPECT_THAT(world_.Verdict(below, eight), IsEmpty());
  EXPECT_THAT(world_.Verdict(below, nine), ElementsAre(kAffinity));
  EXPECT_THAT(world_.Verdict(has, text), IsEmpty());
  EXPECT_THAT(world_.Verdict(has, bare), ElementsAre(kAffinity));
  EXPECT_THAT(world_.Verdict(has_not, bare), IsEmpty());
  EXPECT_THAT(world_.Verdict(empty_term, bare), ElementsAre(kAffinity));
}

TEST_F(SimpleFiltersTest, NodeNamesInTermsMustNotContradictEachOther) {
  const NodeId n1 = world_.Node("n1");
  const NodeId n2 = world_.Node("n2");
  const auto name = [&](absl::string_view value) {
    return world_.Req("metadata.name", SelectorOp::kIn, {std::string(value)});
  };
  const TaskId one = Pod([&](PodTemplate& pod) {
    pod.has_required_affinity = true;
    pod.required_affinity = {{{}, {name("n2")}, false, 0}};
  });
  const TaskId conflict = Pod([&](PodTemplate& pod) {
    pod.has_required_affinity = true;
    pod.required_affinity = {{{}, {name("n1"), name("n2")}, false, 0}};
  });
  Open();
  EXPECT_THAT(world_.Verdict(one, n1), ElementsAre(kAffinity));
  EXPECT_THAT(world_.Verdict(one, n2), IsEmpty());
  EXPECT_THAT(world_.Verdict(conflict, n1),
              ElementsAre("plugin NodeAffinity pre-predicates failed pod affinity terms conflict"));
}

TEST_F(SimpleFiltersTest, SelectorAndAffinityMustBothHoldAndTermsAreAlternatives) {
  const NodeId both = world_.Node("n1", {{"disk", "ssd"}, {"zone", "b"}});
  const NodeId zone_only = world_.Node("n2", {{"zone", "a"}});
  const TaskId pod = Pod([&](PodTemplate& pod) {
    pod.node_selector = world_.L({{"disk", "ssd"}});
    pod.has_required_affinity = true;
    pod.required_affinity = {{{world_.Req("zone", SelectorOp::kIn, {"a"})}, {}, false, 0},
                             {{world_.Req("zone", SelectorOp::kIn, {"b", "c"})}, {}, false, 0}};
  });
  Open();
  EXPECT_THAT(world_.Verdict(pod, both), IsEmpty());
  EXPECT_THAT(world_.Verdict(pod, zone_only), ElementsAre(kAffinity));
}

// Spec 16.20: addresses and protocols of host ports.
TEST_F(SimpleFiltersTest, HostPortsConflictOnTheSameAddressAndProtocol) {
  const NodeId n = world_.Node("n");
  const TaskId user =
      world_.Pod({.name = "user", .node = "n", .pod = [&](PodTemplate& pod) {
                    pod.host_ports = {Port("10.0.0.2", "TCP", 8080), Port("0.0.0.0", "TCP", 9090)};
                  }});
  const auto with = [&](model::HostPort port) {
    return Pod([=](PodTemplate& pod) { pod.host_ports = {port}; });
  };
  const TaskId other_address = with(Port("10.0.0.1", "TCP", 8080));
  const TaskId same_address = with(Port("10.0.0.2", "TCP", 8080));
  const TaskId any_address = with(Port("0.0.0.0", "TCP", 8080));
  const TaskId under_any = with(Port("10.0.0.1", "TCP", 9090));
  const TaskId other_protocol = with(Port("10.0.0.1", "UDP", 9090));
  Open();
  EXPECT_THAT(world_.Verdict(other_address, n), IsEmpty());
  EXPECT_THAT(world_.Verdict(same_address, n), ElementsAre(kPorts));
  EXPECT_THAT(world_.Verdict(any_address, n), ElementsAre(kPorts));
  EXPECT_THAT(world_.Verdict(under_any, n), ElementsAre(kPorts));
  EXPECT_THAT(world_.Verdict(other_protocol, n), IsEmpty());
  world_.Move(user, model::TaskStatus::kPending, NodeId());
  EXPECT_THAT(world_.Verdict(same_address, n), IsEmpty());
  world_.Move(other_address, model::TaskStatus::kAllocated, n);
  EXPECT_THAT(world_.Verdict(any_address, n), ElementsAre(kPorts));
}

// Spec 16.20, last two rows.
TEST_F(SimpleFiltersTest, RefusalsThatEvictionCouldCureAreCollected) {
  const auto one_pod = [](model::NodeSpec& n) { n.allocatable.Set(model::kPods, 1); };
  const NodeId n = world_.Node("n", {}, one_pod);
  const NodeId closed = world_.Node("closed", {}, [&](model::NodeSpec& spec) {
    one_pod(spec);
    spec.unschedulable = true;
  });
  model::PodTerm apart;
  apart.selector = world_.Sel({{"app", "web"}});
  apart.namespaces = {world_.S("default")};
  apart.topology_key = world_.S("kubernetes.io/hostname");
  const auto edit = [&](PodTemplate& pod) {
    pod.host_ports = {Port("0.0.0.0", "TCP", 80)};
    pod.anti_affinity = {apart};
  };
  world_.Pod({.name = "a", .labels = {{"app", "web"}}, .node = "n", .pod = edit});
  world_.Pod({.name = "b", .labels = {{"app", "web"}}, .node = "closed", .pod = edit});
  const TaskId pod = world_.Pod({.name = "c", .labels = {{"app", "web"}}, .pod = edit});
  Open();
  EXPECT_THAT(world_.Verdict(pod, n), ElementsAre("node(s) pod number exceeded", kPorts,
                                                  "node(s) didn't match pod anti-affinity rules"));
  EXPECT_THAT(world_.Verdict(pod, closed),
              ElementsAre("node(s) pod number exceeded", "node(s) were unschedulable"));
}

TEST_F(SimpleFiltersTest, SwitchesTurnFiltersOff) {
  const NodeId n = world_.Node("n", {}, [&](model::NodeSpec& spec) {
    spec.taints = {world_.T("k", "v", Effect::kNoSchedule)};
  });
  world_.Pod({.name = "user", .node = "n", .pod = [&](PodTemplate& pod) {
                pod.host_ports = {Port("0.0.0.0", "TCP", 80)};
              }});
  const TaskId pod = Pod([&](PodTemplate& pod) {
    pod.node_selector = world_.L({{"disk", "ssd"}});
    pod.host_ports = {Port("0.0.0.0", "TCP", 80)};
    pod.has_resource_claims = true;
  });
  Open(apis::json::Value::MakeObject({{"predicate.NodeAffinityEnable", false},
                                      {"predicate.TaintTolerationEnable", "F"},
                                      {"predicate.NodePortsEnable", false},
                                      {"predicate.DynamicResourceAllocationEnable", false}}));
  EXPECT_THAT(world_.Verdict(pod, n), IsEmpty());
  Open();
  EXPECT_THAT(world_.Verdict(pod, n),
              ElementsAre("plugin DynamicResources pre-predicates failed resource claims are not "
                          "supported yet"));
}

TEST_F(SimpleFiltersTest, AnswersFollowNodesThatChange) {
  const NodeId n = world_.Node("n", {{"disk", "hdd"}});
  const TaskId pod = Pod([&](PodTemplate& pod) {
    pod.node_selector = world_.L({{"disk", "ssd"}});
  });
  Open();
  EXPECT_THAT(world_.Verdict(pod, n), ElementsAre(kAffinity));
  world_.Node("n", {{"disk", "ssd"}});
  world_.NextCycle();
  EXPECT_THAT(world_.Verdict(pod, n), IsEmpty());
  world_.Node("n", {{"disk", "ssd"}},
              [&](auto& spec) { spec.taints = {world_.T("k", "", Effect::kNoSchedule)}; });
  world_.NextCycle();
  EXPECT_THAT(world_.Verdict(pod, n), ElementsAre(kTainted));
}

}  // namespace
}  // namespace hekla::plugins
