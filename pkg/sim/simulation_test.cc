#include "pkg/sim/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/sim/result.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::sim {
namespace {

using apis::json::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using util::testing::StatusIs;

std::string Node(const std::string& name, const std::string& cpu) {
  return absl::StrCat("{apiVersion: v1, kind: Node, metadata: {name: ", name,
                      "}, status: {allocatable: {cpu: ", cpu, ", memory: 8Gi, pods: 110}}}\n---\n");
}

std::string Group(const std::string& name, int min_member, const std::string& more = "") {
  return absl::StrCat(
      "{apiVersion: scheduling.volcano.sh/v1beta1, kind: PodGroup, metadata: {name: ", name,
      ", namespace: ml}, spec: {minMember: ", min_member, more, "}}\n---\n");
}

std::string Pod(const std::string& name, const std::string& group, const std::string& cpu,
                const std::string& annotations = "", const std::string& more = "") {
  return absl::StrCat(
      "{apiVersion: v1, kind: Pod, metadata: {name: ", name, ", namespace: ml, annotations: {",
      group.empty() ? "" : absl::StrCat("scheduling.k8s.io/group-name: ", group, ", "), annotations,
      "}}, spec: {schedulerName: volcano, ", more,
      "containers: [{name: c, image: i, resources: {requests: {cpu: ", cpu, "}}}]}}\n---\n");
}

class SimulationTest : public testing::Test {
 protected:
  Value Run(const std::string& manifests, SimulationOptions options = {}) {
    auto parsed = ParseManifests(manifests, "test");
    EXPECT_THAT(parsed, util::testing::IsOk());
    SortForLoading(*parsed);
    Simulation simulation(std::move(options));
    EXPECT_THAT(simulation.Load(*parsed), util::testing::IsOk());
    EXPECT_THAT(simulation.Run(), util::testing::IsOk());
    EXPECT_TRUE(simulation.auditor().violations().empty());
    bindings_ = simulation.auditor().bindings();
    return simulation.Result({.explain = explain_});
  }
  static const Value& Find(const Value& list, const std::string& name) {
    static const Value* const none = new Value();
    for (const Value& item : list.as_array()) {
      if (item.GetString("name") == name) return item;
    }
    return *none;
  }

  bool explain_ = false;
  int64_t bindings_ = 0;
};

TEST_F(SimulationTest, GangThatFitsIsBoundWhole) {
  const Value result = Run(Node("n1", "2") + Node("n2", "2") + Group("g", 3) + Pod("a", "g", "1") +
                           Pod("b", "g", "1") + Pod("c", "g", "1"));
  EXPECT_EQ(bindings_, 3);
  ASSERT_EQ(result.At("cycles").size(), 1u);
  EXPECT_EQ(result.At("cycles").as_array()[0].At("binds").size(), 3u);
  EXPECT_EQ(result.At("stats").GetInt("placements"), 3);
  EXPECT_NE(Find(result.At("pods"), "ml/a").GetString("node"), "");
}

TEST_F(SimulationTest, GangThatDoesNotFitSaysWhy) {
  const Value result = Run(Node("n1", "1") + Node("n2", "1") + Group("g", 3) + Pod("a", "g", "1") +
                           Pod("b", "g", "1") + Pod("c", "g", "1"));
  EXPECT_EQ(bindings_, 0);
  EXPECT_EQ(result.At("cycles").size(), 0u);
  const Value& group = Find(result.At("podGroups"), "ml/g");
  EXPECT_EQ(group.GetString("phase"), "Inqueue");
  ASSERT_EQ(group.At("conditions").size(), 1u);
  const Value& condition = group.At("conditions").as_array()[0];
  EXPECT_EQ(condition.GetString("type"), "Unschedulable");
  EXPECT_EQ(condition.GetString("reason"), "NotEnoughResources");
  EXPECT_THAT(
      std::string(condition.GetString("message")),
      HasSubstr("tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable"));
  EXPECT_THAT(RenderTable(result), HasSubstr("ml/g"));
}

TEST_F(SimulationTest, EventsOfAllPodsAreTold) {
  std::string manifests = Node("n1", "8");
  for (int i = 0; i < 20; ++i) {
    manifests += Pod(absl::StrCat("fits", i), "", "100m") + Pod(absl::StrCat("big", i), "", "5000");
  }
  for (const int64_t cycles : {0, 1}) {  // until idle, or exactly one
    SimulationOptions options;
    options.cycles = cycles;
    const Value result = Run(manifests, std::move(options));
    std::map<std::string, int> reasons;
    for (const Value& event : result.At("events").as_array()) {
      if (absl::StartsWith(event.GetString("object"), "Pod ml/")) {
        ++reasons[std::string(event.GetString("reason"))];
      }
    }
    EXPECT_THAT(reasons, ElementsAre(Pair("FailedScheduling", 20), Pair("Scheduled", 20)))
        << apis::json::DumpPretty(result.At("events"));
  }
}

TEST_F(SimulationTest, PendingPodsAreExplainedWhereThatIsWanted) {
  const std::string manifests = Node("n1", "1") + Pod("a", "", "1") + Pod("b", "", "4");
  EXPECT_FALSE(Find(Run(manifests).At("pods"), "ml/b").Has("explain"));
  explain_ = true;
  const Value result = Run(manifests);
  EXPECT_FALSE(Find(result.At("pods"), "ml/a").Has("explain"));
  const Value& why = Find(result.At("pods"), "ml/b").At("explain");
  EXPECT_EQ(why.GetString("kind"), "Pod");
  EXPECT_EQ(why.GetString("cause"), "ClusterOvercommitted");
  EXPECT_THAT(RenderTable(result), HasSubstr("ml/b              ClusterOvercommitted"));
}

TEST_F(SimulationTest, PodsRunAndEndWithTheKubelet) {
  SimulationOptions options;
  options.kubelet = true;
  // Two pods of 60 s share one slot: the second runs when the first has ended.
  const Value result =
      Run(Node("n1", "1") +
              Pod("a", "", "1", "hekla.dev/run-seconds: \"60\"", "restartPolicy: Never, ") +
              Pod("b", "", "1", "hekla.dev/run-seconds: \"60\"", "restartPolicy: Never, "),
          options);
  EXPECT_EQ(bindings_, 2);
  EXPECT_EQ(result.At("finished").size(), 2u);
  EXPECT_EQ(Find(result.At("pods"), "ml/a").GetString("phase"), "Succeeded");
  EXPECT_EQ(Find(result.At("pods"), "ml/b").GetString("phase"), "Succeeded");
}

TEST_F(SimulationTest, ManifestsDescribeAState) {
  // The running pod holds its node: only one more fits.
  const Value result =
      Run(Node("n1", "2") +
          "{apiVersion: v1, kind: Pod, metadata: {name: old, namespace: ml}, spec: {nodeName: n1, "
          "containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}, status: {phase: "
          "Running}}\n---\n" +
          Pod("a", "", "1") + Pod("b", "", "1"));
  EXPECT_EQ(bindings_, 1);
  EXPECT_EQ(Find(result.At("pods"), "ml/old").GetString("phase"), "Running");
}

TEST_F(SimulationTest, SameInputsAndSeedGiveTheSameBytes) {
  std::string manifests;
  for (int i = 0; i < 6; ++i) manifests += Node(absl::StrCat("n", i), "4");
  for (int i = 0; i < 20; ++i) manifests += Pod(absl::StrCat("p", i), "", "1");
  EXPECT_EQ(apis::json::Dump(Run(manifests)), apis::json::Dump(Run(manifests)));
}

TEST_F(SimulationTest, CyclesAreExactlyThoseAskedFor) {
  SimulationOptions options;
  options.cycles = 4;
  const Value result = Run(Node("n1", "1") + Pod("a", "", "1"), options);
  EXPECT_EQ(result.At("stats").GetInt("cycles"), 4);
}

TEST_F(SimulationTest, TracePodsArriveAtTheirTime) {
  SimulationOptions options;
  options.kubelet = true;
  options.trace_nodes = {{.name = "n1", .cpu_milli = 1000, .memory_mib = 1024, .gpus = 1}};
  options.trace_pods = {{.name = "a",
                         .cpu_milli = 1000,
                         .memory_mib = 1,
                         .num_gpu = 1,
                         .gpu_milli = 500,
                         .creation_second = 10,
                         .run_seconds = 100},
                        {.name = "b",
                         .cpu_milli = 1000,
                         .memory_mib = 1,
                         .num_gpu = 1,
                         .gpu_milli = 500,
                         .creation_second = 20,
                         .run_seconds = 5},
                        {.name = "big",
                         .cpu_milli = 1,
                         .memory_mib = 1,
                         .num_gpu = 2,
                         .gpu_milli = 1000,
                         .creation_second = 30}};
  const Value result = Run("", options);
  EXPECT_EQ(bindings_, 2);
  ASSERT_EQ(result.At("finished").size(), 2u);
  // a runs from 10 s to 110 s; b gets its place then and ends at 115 s.
  EXPECT_THAT(std::string(result.At("finished").as_array()[1].GetString("time")),
              HasSubstr("01:01:55"));
  EXPECT_THAT(std::string(Find(result.At("pods"), "default/big").GetString("message")),
              HasSubstr("not admitted to queue \"default\" yet"));
}

TEST(SimulationInputTest, BadManifestsAndConfigurationsRunNothing) {
  Simulation bad_object{SimulationOptions{}};
  auto manifests = ParseManifests(
      "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: 7}}", "f.yaml");
  HEKLA_ASSERT_OK(manifests);
  EXPECT_THAT(bad_object.Load(*manifests),
              StatusIs(absl::StatusCode::kInvalidArgument, "f.yaml: document 1: "));
  SimulationOptions options;
  options.scheduler_conf = "actions: \"enqueue, allocat\"\n";
  options.scheduler_conf_name = "conf.yaml";
  Simulation bad_conf(options);
  EXPECT_THAT(bad_conf.Load({}), StatusIs(absl::StatusCode::kInvalidArgument, "conf.yaml:1"));
}

TEST(SimulationResultTest, MetricValuesAreFoundByTheirWholeSample) {
  const std::string text = "a{q=\"x\"} 2.5\nb_a{q=\"x\"} 7\na{q=\"xy\"} 3\n";
  EXPECT_EQ(MetricValue(text, "a{q=\"x\"}"), 2.5);
  EXPECT_EQ(MetricValue(text, "a{q=\"xy\"}"), 3);
  EXPECT_EQ(MetricValue(text, "c"), 0);
}

}  // namespace
}  // namespace hekla::sim
