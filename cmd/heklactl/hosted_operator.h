#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "pkg/assembly/operator_graph.h"
#include "pkg/controller/worker_pool.h"
#include "pkg/http/beast_transport.h"
#include "pkg/kube/metered_transport.h"
#include "pkg/kube/rest_client.h"
#include "pkg/metrics/registry.h"
#include "pkg/ray/config/feature_gates.h"
#include "pkg/ray/config/operator_config.h"
#include "pkg/util/clock.h"
#include "pkg/util/thread_executor.h"

namespace hekla::cmd::heklactl {

// The Ray operator as it runs in production, in this process: its own HTTP client, its own threads
// and workers, without an election. For the playground and benchmarks.
// Threads: the owner's; Keys and registry from any.
class HostedOperator {
 public:
  struct Options {
    std::string url = {};
    ray::OperatorConfig config = {};
    ray::FeatureGates gates = {};
    uint64_t seed = 1;
  };
  // How long one RayCluster waited ready and was worked on, in all.
  struct KeyTimes {
    absl::Duration waited = absl::ZeroDuration();
    absl::Duration worked = absl::ZeroDuration();
    int64_t runs = 0;
  };

  // `clock` must outlive this.
  HostedOperator(Options options, const util::Clock* clock);
  // As Stop.
  ~HostedOperator();
  HostedOperator(const HostedOperator&) = delete;
  HostedOperator& operator=(const HostedOperator&) = delete;

  absl::Status Start();
  // Waits for the reconciles that run, then ends everything.
  void Stop();

  // By `namespace/name`.
  std::map<std::string, KeyTimes> Keys() const;
  metrics::Registry& registry() { return registry_; }
  // After Start.
  assembly::OperatorGraph& graph() { return *graph_; }

 private:
  void ExposeKeys(metrics::TextWriter& out) const;

  const Options options_;
  const util::Clock* const clock_;
  metrics::Registry registry_;
  kube::ClientMetrics client_metrics_{registry_};
  util::ThreadExecutor io_{"ray-io"};
  util::ThreadExecutor queues_{"ray-queue"};
  std::unique_ptr<http::BeastTransport> transport_;
  std::unique_ptr<kube::MeteredTransport> metered_;
  std::unique_ptr<kube::RestClient> client_;
  std::unique_ptr<assembly::OperatorGraph> graph_;
  controller::WorkerPool workers_;
  bool stopped_ = false;
  mutable absl::Mutex mutex_;
  std::map<std::string, KeyTimes> keys_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::cmd::heklactl
