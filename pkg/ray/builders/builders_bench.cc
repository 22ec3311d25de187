#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "glog/logging.h"
#include "pkg/apis/ray/go_form.h"
#include "pkg/apis/ray/raycluster.h"
#include "pkg/apis/ray/validation.h"
#include "pkg/ray/builders/pod.h"
#include "pkg/ray/testing/cluster.h"

namespace hekla::ray::builders {
namespace {

using apis::json::Value;

// A cluster with that many worker groups, each with a few environment entries and volumes.
Value ClusterWith(int64_t groups) {
  std::string text = "spec: {workerGroupSpecs: [";
  for (int64_t i = 0; i < groups; ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", "{groupName: g", i,
                    ", replicas: 2, minReplicas: 0, maxReplicas: 9, numOfHosts: 1, template: "
                    "{spec: {containers: [{name: r, image: ray, env: [{name: A, value: a}, {name: "
                    "B, value: b}], resources: {limits: {cpu: 4, memory: 8Gi}}}], volumes: [{name: "
                    "v, emptyDir: {}}]}}}");
  }
  return testing::ClusterObject(text + "]}");
}

void BM_Ray_Decode(benchmark::State& state) {
  const Value object = ClusterWith(state.range(0));
  for (auto _ : state) {
    auto cluster = apis::ray::DecodeRayCluster(object);
    CHECK_EQ(static_cast<int64_t>(cluster->spec.worker_groups.size()), state.range(0));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Ray_Decode)->ArgName("groups")->Arg(1)->Arg(10)->Arg(100);

void BM_Ray_Validate(benchmark::State& state) {
  const auto cluster = *apis::ray::DecodeRayCluster(ClusterWith(state.range(0)));
  for (auto _ : state) {
    CHECK(!apis::ray::ValidateRayCluster(cluster, {}, false).failure.has_value());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Ray_Validate)->ArgName("groups")->Arg(1)->Arg(10)->Arg(100);

void BM_Ray_UpgradeHash(benchmark::State& state) {
  const Value object = ClusterWith(state.range(0));
  for (auto _ : state) CHECK_EQ(apis::ray::UpgradeHash(object.At("spec")).size(), 32u);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Ray_UpgradeHash)->ArgName("groups")->Arg(1)->Arg(10)->Arg(100);

void BM_Ray_BuildWorkerPod(benchmark::State& state) {
  const auto cluster = *apis::ray::DecodeRayCluster(ClusterWith(state.range(0)));
  const BuildOptions options;
  for (auto _ : state) {
    const Value pod =
        BuildWorkerPod(cluster, cluster.spec.worker_groups.back(), options, WorkerIndex{});
    CHECK(pod.Has("spec"));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Ray_BuildWorkerPod)->ArgName("groups")->Arg(1)->Arg(10)->Arg(100);

}  // namespace
}  // namespace hekla::ray::builders
