#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/synchronization/mutex.h"
#include "pkg/http/client.h"
#include "pkg/kube/rest_client.h"
#include "pkg/metrics/registry.h"
#include "pkg/util/clock.h"

namespace hekla::kube {

// The rest_client_* families of one process.
// Source: spec 2.9, spec ray-cluster 10.
struct ClientMetrics {
  // `registry` must outlive this.
  explicit ClientMetrics(metrics::Registry& registry);

  metrics::CounterFamily& requests;        // code, method, host
  metrics::HistogramFamily& duration;      // verb, host
  metrics::HistogramFamily& request_size;  // verb, host
  metrics::HistogramFamily& response_size;
  metrics::HistogramFamily& limiter_wait;  // verb, host
  metrics::HistogramFamily& resolution;    // host, without a port
  metrics::CounterFamily& retries;         // code, verb, host
};

// Counts what goes through another transport: every try of a request, and streams when they are
// answered. `code` is `<error>` where no answer came. As the observer of the client above it, also
// what that client waits for and tries again.
// Threads: as the inner transport.
class MeteredTransport final : public http::Transport, public RequestObserver {
 public:
  // All must outlive this. `host`: "127.0.0.1:6443".
  MeteredTransport(http::Transport* inner, ClientMetrics* metrics, const util::Clock* clock,
                   std::string host);
  ~MeteredTransport() override;

  void Send(http::Request request, absl::Duration timeout, http::ResponseCallback done) override;
  std::unique_ptr<http::Stream> OpenStream(http::Request request, absl::Duration idle_timeout,
                                           http::StreamObserver* observer) override;
  void OnLimiterWait(const std::string& method, absl::Duration wait) override;
  void OnRetry(const std::string& method, int code) override;

 private:
  class Series;
  class CountingStream;

  http::Transport* const inner_;
  const util::Clock* const clock_;
  // Callbacks may come when the transport is gone.
  const std::shared_ptr<Series> series_;
};

}  // namespace hekla::kube
