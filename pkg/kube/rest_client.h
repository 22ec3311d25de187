#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/http/client.h"
#include "pkg/kube/authorizer.h"
#include "pkg/kube/executor.h"
#include "pkg/util/rate_limiter.h"

namespace hekla::kube {

// One request to the API, before credentials, prefix and limits.
struct RestRequest {
  std::string method = {};                                      // "GET"
  std::string path = {};                                        // "/api/v1/pods", made by Resource
  std::vector<std::pair<std::string, std::string>> query = {};  // not yet encoded
  std::string body = {};
  std::string content_type = "application/json";
  std::string accept = "application/json";
  // For messages: "pods web-1".
  std::string subject = {};
  // From the moment the request leaves the limiter. Zero: the client's default.
  absl::Duration timeout = absl::ZeroDuration();
};

// Learns what a client does beside sending.
// Threads: any, several at once.
class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  // A request had to wait so long for the client's own limit, often not at all. Not called where
  // there is no limit.
  virtual void OnLimiterWait(const std::string& method, absl::Duration wait) = 0;
  // An answer after which the request is tried again; `code` 0: no answer came.
  virtual void OnRetry(const std::string& method, int code) = 0;
};

// Sends requests to one API server: path prefix, credentials, User-Agent, client-side limit,
// retries (spec 1.10, 1.11), and failures as absl::Status (api_status.h).
//   - 429 and >= 500 with an integer Retry-After are tried again after it, up to 10 times; GETs
//   also
//     after a lost or refused connection, 1 s apart. Every try takes a token of the limiter.
//   - Watches bypass the limiter and are not tried again: the reflector does that.
// Threads: any may call. `done` comes on the transport's threads or on the executor, never from
//          inside the call. Destroying the client drops requests that wait for a token or a retry;
//          their `done` is called with kCancelled.
class RestClient {
 public:
  struct Options {
    std::string path_prefix = {};  // of the server URL: "" or "/k8s/clusters/c-1"
    std::string user_agent = "hekla";
    double qps = 5;  // <= 0: no limit
    double burst = 10;
    absl::Duration timeout = absl::Seconds(60);
    int max_retries = 10;
    // Asked before every try of a request that is not a GET; false: it does not leave, and ends
    // with kUnavailable. A process that may have lost its lease writes nothing, whatever its timers
    // still do. Any thread; may be null.
    std::function<bool()> may_write = nullptr;
    RequestObserver* observer = nullptr;  // outlives the client; may be null
  };
  struct Deps {
    http::Transport* transport = nullptr;
    Executor* executor = nullptr;      // for waiting only
    Authorizer* authorizer = nullptr;  // may be null
  };
  using Done = std::function<void(absl::StatusOr<http::Response>)>;

  // Deps must outlive the client.
  RestClient(Deps deps, Options options);
  ~RestClient();
  RestClient(const RestClient&) = delete;
  RestClient& operator=(const RestClient&) = delete;

  // `done` gets 2xx answers; everything else is a status.
  void Send(RestRequest request, Done done);
  // kUnavailable where may_write says no. For who waits for answers of Send to writes: a
  // refusal comes on the executor, which may be his own thread.
  absl::Status CheckMayWrite() const;
  // Waits for the answer. Not on threads of the transport or the executor.
  absl::StatusOr<http::Response> SendAndWait(RestRequest request);
  // Opens a stream. Any HTTP status reaches the observer. Credentials that have to be fetched first
  // end it with kUnauthenticated, and are there at the next try.
  std::unique_ptr<http::Stream> OpenStream(RestRequest request, absl::Duration idle_timeout,
                                           http::StreamObserver* observer);

  Executor& executor() { return *deps_.executor; }
  const Options& options() const { return options_; }

 private:
  class Core;
  const Deps deps_;
  const Options options_;
  const std::shared_ptr<Core> core_;
};

}  // namespace hekla::kube
