#include <malloc.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "glog/logging.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/testing/recording_responder.h"
#include "pkg/util/clock.h"

namespace hekla::apiserver {
namespace {

http::Request Make(const char* method, std::string target, std::string body = "") {
  http::Request request;
  request.method = method;
  request.target = std::move(target);
  request.headers.Set("Content-Type", "application/json");
  request.body = std::move(body);
  return request;
}

std::string PodBody(int i) {
  return absl::StrCat(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-)", i,
      R"(","labels":{"app":"bench","index":")", i % 100,
      R"("}},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"busybox",)"
      R"("resources":{"requests":{"cpu":"100m","memory":"64Mi"}}}]}})");
}

class World {
 public:
  explicit World(bool track_managed_fields = false) {
    Options options;
    options.track_managed_fields = track_managed_fields;
    options.clock = &clock_;
    server = std::make_unique<ApiServer>(options);
  }
  void Expect(int status, const http::Request& request) {
    const http::Response response = server->Call(request);
    CHECK_EQ(response.status, status) << response.body;
  }
  void Watch(int count) {
    for (int i = 0; i < count; ++i) {
      auto responder = std::make_shared<testing::RecordingResponder>();
      server->Handle(Make("GET", "/api/v1/pods?watch=1"), http::Peer(), responder);
      responder->stream()->Discard();
      responders.push_back(responder);
    }
  }
  std::unique_ptr<ApiServer> server;
  std::vector<std::shared_ptr<testing::RecordingResponder>> responders;

 private:
  util::FakeClock clock_;
};

// A small object through every rule there is.
void BM_ApiServer_CreateConfigMap(benchmark::State& state) {
  World world;
  world.Watch(static_cast<int>(state.range(0)));
  int i = 0;
  for (auto _ : state) {
    world.Expect(201,
                 Make("POST", "/api/v1/namespaces/default/configmaps",
                      absl::StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c)",
                                   i++, R"("},"data":{"a":"b"}})")));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ApiServer_CreateConfigMap)->ArgName("watches")->Arg(0);

void BM_ApiServer_CreatePod(benchmark::State& state) {
  World world;
  world.Watch(static_cast<int>(state.range(0)));
  int i = 0;
  for (auto _ : state) {
    world.Expect(201, Make("POST", "/api/v1/namespaces/default/pods", PodBody(i++)));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ApiServer_CreatePod)->ArgName("watches")->Arg(0)->Arg(10)->Arg(200);

void BM_ApiServer_CreatePodTracked(benchmark::State& state) {
  World world(true);
  int i = 0;
  for (auto _ : state) {
    world.Expect(201, Make("POST", "/api/v1/namespaces/default/pods", PodBody(i++)));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ApiServer_CreatePodTracked);

void BM_ApiServer_PatchPodStatus(benchmark::State& state) {
  World world(state.range(0) != 0);
  for (int i = 0; i < 1000; ++i) {
    world.Expect(201, Make("POST", "/api/v1/namespaces/default/pods", PodBody(i)));
  }
  int i = 0;
  for (auto _ : state) {
    http::Request request =
        Make("PATCH", absl::StrCat("/api/v1/namespaces/default/pods/pod-", i % 1000, "/status"),
             absl::StrCat(R"({"status":{"phase":"Running","podIP":"10.0.0.)", (i / 1000) % 200,
                          R"("}})"));
    request.headers.Set("Content-Type", "application/strategic-merge-patch+json");
    world.Expect(200, request);
    ++i;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ApiServer_PatchPodStatus)->ArgName("tracked")->Arg(0)->Arg(1);

void BM_ApiServer_BindPod(benchmark::State& state) {
  World world;
  world.Watch(static_cast<int>(state.range(0)));
  int made = 0;
  int bound = 0;
  for (auto _ : state) {
    if (bound == made) {
      state.PauseTiming();
      for (int end = made + 1000; made < end; ++made) {
        world.Expect(201, Make("POST", "/api/v1/namespaces/default/pods", PodBody(made)));
      }
      state.ResumeTiming();
    }
    world.Expect(
        201, Make("POST", absl::StrCat("/api/v1/namespaces/default/pods/pod-", bound, "/binding"),
                  absl::StrCat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"pod-)",
                               bound, R"("},"target":{"kind":"Node","name":"n1"}})")));
    ++bound;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ApiServer_BindPod)->ArgName("watches")->Arg(0)->Arg(10)->Arg(200);

void BM_ApiServer_ListPods(benchmark::State& state) {
  World world;
  for (int i = 0; i < state.range(0); ++i) {
    world.Expect(201, Make("POST", "/api/v1/namespaces/default/pods", PodBody(i)));
  }
  size_t bytes = 0;
  for (auto _ : state) {
    const http::Response response = world.server->Call(Make("GET", "/api/v1/pods"));
    CHECK_EQ(response.status, 200);
    bytes = response.body.size();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["bytes_per_pod"] =
      static_cast<double>(bytes) / static_cast<double>(state.range(0));
}
BENCHMARK(BM_ApiServer_ListPods)->ArgName("pods")->Arg(1000)->Arg(10000)->Arg(100000);

// What a pod costs in memory, its place in the tables included.
void BM_ApiServer_Memory(benchmark::State& state) {
  for (auto _ : state) {
    World world;
    const size_t before = mallinfo2().uordblks;
    for (int i = 0; i < state.range(0); ++i) {
      world.Expect(201, Make("POST", "/api/v1/namespaces/default/pods", PodBody(i)));
    }
    const size_t after = mallinfo2().uordblks;
    state.counters["bytes_per_pod"] =
        static_cast<double>(after - before) / static_cast<double>(state.range(0));
  }
}
BENCHMARK(BM_ApiServer_Memory)->ArgName("pods")->Arg(100000)->Iterations(1);

}  // namespace
}  // namespace hekla::apiserver
