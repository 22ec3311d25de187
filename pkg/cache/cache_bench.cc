#include <benchmark/benchmark.h>
#include <malloc.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/cache/scheduler_cache.h"
#include "pkg/cache/testing/fake_api.h"
#include "pkg/util/manual_executor.h"

namespace hekla::cache {
namespace {

using apis::json::Value;

// A running pod as a server sends it, about 2 kB; gangs of 50, a few kinds of request.
std::string PodText(int i) {
  return absl::StrCat(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"train-job-)", i / 50, "-worker-",
      i % 50, R"(","namespace":"team-)", i % 20, R"(","uid":"5b0b2f0e-0000-4000-8000-)",
      100000000000 + i, R"(","resourceVersion":")", 1000 + i,
      R"(","creationTimestamp":"2026-01-02T15:04:05Z",
      "labels":{"app":"train","job-name":"train-job-)",
      i / 50, R"(","index":")", i % 50,
      R"("},"annotations":{"scheduling.k8s.io/group-name":"train-job-)", i / 50,
      R"(","volcano.sh/task-spec":"worker"},"ownerReferences":[{"apiVersion":"batch.volcano.sh/v1",
      "kind":"Job","name":"train-job-)",
      i / 50, R"(","uid":"6b0b2f0e-0000-4000-8000-)", 100000000000 + i / 50,
      R"(","controller":true}],"managedFields":[{"manager":"vc-controller","operation":"Update",
      "apiVersion":"v1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app":{},"f:job-name":{}}}}}]},
      "spec":{"schedulerName":"volcano","nodeName":"node-)",
      i % 10000,
      R"(","priority":100,"containers":[{"name":"main","image":"registry.example.com/train:1",
      "command":["python","train.py"],"env":[{"name":"RANK","value":"1"},{"name":"WORLD","value":"50"}],
      "resources":{"requests":{"cpu":")",
      1 + i % 8, R"(","memory":"4Gi","nvidia.com/gpu":"1"},"limits":{"nvidia.com/gpu":"1"}},
      "volumeMounts":[{"name":"token","mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}],
      "tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",
      "tolerationSeconds":300},{"key":"nvidia.com/gpu","operator":"Exists"}],
      "volumes":[{"name":"token","projected":{"sources":[]}}]},
      "status":{"phase":"Running","hostIP":"10.0.0.1","podIP":"10.1.0.1","conditions":[
      {"type":"Ready","status":"True"},{"type":"PodScheduled","status":"True"}]}})");
}

size_t HeapBytes() {
  malloc_trim(0);
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// From parsed objects to applied tables.
void BM_Cache_Ingest(benchmark::State& state) {
  const int count = static_cast<int>(state.range(0));
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) texts.push_back(PodText(i));
  util::FakeClock clock;
  util::ManualExecutor executor(&clock);
  size_t bytes = 0;
  for (auto _ : state) {
    const size_t before = HeapBytes();
    SchedulerCache cache({nullptr, &executor, nullptr, nullptr, nullptr}, {});
    for (const std::string& text : texts) {
      CHECK(cache.Ingest(*apis::json::Parse(text)).ok());
    }
    const model::Tables& tables = cache.Snapshot().tables();
    CHECK_EQ(tables.tasks.size(), static_cast<size_t>(count));
    bytes = HeapBytes() - before;
  }
  state.SetItemsProcessed(state.iterations() * count);
  state.counters["bytes_per_pod"] = static_cast<double>(bytes) / count;
}
BENCHMARK(BM_Cache_Ingest)
    ->ArgName("pods")
    ->Arg(1000)
    ->Arg(10000)
    ->Arg(100000)
    ->Unit(benchmark::kMillisecond);

// Events of pods that are known: decode, compile, apply.
void BM_Cache_PodEvents(benchmark::State& state) {
  const int count = static_cast<int>(state.range(0));
  util::FakeClock clock;
  util::ManualExecutor executor(&clock);
  SchedulerCache cache({nullptr, &executor, nullptr, nullptr, nullptr}, {});
  std::vector<Value> objects;
  for (int i = 0; i < count; ++i) {
    objects.push_back(*apis::json::Parse(PodText(i)));
    CHECK(cache.Ingest(objects.back()).ok());
  }
  cache.Snapshot();
  int64_t version = 1000000;
  size_t next = 0;
  for (auto _ : state) {
    Value& object = objects[next];
    object.Ensure({"metadata"}).Set("resourceVersion", absl::StrCat(++version));
    CHECK(cache.Ingest(object).ok());
    cache.Snapshot();
    next = (next + 1) % objects.size();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Cache_PodEvents)->ArgName("pods")->Arg(1000)->Arg(10000)->Arg(50000);

// Committed decisions to requests handed to a transport that answers at once.
class InstantTransport final : public http::Transport {
 public:
  explicit InstantTransport(util::Executor* executor) : executor_(executor) {}
  void Send(http::Request, absl::Duration, http::ResponseCallback done) override {
    ++sent;
    executor_->Post([done = std::move(done)] {
      http::Response response;
      response.status = 201;
      response.body = R"({"kind":"Status","status":"Success"})";
      done(std::move(response));
    });
  }
  std::unique_ptr<http::Stream> OpenStream(http::Request, absl::Duration,
                                           http::StreamObserver*) override {
    return nullptr;
  }
  int64_t sent = 0;

 private:
  util::Executor* const executor_;
};

void BM_Cache_Binds(benchmark::State& state) {
  const int count = static_cast<int>(state.range(0));
  util::FakeClock clock;
  util::ManualExecutor executor(&clock);
  InstantTransport transport(&executor);
  kube::RestClient::Options options;
  options.qps = 0;
  kube::RestClient client({&transport, &executor, nullptr}, options);
  SchedulerCache cache({&client, &executor, nullptr, nullptr, nullptr}, {});
  std::vector<ports::BindRequest> batch;
  for (int i = 0; i < count; ++i) {
    ports::BindRequest& r = batch.emplace_back();
    r.uid = absl::StrCat("5b0b2f0e-0000-4000-8000-", 100000000000 + i);
    r.namespace_name = "team-1";
    r.name = absl::StrCat("train-job-worker-", i);
    r.node = "node-17";
  }
  for (auto _ : state) {
    cache.Bind(batch);
    while (cache.PendingWrites() > 0) executor.RunReady();
  }
  CHECK_EQ(transport.sent, state.iterations() * count);
  state.SetItemsProcessed(state.iterations() * count);
}
BENCHMARK(BM_Cache_Binds)
    ->ArgName("binds")
    ->Arg(100)
    ->Arg(1000)
    ->Arg(10000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hekla::cache
