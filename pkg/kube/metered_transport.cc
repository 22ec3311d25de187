#include "pkg/kube/metered_transport.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace hekla::kube {
namespace {

std::vector<double> DurationBuckets() {
  return {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
}
// As far as 30 s, where a resolution is given up.
std::vector<double> ResolutionBuckets() {
  std::vector<double> bounds = DurationBuckets();
  bounds.pop_back();
  return bounds;
}
std::vector<double> SizeBuckets() {
  return {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};
}

}  // namespace

ClientMetrics::ClientMetrics(metrics::Registry& r)
    : requests(r.NewCounterFamily(
          "rest_client_requests_total",
          "Number of HTTP requests, partitioned by status code, method, and host.",
          {"code", "method", "host"})),
      duration(r.NewHistogramFamily("rest_client_request_duration_seconds",
                                    "Request latency in seconds. Broken down by verb and host.",
                                    {"verb", "host"}, DurationBuckets())),
      request_size(r.NewHistogramFamily("rest_client_request_size_bytes",
                                        "Request size in bytes. Broken down by verb and host.",
                                        {"verb", "host"}, SizeBuckets())),
      response_size(r.NewHistogramFamily("rest_client_response_size_bytes",
                                         "Response size in bytes. Broken down by verb and host.",
                                         {"verb", "host"}, SizeBuckets())),
      limiter_wait(r.NewHistogramFamily(
          "rest_client_rate_limiter_duration_seconds",
          "Client side rate limiter latency in seconds. Broken down by verb, and host.",
          {"verb", "host"}, DurationBuckets())),
      resolution(r.NewHistogramFamily("rest_client_dns_resolution_duration_seconds",
                                      "DNS resolver latency in seconds. Broken down by host.",
                                      {"host"}, ResolutionBuckets())),
      retries(r.NewCounterFamily(
          "rest_client_request_retries_total",
          "Number of request retries, partitioned by status code, verb, and host.",
          {"code", "verb", "host"})) {}

namespace {

std::string CodeText(int code) { return code == 0 ? "<error>" : absl::StrCat(code); }

}  // namespace

// Handles of series that were used, so that a request does not build label lists.
class MeteredTransport::Series {
 public:
  struct OfMethod {
    std::shared_ptr<metrics::Histogram> duration;
    std::shared_ptr<metrics::Histogram> request_size;
    std::shared_ptr<metrics::Histogram> response_size;
    std::shared_ptr<metrics::Histogram> wait;
    std::map<int, std::shared_ptr<metrics::Counter>> codes;  // 0: no answer
  };

  Series(ClientMetrics* metrics, std::string host) : metrics_(metrics), host_(std::move(host)) {}

  void Count(const std::string& method, int code) {
    std::shared_ptr<metrics::Counter> counter;
    {
      absl::MutexLock lock(&mutex_);
      std::shared_ptr<metrics::Counter>& slot = Of(method).codes[code];
      if (slot == nullptr) {
        slot = metrics_->requests.With({CodeText(code), method, host_});
      }
      counter = slot;
    }
    counter->Add();
  }
  void CountRetry(const std::string& method, int code) {
    metrics_->retries.With({CodeText(code), method, host_})->Add();
  }
  void ObserveWait(const std::string& method, absl::Duration wait) {
    std::shared_ptr<metrics::Histogram> series;
    {
      absl::MutexLock lock(&mutex_);
      std::shared_ptr<metrics::Histogram>& slot = Of(method).wait;
      if (slot == nullptr) slot = metrics_->limiter_wait.With({method, host_});
      series = slot;
    }
    series->Observe(absl::ToDoubleSeconds(wait));
  }
  void Observe(const std::string& method, absl::Duration took, size_t sent, size_t received) {
    OfMethod series;
    {
      absl::MutexLock lock(&mutex_);
      const OfMethod& found = Of(method);
      series.duration = found.duration;
      series.request_size = found.request_size;
      series.response_size = found.response_size;
    }
    series.duration->Observe(absl::ToDoubleSeconds(took));
    series.request_size->Observe(static_cast<double>(sent));
    series.response_size->Observe(static_cast<double>(received));
  }

 private:
  OfMethod& Of(const std::string& method) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    OfMethod& series = methods_[method];
    if (series.duration == nullptr) {
      series.duration = metrics_->duration.With({method, host_});
      series.request_size = metrics_->request_size.With({method, host_});
      series.response_size = metrics_->response_size.With({method, host_});
    }
    return series;
  }

  ClientMetrics* const metrics_;
  const std::string host_;
  absl::Mutex mutex_;
  std::map<std::string, OfMethod> methods_ ABSL_GUARDED_BY(mutex_);
};

// Passes on what the observer behind it hears, and counts the answer.
class MeteredTransport::CountingStream final : public http::Stream, private http::StreamObserver {
 public:
  CountingStream(http::StreamObserver* observer, std::shared_ptr<Series> series, std::string method)
      : observer_(observer), series_(std::move(series)), method_(std::move(method)) {}
  void Open(http::Transport* inner, http::Request request, absl::Duration idle_timeout) {
    stream_ = inner->OpenStream(std::move(request), idle_timeout, this);
  }

 private:
  void OnHeaders(int status, const http::Headers& headers) override {
    counted_ = true;
    series_->Count(method_, status);
    observer_->OnHeaders(status, headers);
  }
  void OnData(absl::string_view bytes) override { observer_->OnData(bytes); }
  void OnEnd(const absl::Status& status) override {
    if (!counted_) series_->Count(method_, 0);
    observer_->OnEnd(status);
  }

  http::StreamObserver* const observer_;
  const std::shared_ptr<Series> series_;
  const std::string method_;
  bool counted_ = false;
  std::unique_ptr<http::Stream> stream_;
};

MeteredTransport::MeteredTransport(http::Transport* inner, ClientMetrics* metrics,
                                   const util::Clock* clock, std::string host)
    : inner_(inner), clock_(clock), series_(std::make_shared<Series>(metrics, std::move(host))) {}

MeteredTransport::~MeteredTransport() = default;

void MeteredTransport::Send(http::Request request, absl::Duration timeout,
                            http::ResponseCallback done) {
  auto counted = [series = series_, method = request.method, sent = request.body.size(),
                  clock = clock_, start = clock_->Uptime(),
                  done = std::move(done)](absl::StatusOr<http::Response> answer) {
    series->Count(method, answer.ok() ? answer->status : 0);
    series->Observe(method, clock->Uptime() - start, sent, answer.ok() ? answer->body.size() : 0);
    done(std::move(answer));
  };
  inner_->Send(std::move(request), timeout, std::move(counted));
}

std::unique_ptr<http::Stream> MeteredTransport::OpenStream(http::Request request,
                                                           absl::Duration idle_timeout,
                                                           http::StreamObserver* observer) {
  auto stream = std::make_unique<CountingStream>(observer, series_, request.method);
  stream->Open(inner_, std::move(request), idle_timeout);
  return stream;
}

void MeteredTransport::OnLimiterWait(const std::string& method, absl::Duration wait) {
  series_->ObserveWait(method, wait);
}

void MeteredTransport::OnRetry(const std::string& method, int code) {
  series_->CountRetry(method, code);
}

}  // namespace hekla::kube
