// Listeners and clients against each other over loopback, for docs/adr/0001 and 0002: small POSTs
// with 64 in flight, and 200 streaming watches whose cancellation has to free them.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "glog/logging.h"
#include "pkg/http/beast_server.h"
#include "pkg/http/beast_transport.h"
#include "pkg/http/cpprest_listener.h"
#include "pkg/http/cpprest_transport.h"

namespace hekla::http {
namespace {

enum Library { kBeast, kCpprest };

constexpr int kInFlight = 64;
constexpr int kWatches = 200;

// A Binding and its answer have about these sizes.
const std::string& PostBody() {
  static const std::string& body = *new std::string(
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"gang-17-worker-123","namespace":)"
      R"("default"},"target":{"apiVersion":"v1","kind":"Node","name":"node-01234"}})");
  return body;
}

class BenchHandler : public Handler {
 public:
  void Handle(Request request, const Peer&, std::shared_ptr<Responder> responder) override {
    if (request.method == "GET") {
      auto writer = responder->StartStream(200, {});
      writer->SetOnClosed([this] {
        absl::MutexLock lock(&mutex_);
        ++closed_;
      });
      absl::MutexLock lock(&mutex_);
      writers_.push_back(std::move(writer));
      return;
    }
    Response response{.status = 201};
    response.headers.Add("Content-Type", "application/json");
    response.body = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"})";
    responder->Respond(std::move(response));
  }
  void WaitForOpen(size_t n) {
    absl::MutexLock lock(&mutex_);
    const auto there = [&] { return writers_.size() >= n; };
    mutex_.Await(absl::Condition(&there));
  }
  bool WaitForClosed(int n, absl::Duration limit) {
    absl::MutexLock lock(&mutex_);
    const auto there = [&] { return closed_ >= n; };
    return mutex_.AwaitWithTimeout(absl::Condition(&there), limit);
  }
  int closed() {
    absl::MutexLock lock(&mutex_);
    return closed_;
  }
  void Broadcast(const std::shared_ptr<const std::string>& bytes) {
    absl::MutexLock lock(&mutex_);
    for (const auto& writer : writers_) writer->Write(bytes);
  }
  void CloseAll() {
    absl::MutexLock lock(&mutex_);
    for (const auto& writer : writers_) writer->Close();
    writers_.clear();
    closed_ = 0;
  }

 private:
  absl::Mutex mutex_;
  std::vector<std::shared_ptr<StreamWriter>> writers_;
  int closed_ = 0;
};

// A running listener of either library.
struct Server {
  explicit Server(Library library) {
    if (library == kBeast) {
      beast = std::make_unique<BeastServer>(BeastServer::Options{});
      CHECK(beast->Start(&handler).ok());
      port = beast->port();
    } else {
      cpprest = std::make_unique<CpprestListener>(CpprestListener::Options{});
      CHECK(cpprest->Start(&handler).ok());
      port = cpprest->port();
    }
  }
  std::string url() const { return absl::StrCat("http://127.0.0.1:", port); }
  BenchHandler handler;
  std::unique_ptr<BeastServer> beast;
  std::unique_ptr<CpprestListener> cpprest;
  uint16_t port = 0;
};

std::unique_ptr<Transport> MakeClient(Library library, const std::string& url) {
  if (library == kBeast) {
    return *BeastTransport::Create({.url = url, .max_connections = kInFlight});
  }
  return *CpprestTransport::Create({.url = url});
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Sends `total` POSTs, kInFlight at a time: each answer sends the next.
class Load {
 public:
  Load(Transport& transport, int total) : transport_(transport), to_send_(total), left_(total) {}
  int Run() {
    for (int i = 0; i < kInFlight; ++i) Next();
    done_.WaitForNotification();
    return failed_;
  }

 private:
  void Next() {
    if (to_send_.fetch_sub(1) <= 0) return;
    Request request{.method = "POST",
                    .target = "/api/v1/namespaces/default/pods/gang-17-worker-123/binding",
                    .body = PostBody()};
    request.headers.Add("Content-Type", "application/json");
    request.headers.Add("Accept", "application/json");
    request.headers.Add("User-Agent", "hekla-scheduler/0.1 (linux/amd64)");
    transport_.Send(std::move(request), absl::Seconds(60), [this](absl::StatusOr<Response> r) {
      if (!r.ok() || r->status != 201) ++failed_;
      Next();
      if (left_.fetch_sub(1) == 1) done_.Notify();
    });
  }
  Transport& transport_;
  std::atomic<int> to_send_;
  std::atomic<int> left_;
  std::atomic<int> failed_{0};
  absl::Notification done_;
};

void BM_Http_Post(benchmark::State& state) {
  Server server(static_cast<Library>(state.range(0)));
  auto client = MakeClient(static_cast<Library>(state.range(1)), server.url());
  constexpr int kBatch = 10000;
  Load(*client, 1000).Run();  // connections are open from here on
  const double cpu = CpuSeconds();
  for (auto _ : state) {
    const int failed = Load(*client, kBatch).Run();
    if (failed > 0) state.SkipWithError(absl::StrCat(failed, " requests failed").c_str());
  }
  const double posts = static_cast<double>(state.iterations()) * kBatch;
  state.SetItemsProcessed(static_cast<int64_t>(posts));
  // Server and client together: what one core could do.
  state.counters["per_cpu_second"] = posts / (CpuSeconds() - cpu);
}
BENCHMARK(BM_Http_Post)
    ->ArgNames({"server_cpprest", "client_cpprest"})
    ->ArgsProduct({{kBeast, kCpprest}, {kBeast, kCpprest}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

class Counter : public StreamObserver {
 public:
  explicit Counter(std::atomic<int64_t>* bytes) : bytes_(bytes) {}
  void OnHeaders(int, const Headers&) override {}
  void OnData(absl::string_view bytes) override { *bytes_ += static_cast<int64_t>(bytes.size()); }
  void OnEnd(const absl::Status&) override {}

 private:
  std::atomic<int64_t>* bytes_;
};

// 200 watches get 100 events of 1 kB each, then are cancelled. Reports the time of the events, and
// how long the server took to notice the cancellations without writing anything.
void BM_Http_Watches(benchmark::State& state) {
  Server server(static_cast<Library>(state.range(0)));
  auto client = MakeClient(kBeast, server.url());
  const auto event = std::make_shared<const std::string>(std::string(1023, 'e') + "\n");
  constexpr int kEvents = 100;
  double notice_ms = 0;
  double freed = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::atomic<int64_t> bytes{0};
    Counter observer(&bytes);
    std::vector<std::unique_ptr<Stream>> streams;
    for (int i = 0; i < kWatches; ++i) {
      streams.push_back(client->OpenStream(Request{.method = "GET", .target = "/watch"},
                                           absl::InfiniteDuration(), &observer));
    }
    server.handler.WaitForOpen(kWatches);
    state.ResumeTiming();
    for (int i = 0; i < kEvents; ++i) server.handler.Broadcast(event);
    while (bytes < int64_t{1024} * kEvents * kWatches) absl::SleepFor(absl::Microseconds(100));
    state.PauseTiming();
    const absl::Time cancelled = absl::Now();
    streams.clear();
    server.handler.WaitForClosed(kWatches, absl::Seconds(3));
    notice_ms += absl::ToDoubleMilliseconds(absl::Now() - cancelled);
    freed += server.handler.closed();
    server.handler.CloseAll();
    absl::SleepFor(absl::Milliseconds(50));  // what closes late belongs to this round
    server.handler.CloseAll();
    state.ResumeTiming();
  }
  const auto rounds = static_cast<double>(state.iterations());
  state.SetItemsProcessed(static_cast<int64_t>(rounds) * kEvents * kWatches);
  state.counters["freed_of_200"] = freed / rounds;
  state.counters["notice_ms"] = notice_ms / rounds;
}
BENCHMARK(BM_Http_Watches)
    ->ArgNames({"server_cpprest"})
    ->Arg(kBeast)
    ->Arg(kCpprest)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(5)
    ->UseRealTime();

}  // namespace
}  // namespace hekla::http
