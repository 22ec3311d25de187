// Bindings through the whole client (limits, paths, credentials, retries) over loopback HTTP to a
// listener that answers at once: the part of a bind that is not the server's.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <atomic>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "glog/logging.h"
#include "pkg/http/beast_server.h"
#include "pkg/http/beast_transport.h"
#include "pkg/kube/resource_client.h"
#include "pkg/kube/rest_client.h"
#include "pkg/util/thread_executor.h"

namespace hekla::kube {
namespace {

class BindHandler : public http::Handler {
 public:
  void Handle(http::Request, const http::Peer&,
              std::shared_ptr<http::Responder> responder) override {
    http::Response response{.status = 201};
    response.headers.Add("Content-Type", "application/json");
    response.body = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"})";
    responder->Respond(std::move(response));
  }
};

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Binds `total` pods, a fixed number at a time: each answer sends the next.
class BindLoad {
 public:
  BindLoad(const ResourceClient& pods, int total) : pods_(pods), to_send_(total), left_(total) {}
  int Run(int in_flight) {
    for (int i = 0; i < in_flight; ++i) Next();
    done_.WaitForNotification();
    return failed_;
  }

 private:
  void Next() {
    const int n = to_send_.fetch_sub(1);
    if (n <= 0) return;
    const std::string name = absl::StrCat("gang-17-worker-", n);
    pods_.PostSubresource(
        {.ns = "default", .name = name, .subresource = "binding"},
        absl::StrCat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")", name,
                     R"(","namespace":"default"},"target":{"apiVersion":"v1","kind":"Node",)",
                     R"("name":"node-)", n % 5000, "\"}}"),
        [this](absl::Status status) {
          if (!status.ok()) ++failed_;
          Next();
          if (left_.fetch_sub(1) == 1) done_.Notify();
        });
  }
  const ResourceClient& pods_;
  std::atomic<int> to_send_;
  std::atomic<int> left_;
  std::atomic<int> failed_{0};
  absl::Notification done_;
};

void BM_Kube_Bind(benchmark::State& state) {
  BindHandler handler;
  http::BeastServer server({});
  CHECK(server.Start(&handler).ok());
  auto transport = *http::BeastTransport::Create(
      {.url = absl::StrCat("http://127.0.0.1:", server.port()), .max_connections = 32});
  util::ThreadExecutor executor("bench");
  RestClient client({.transport = transport.get(), .executor = &executor},
                    {.qps = 1e6, .burst = 1e6});
  const ResourceClient pods(&client, {"", "v1", "pods", "Pod", true});
  constexpr int kBatch = 10000;
  const int in_flight = static_cast<int>(state.range(0));
  BindLoad(pods, 1000).Run(in_flight);
  const double cpu = CpuSeconds();
  for (auto _ : state) {
    const int failed = BindLoad(pods, kBatch).Run(in_flight);
    if (failed > 0) state.SkipWithError(absl::StrCat(failed, " binds failed").c_str());
  }
  const double binds = static_cast<double>(state.iterations()) * kBatch;
  state.SetItemsProcessed(static_cast<int64_t>(binds));
  state.counters["per_cpu_second"] = binds / (CpuSeconds() - cpu);
}
BENCHMARK(BM_Kube_Bind)
    ->ArgName("in_flight")
    ->Arg(8)
    ->Arg(32)
    ->Arg(128)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace hekla::kube
