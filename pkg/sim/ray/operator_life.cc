#include "pkg/sim/ray/operator_life.h"

#include <algorithm>
#include <utility>

#include "glog/logging.h"

namespace hekla::sim {
namespace {

kube::RestClient::Options NoLimits() {
  kube::RestClient::Options options;
  options.qps = 0;
  options.max_retries = 0;
  return options;
}

}  // namespace

OperatorLife::OperatorLife(util::FakeClock* clock, apiserver::ApiServer* server, Options options)
    : executor_(clock),
      loopback_(server, &executor_),
      faults_(&loopback_, &executor_, options.seed, options.watch_faults),
      inline_(server, std::move(options.intercept)),
      watch_client_({&faults_, &executor_, nullptr}, NoLimits()),
      write_client_({&inline_, &executor_, nullptr}, NoLimits()),
      election_client_({&loopback_, &executor_, nullptr}, NoLimits()) {
  options.graph.host = "simulation";
  options.graph.seed = options.seed;
  assembly::OperatorGraph::Deps deps;
  deps.watch_client = &watch_client_;
  deps.write_client = &write_client_;
  deps.io = &executor_;
  deps.queues = &executor_;
  deps.clock = clock;
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

bool OperatorLife::Step() {
  if (executor_.RunOne()) return true;
  return graph_->Working() && graph_->ProcessNext();
}

absl::Time OperatorLife::NextDue() const {
  return std::min(executor_.NextDue(), graph_->NextDue());
}

bool OperatorLife::Failing(const controller::Request& cluster) const {
  return graph_->controllers().front()->queue().NumRequeues(cluster) > 0;
}

}  // namespace hekla::sim
