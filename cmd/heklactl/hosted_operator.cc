#include "cmd/heklactl/hosted_operator.h"

#include <fstream>
#include <utility>

#include "absl/synchronization/notification.h"
#include "glog/logging.h"
#include "pkg/http/url.h"
#include "pkg/util/status_macros.h"

namespace hekla::cmd::heklactl {
namespace {

constexpr char kWaited[] = "hekla_raycluster_waited_seconds";
constexpr char kWorked[] = "hekla_raycluster_worked_seconds";

std::string RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  std::ifstream random("/dev/urandom", std::ios::binary);
  random.read(bytes.data(), static_cast<std::streamsize>(count));
  CHECK(random) << "/dev/urandom cannot be read";
  return bytes;
}

}  // namespace

HostedOperator::HostedOperator(Options options, const util::Clock* clock)
    : options_(std::move(options)), clock_(clock) {
  // Too many series for a production registry, just right for looking at a hundred clusters.
  registry_.AddCollector(kWaited, [this](metrics::TextWriter& out) { ExposeKeys(out); });
}

HostedOperator::~HostedOperator() { Stop(); }

absl::Status HostedOperator::Start() {
  HEKLA_ASSIGN_OR_RETURN(const http::Url url, http::ParseUrl(options_.url));
  http::BeastTransport::Options transport;
  transport.url = options_.url;
  transport.thread_name = "ray-client";
  HEKLA_ASSIGN_OR_RETURN(transport_, http::BeastTransport::Create(std::move(transport)));
  metered_ = std::make_unique<kube::MeteredTransport>(transport_.get(), &client_metrics_, clock_,
                                                      url.Authority());
  client_ = std::make_unique<kube::RestClient>(
      kube::RestClient::Deps{.transport = metered_.get(), .executor = &io_},
      kube::RestClient::Options{.user_agent = "hekla-ray-operator",
                                .qps = options_.config.qps,
                                .burst = static_cast<double>(options_.config.burst),
                                .observer = metered_.get()});
  assembly::OperatorGraph::Deps deps;
  deps.watch_client = client_.get();
  deps.write_client = client_.get();
  deps.io = &io_;
  deps.queues = &queues_;
  deps.clock = clock_;
  deps.registry = &registry_;
  deps.on_ready = [this] {
    for (controller::Controller* const c : graph_->controllers()) workers_.Start(c);
  };
  deps.on_dispatch = [this](const controller::Request& key, absl::Duration waited) {
    absl::MutexLock lock(&mutex_);
    keys_[key.Key()].waited += waited;
  };
  deps.on_done = [this](const controller::Request& key, absl::Duration worked) {
    absl::MutexLock lock(&mutex_);
    KeyTimes& times = keys_[key.Key()];
    times.worked += worked;
    ++times.runs;
  };
  deps.secret_bytes = RandomBytes;
  assembly::OperatorGraph::Options options;
  options.config = options_.config;
  options.gates = options_.gates;
  options.seed = options_.seed;
  HEKLA_ASSIGN_OR_RETURN(graph_,
                         assembly::OperatorGraph::Build(std::move(deps), std::move(options)));
  graph_->Start();
  return absl::OkStatus();
}

void HostedOperator::Stop() {
  if (std::exchange(stopped_, true)) return;
  if (graph_ != nullptr) {
    graph_->StopWork();
    // Workers are started on the io thread: after this task none are any more.
    absl::Notification no_more_workers;
    io_.Post([&no_more_workers] { no_more_workers.Notify(); });
    no_more_workers.WaitForNotification();
    workers_.Join();
    absl::Notification ended;
    graph_->Stop([&ended] { ended.Notify(); });
    ended.WaitForNotification();
  }
  queues_.Stop();
  io_.Stop();
}

std::map<std::string, HostedOperator::KeyTimes> HostedOperator::Keys() const {
  absl::MutexLock lock(&mutex_);
  return keys_;
}

void HostedOperator::ExposeKeys(metrics::TextWriter& out) const {
  const std::map<std::string, KeyTimes> keys = Keys();
  if (keys.empty()) return;
  out.Family(kWaited, "gauge", "Time a RayCluster was ready and had no worker.");
  for (const auto& [key, times] : keys) {
    out.Sample(kWaited, {{"key", key}}, absl::ToDoubleSeconds(times.waited));
  }
  out.Family(kWorked, "gauge", "Time a worker spent on a RayCluster.");
  for (const auto& [key, times] : keys) {
    out.Sample(kWorked, {{"key", key}}, absl::ToDoubleSeconds(times.worked));
  }
}

}  // namespace hekla::cmd::heklactl
