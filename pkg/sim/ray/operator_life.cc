#include "pkg/sim/ray/operator_life.h"

#include <algorithm>
#include <utility>

#include "glog/logging.h"

namespace hekla::sim {
namespace {

kube::RestClient::Options NoLimits(std::function<bool()> may_write) {
  kube::RestClient::Options options;
  options.may_write = std::move(may_write);
  options.qps = 0;
  options.max_retries = 0;
  return options;
}

}  // namespace

// Tells of the writes that leave, whichever way.
class OperatorLife::WriteWatcher final : public CallWatcher {
 public:
  explicit WriteWatcher(std::function<void(const http::Request&)> tell) : tell_(std::move(tell)) {}

  bool OnSent(const http::Request& request) override {
    if (tell_ != nullptr && request.method != "GET") tell_(request);
    return false;
  }
  void OnAnswered(const http::Request&, const absl::StatusOr<http::Response>&) override {}

  http::InlineTransport::Intercept Before(http::InlineTransport::Intercept next) {
    return [this, next = std::move(next)](http::Request request,
                                          const http::InlineTransport::Next& forward) {
      OnSent(request);
      return next == nullptr ? forward(std::move(request)) : next(std::move(request), forward);
    };
  }

 private:
  const std::function<void(const http::Request&)> tell_;
};

OperatorLife::OperatorLife(util::FakeClock* clock, apiserver::ApiServer* server, Options options)
    : clock_(clock),
      writes_(std::make_unique<WriteWatcher>(std::move(options.on_write))),
      own_clock_(clock, options.clock.rate_permille),
      network_(clock),
      executor_(clock, &own_clock_),
      loopback_(server, &network_),
      faults_(&loopback_, &network_, options.seed, options.watch_faults),
      inline_(server, writes_->Before(std::move(options.intercept))),
      watch_client_({&faults_, &executor_, nullptr}, NoLimits([this] { return MayWrite(); })),
      write_client_({&inline_, &executor_, nullptr}, NoLimits([this] { return MayWrite(); })),
      election_client_({&loopback_, &executor_, nullptr}, NoLimits(nullptr)) {
  own_clock_.Step(options.clock.ahead);
  faults_.SetWatcher(writes_.get());
  options.graph.host = "simulation";
  options.graph.seed = options.seed;
  assembly::OperatorGraph::Deps deps;
  deps.watch_client = &watch_client_;
  deps.write_client = &write_client_;
  deps.io = &executor_;
  deps.queues = &executor_;
  deps.clock = &own_clock_;
  deps.registry = &registry_;
  deps.on_done = [this](const controller::Request&, absl::Duration) { ++reconciles_; };
  deps.on_lost = [this](const absl::Status&) { lost_ = true; };
  if (!options.identity.empty()) {
    controller::Manager::Election election;
    election.client = &election_client_;
    election.executor = &executor_;
    election.options.ns = "kube-system";
    election.options.name = "ray-operator-leader";
    election.options.identity = options.identity;
    election.options.seed = options.seed;
    deps.election = std::move(election);
  }
  auto built = assembly::OperatorGraph::Build(std::move(deps), std::move(options.graph));
  CHECK(built.ok()) << built.status();
  graph_ = *std::move(built);
  graph_->Start();
}

OperatorLife::~OperatorLife() = default;

bool OperatorLife::MayWrite() const { return graph_ != nullptr && graph_->MayWrite(); }

bool OperatorLife::Step() {
  if (clock_->Now() < frozen_until_) return false;
  const bool hurried = clock_->Now() == frozen_until_;
  if (hurried && graph_->Working() && graph_->ProcessNext()) return true;
  if (network_.RunOne() || executor_.RunOne()) return true;
  return !hurried && graph_->Working() && graph_->ProcessNext();
}

absl::Time OperatorLife::NextDue() const {
  return std::max(std::min(network_.NextDue(), executor_.NextDue()), frozen_until_);
}

bool OperatorLife::Failing(const controller::Request& cluster) const {
  return graph_->controllers().front()->queue().NumRequeues(cluster) > 0;
}

}  // namespace hekla::sim
