#include "pkg/ray/builders/resources.h"

#include <string>

#include "gtest/gtest.h"
#include "pkg/ray/testing/cluster.h"

namespace hekla::ray::builders {
namespace {

using apis::ray::RayCluster;
using testing::Cluster;

// Worked example E9.
constexpr char kFourGroups[] = R"(
spec:
  headGroupSpec:
    template:
      spec:
        containers:
        - {name: h, resources: {requests: {cpu: 1}, limits: {cpu: 2, memory: 4Gi}}}
  workerGroupSpecs:
  - groupName: a
    replicas: 7
    minReplicas: 1
    maxReplicas: 5
    numOfHosts: 1
    template: &worker
      spec:
        containers: [{name: r, resources: {requests: {cpu: 2}, limits: {memory: 8Gi}}}]
  - {groupName: b, replicas: 0, minReplicas: 2, maxReplicas: 4, numOfHosts: 2, template: *worker}
  - {groupName: c, replicas: 3, minReplicas: 1, maxReplicas: 3, numOfHosts: 1, suspend: true,
     template: *worker}
  - {groupName: d, replicas: 1, minReplicas: 0, maxReplicas: 2147483647, numOfHosts: 4,
     template: *worker}
)";

TEST(ResourcesTest, CountsAreClampedPerGroup) {
  const RayCluster cluster = Cluster(kFourGroups);
  const auto& groups = cluster.spec.worker_groups;
  EXPECT_EQ(DesiredWorkers(groups[0]), 5);
  EXPECT_EQ(DesiredWorkers(groups[1]), 4);
  EXPECT_EQ(DesiredWorkers(groups[2]), 0);
  EXPECT_EQ(DesiredWorkers(groups[3]), 4);
  EXPECT_EQ(MaxWorkers(groups[3]), 8589934588);
  EXPECT_EQ(DesiredWorkerReplicas(cluster), 13);
  EXPECT_EQ(MinWorkerReplicas(cluster), 5);
  EXPECT_EQ(MaxWorkerReplicas(cluster), 2147483647);
}

// Quirk: 7·1 + 0·2 + 1·4 = 11 workers, although 13 shall run.
TEST(ResourcesTest, QuirkAmountsUseReplicasAsWritten) {
  apis::ray::RayClusterStatus status;
  FillDesired(Cluster(kFourGroups), status);
  EXPECT_EQ(status.desired_cpu.ToString(), "23");       // 1 + 11·2
  EXPECT_EQ(status.desired_memory.ToString(), "92Gi");  // 4 + 11·8
  EXPECT_EQ(status.desired_gpu.ToString(), "0");
  EXPECT_EQ(status.desired_worker_replicas, 13);
}

TEST(ResourcesTest, MissingReplicasAreTheMinimum) {
  apis::ray::WorkerGroupSpec group;
  group.num_of_hosts = 1;
  group.min_replicas = 2;
  EXPECT_EQ(DesiredWorkers(group), 2);
  group.min_replicas.reset();
  EXPECT_EQ(DesiredWorkers(group), 0);
  // The minimum is looked at first.
  group.min_replicas = 5;
  group.max_replicas = 3;
  group.replicas = 4;
  EXPECT_EQ(DesiredWorkers(group), 5);
  // Quirk: a group stored before there were hosts has none.
  group.num_of_hosts = 0;
  EXPECT_EQ(DesiredWorkers(group), 0);
}

// Worked example E11.
TEST(ResourcesTest, AllKindsOfGpusAreSummed) {
  apis::ray::RayClusterStatus status;
  FillDesired(Cluster(R"(
spec:
  workerGroupSpecs:
  - groupName: g
    replicas: 3
    numOfHosts: 1
    template: {spec: {containers: [{name: r, resources: {limits: {
        nvidia.com/gpu: 2, nvidia.com/mig-1g.10gb: 1}}}]}}
)"),
              status);
  EXPECT_EQ(status.desired_gpu.ToString(), "9");
  EXPECT_EQ(status.desired_tpu.ToString(), "0");
}

TEST(ResourcesTest, SumsKeepTheSuffixOfTheFirstAmount) {
  const auto memory = [](const std::string& head, const std::string& workers) {
    return DesiredResources(Cluster("spec: {headGroupSpec: {template: {spec: {containers: [{name: "
                                    "h, resources: {limits: {memory: " +
                                    head + "}}}]}}}, workerGroupSpecs: " + workers + "}"))
        .Get("memory")
        .ToString();
  };
  const auto group = [](const char* name, int replicas, const char* amount) {
    return std::string("{groupName: ") + name + ", replicas: " + std::to_string(replicas) +
           ", numOfHosts: 1, template: {spec: {containers: [{name: r, resources: {limits: "
           "{memory: " +
           amount + "}}}]}}}";
  };
  // 1e9 + 2·1073741824 + 3·1.5e9
  EXPECT_EQ(memory("1G", "[" + group("a", 2, "1Gi") + "," + group("b", 3, "1500M") + "]"),
            "7647483648");
  // 1536·1024 Ki + 1000 Ki
  EXPECT_EQ(memory("1536Mi", "[" + group("a", 1, "1024000") + "]"), "1573864Ki");
}

TEST(ResourcesTest, AmountsThatDoNotParseAreSkipped) {
  const auto resources = PodResources(testing::Yaml(
      "spec: {containers: [{name: a, resources: {limits: {cpu: x, memory: 1Gi}}}, {name: b}]}"));
  EXPECT_EQ(resources.size(), 1u);
  EXPECT_TRUE(PodResources(apis::json::Value()).empty());
}

}  // namespace
}  // namespace hekla::ray::builders
