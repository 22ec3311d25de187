#include "pkg/apis/ray/raycluster.h"

#include <string>

#include "gtest/gtest.h"
#include "pkg/apis/ray/go_form.h"
#include "pkg/ray/testing/cluster.h"

namespace hekla::apis::ray {
namespace {

using hekla::ray::testing::Cluster;
using hekla::ray::testing::ClusterObject;
using hekla::ray::testing::Yaml;
using json::Value;

TEST(RayVersionTest, NeedsTwoNumbersAndIgnoresTheRest) {
  EXPECT_EQ(ParseRayVersion("2.53.0rc1"), (RayVersion{2, 53, 0}));
  EXPECT_EQ(ParseRayVersion("v2.53"), (RayVersion{2, 53, 0}));
  EXPECT_EQ(ParseRayVersion("2.52.1"), (RayVersion{2, 52, 1}));
  for (const char* text : {"2", "latest", "nightly", "", "v", "2.", ".5"}) {
    EXPECT_EQ(ParseRayVersion(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseRayVersion("  2.53"), (RayVersion{2, 53, 0}));
  EXPECT_EQ(ParseRayVersion("0.9"), (RayVersion{0, 9, 0}));
  EXPECT_EQ(ParseRayVersion("02.53"), std::nullopt);
  EXPECT_LT((RayVersion{2, 9, 9}), (RayVersion{2, 52, 0}));
}

TEST(RayVersionTest, SaysWhatIsWrong) {
  EXPECT_EQ(RayVersionProblem("v-2"), "could not parse \"v-2\" as version");
  EXPECT_EQ(RayVersionProblem("2."), "illegal version string \"2.\"");
  EXPECT_EQ(RayVersionProblem("v02.53"),
            "illegal zero-prefixed version component \"02\" in \"v02.53\"");
}

TEST(RayClusterTest, WrongTypesAreNamedWithTheirPath) {
  const auto numbers = DecodeRayCluster(ClusterObject("spec: {headGroupSpec: {labels: {a: 1}}}"));
  EXPECT_EQ(numbers.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(numbers.status().message().find("spec.headGroupSpec.labels"), std::string::npos);
  EXPECT_FALSE(DecodeRayCluster(ClusterObject("spec: {suspend: 'yes'}")).ok());
  EXPECT_FALSE(DecodeRayCluster(ClusterObject("spec: {headGroupSpec: {template: []}}")).ok());
}

TEST(RayClusterTest, UnknownMembersAndMissingPartsAreNoProblem) {
  EXPECT_TRUE(DecodeRayCluster(ClusterObject("{spec: {extra: [1]}, status: {more: x}}")).ok());
  const auto empty = DecodeRayCluster(Yaml("metadata: {name: a}"));
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(RayContainer(empty->spec.head.pod_template), nullptr);
}

TEST(RayClusterTest, StatusKeepsWhatItDoesNotKnow) {
  Value object = ClusterObject(
      "status: {more: x, conditions: [{type: HeadPodReady, status: 'True', observedGeneration: "
      "3}]}");
  RayCluster cluster = *DecodeRayCluster(object);
  cluster.status.state = "ready";
  WriteRayClusterStatus(cluster.status, object);
  const Value& status = object.At("status");
  EXPECT_EQ(status.GetString("more"), "x");
  EXPECT_EQ(status.At("conditions").as_array()[0].GetInt("observedGeneration"), 3);
  EXPECT_EQ(status.GetString("desiredCPU"), "0");
  EXPECT_TRUE(status.At("head").is_object());
  EXPECT_FALSE(status.Has("readyWorkerReplicas"));
}

TEST(RayClusterTest, OnlySomePartsOfTheStatusAreWorthAWrite) {
  const RayClusterStatus before;
  RayClusterStatus after = before;
  after.observed_generation = 7;
  after.desired_cpu = meta::Quantity::FromInt(3);
  after.last_update_time = absl::UnixEpoch();
  after.state_transition_times = {{"ready", absl::UnixEpoch()}};
  EXPECT_FALSE(StatusNeedsWrite(before, after));
  after.endpoints.Set("dashboard", "8265");
  EXPECT_TRUE(StatusNeedsWrite(before, after));
}

TEST(RayClusterTest, ConditionsMoveTheirTimeOnlyWithTheirStatus) {
  std::vector<meta::Condition> conditions;
  meta::Condition c;
  c.type = "HeadPodReady";
  c.status = "False";
  c.last_transition_time = absl::FromUnixSeconds(1);
  SetCondition(conditions, c);
  c.reason = "Other";
  c.last_transition_time = absl::FromUnixSeconds(2);
  SetCondition(conditions, c);
  EXPECT_EQ(conditions.size(), 1u);
  EXPECT_EQ(conditions[0].reason, "Other");
  EXPECT_EQ(conditions[0].last_transition_time, absl::FromUnixSeconds(1));
  c.status = "True";
  SetCondition(conditions, c);
  EXPECT_EQ(conditions[0].last_transition_time, absl::FromUnixSeconds(2));
  EXPECT_TRUE(RemoveCondition(conditions, "HeadPodReady"));
  EXPECT_FALSE(RemoveCondition(conditions, "HeadPodReady"));
}

TEST(RayClusterTest, CreatorKindIsOneOfThree) {
  EXPECT_EQ(CreatorKind(Cluster()), "RayCluster");
  EXPECT_EQ(CreatorKind(Cluster("metadata: {labels: {ray.io/originated-from-crd: RayJob}}")),
            "RayJob");
  EXPECT_EQ(CreatorKind(Cluster("metadata: {labels: {ray.io/originated-from-crd: Other}}")),
            "RayCluster");
}

TEST(RayClusterTest, FaultToleranceIsOnByAnnotationOrOptions) {
  EXPECT_FALSE(GcsFaultToleranceEnabled(Cluster()));
  EXPECT_TRUE(
      GcsFaultToleranceEnabled(Cluster("metadata: {annotations: {ray.io/ft-enabled: 'TRUE'}}")));
  EXPECT_TRUE(GcsFaultToleranceEnabled(Cluster("spec: {gcsFaultToleranceOptions: {}}")));
  EXPECT_FALSE(EmbeddedGcsStorage(Cluster("spec: {gcsFaultToleranceOptions: {}}")));
}

// Worked example E23: what restarts a cluster with strategy Recreate.
TEST(UpgradeHashTest, ChangesOnlyWithWhatNeedsARestart) {
  const auto hash = [](const char* changes) {
    return UpgradeHash(ClusterObject(changes).At("spec"));
  };
  const std::string base = hash("");
  EXPECT_EQ(base.size(), 32u);
  for (const char* same :
       {"spec: {upgradeStrategy: {type: Recreate}}", "metadata: {labels: {a: b}}",
        "spec: {headGroupSpec: {template: {spec: {tolerations: [{key: a}]}}}}",
        "spec: {headGroupSpec: {template: {spec: {schedulingGates: [{name: a}]}}}}",
        "spec: {headGroupSpec: {rayStartParams: {}}}",
        "spec: {workerGroupSpecs: [{groupName: gpu, replicas: 9, minReplicas: 1, maxReplicas: 10, "
        "numOfHosts: 1, scaleStrategy: {workersToDelete: [x]}, template: {spec: {containers: "
        "[{name: ray-worker, image: ray}]}}}]}"}) {
    EXPECT_EQ(hash(same), base) << same;
  }
  for (const char* other :
       {"spec: {headGroupSpec: {template: {spec: {containers: [{name: ray-head, image: b}]}}}}",
        "spec: {suspend: false}", "spec: {headServiceAnnotations: {a: b}}",
        "spec: {rayVersion: 2.53.1}", "spec: {workerGroupSpecs: []}"}) {
    EXPECT_NE(hash(other), base) << other;
  }
}

TEST(GoFormTest, WritesEmptyPartsAndCanonicalAmounts) {
  const Value spec = GoSpec(Yaml(R"(
headGroupSpec:
  extra: dropped
  template:
    spec:
      containers:
      - {name: h, image: i, resources: {limits: {memory: 1024Mi, cpu: 1000m}}, stdin: false}
)"));
  EXPECT_EQ(GoDump(spec),
            R"({"headGroupSpec":{"template":{"metadata":{},"spec":{"containers":[{"name":"h",)"
            R"("image":"i","resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]}},)"
            R"("rayStartParams":{}}})");
}

TEST(GoFormTest, EscapesWhatGoEscapes) {
  EXPECT_EQ(GoDump(Value("<a> & \"b\"\\\n\x01\xe2\x80\xa8")),
            R"("\u003ca\u003e \u0026 \"b\"\\\n\u0001\u2028")");
}

}  // namespace
}  // namespace hekla::apis::ray
