#include "pkg/ray/builders/start_params.h"

#include <string>

#include "gtest/gtest.h"
#include "pkg/ray/testing/cluster.h"

namespace hekla::ray::builders {
namespace {

using apis::meta::StringMap;
using testing::Yaml;

// Worked example E3.
TEST(StartParamsTest, HeadLineSortsFlagsAndDropsFalseOnes) {
  StringMap params = {{"num-cpus", "0"},
                      {"include-dashboard", "false"},
                      {"object-store-memory", "1000000000"},
                      {"verbose", "False"},
                      {"no-monitor", "true"}};
  ApplyHeadDefaults(params);
  AutofillFromContainer(Yaml("resources: {limits: {cpu: 2500m, memory: 4Gi}}"), params);
  EXPECT_EQ(RayStartCommand(true, params),
            "ray start --head  --block  --dashboard-agent-listen-port=52365  "
            "--dashboard-host=0.0.0.0  --include-dashboard=false  --memory=4294967296  "
            "--metrics-export-port=8080  --no-monitor  --num-cpus=0  "
            "--object-store-memory=1000000000 ");
}

// Worked example E4.
TEST(StartParamsTest, WorkerLineIsFilledFromTheContainer) {
  StringMap params;
  ApplyResourcesAndLabels({}, {{"zone", "b"}, {"tier", "hot"}}, params);
  ApplyWorkerDefaults("alpha-head-svc.ml.svc.cluster.local:6379", params);
  AutofillFromContainer(
      Yaml("resources: {limits: {cpu: 1500m, memory: 2Gi, google.com/tpu: 4, nvidia.com/gpu: 1}}"),
      params);
  EXPECT_EQ(RayStartCommand(false, params),
            "ray start  --address=alpha-head-svc.ml.svc.cluster.local:6379  --block  "
            "--dashboard-agent-listen-port=52365  --labels=tier=hot,zone=b  --memory=2147483648  "
            "--metrics-export-port=8080  --num-cpus=2  --num-gpus=1  --resources='{\"TPU\":4}' ");
}

// Worked example E5.
TEST(StartParamsTest, GroupResourcesBecomeParameters) {
  StringMap params = {{"resources", "old"}};
  ApplyResourcesAndLabels({{"CPU", "1500m"}, {"memory", "1Gi"}, {"accel", "0.5"}, {"junk", "x1"}},
                          {}, params);
  EXPECT_EQ(params.Get("num-cpus"), "2");
  EXPECT_EQ(params.Get("memory"), "1073741824");
  EXPECT_EQ(params.Get("resources"), "'{\"accel\":0.5}'");
  EXPECT_EQ(params.size(), 3u);
}

// Worked example E6. Quirk: the GPUs are not filled in either.
TEST(StartParamsTest, QuirkBrokenResourcesParameterStopsAccelerators) {
  StringMap params = {{"resources", "{"}};
  AutofillFromContainer(
      Yaml("resources: {limits: {aws.amazon.com/neuroncore: 4, nvidia.com/gpu: 1}}"), params);
  EXPECT_EQ(RayStartCommand(false, params), "ray start  --resources={ ");
}

TEST(StartParamsTest, OneAcceleratorJoinsTheGivenResources) {
  StringMap params = {{"resources", " '{\"a\": 1.5}' "}};
  const auto container =
      Yaml("resources: {limits: {aws.amazon.com/neuroncore: '4', google.com/tpu: '8'}}");
  AutofillFromContainer(container, params);
  EXPECT_EQ(params.Get("resources"), "'{\"a\":1.5,\"neuron_cores\":4}'");
  AutofillFromContainer(container, params);
  EXPECT_EQ(params.Get("resources"), "'{\"a\":1.5,\"neuron_cores\":4}'");
}

TEST(StartParamsTest, CpuFallsBackToTheRequestAndMemoryDoesNot) {
  StringMap params;
  AutofillFromContainer(Yaml("resources: {requests: {cpu: 100m, memory: 1Gi}}"), params);
  EXPECT_EQ(params.Get("num-cpus"), "1");
  EXPECT_FALSE(params.Has("memory"));
  StringMap none;
  AutofillFromContainer(Yaml("resources: {limits: {cpu: 0, nvidia.com/gpu: 0}}"), none);
  EXPECT_TRUE(none.empty());
}

TEST(StartParamsTest, FirstGpuInAlphabeticalOrderCounts) {
  StringMap params;
  AutofillFromContainer(
      Yaml("resources: {limits: {nvidia.com/mig-1g.5gb: 3, nvidia.com/gpu: 0, amd.com/gpu: 2}}"),
      params);
  EXPECT_EQ(params.Get("num-gpus"), "2");
}

TEST(StartParamsTest, GpuNames) {
  for (const char* name : {"nvidia.com/gpu", "amd.com/gpu", "gpu", "nvidia.com/mig-1g.10gb"}) {
    EXPECT_TRUE(IsGpuResource(name)) << name;
  }
  for (const char* name : {"cpu", "google.com/tpu", "nvidia.com/mig-g.10gb", "nvidia.com/mig-1g.gb",
                           "nvidia.com/mig-1g.10gbx", "nvidia.com/gpus", ""}) {
    EXPECT_FALSE(IsGpuResource(name)) << name;
  }
}

TEST(StartParamsTest, PortsThatAreNoNumbersFallBack) {
  EXPECT_EQ(PortParam({{"dashboard-port", "80"}}, "dashboard-port", 8265), 80);
  EXPECT_EQ(PortParam({{"dashboard-port", "x"}}, "dashboard-port", 8265), 8265);
  EXPECT_EQ(PortParam({}, "dashboard-port", 8265), 8265);
  EXPECT_EQ(HeadPort({{"port", "7000"}}), "7000");
  EXPECT_EQ(HeadPort({}), "6379");
}

}  // namespace
}  // namespace hekla::ray::builders
