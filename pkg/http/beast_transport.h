#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/http/client.h"
#include "pkg/http/tls.h"

namespace hekla::http {

// A Transport over HTTP/1.1 on Boost.Beast: one thread, a pool of keep-alive connections for
// requests, one connection per open stream.
//   - A request waits for a free connection when all are busy; waiting counts into its time-out.
//   - A GET or HEAD on a kept connection that turns out to be closed is sent again on a new one;
//     other methods fail with kUnavailable, because the server may have acted.
//   - Bodies of requests' answers that come compressed with gzip are unpacked; streams are not.
//   - Streams end promptly when destroyed: their connection is closed.
class BeastTransport final : public Transport {
 public:
  struct Options {
    std::string url = {};  // "https://host:port"; a path is not used here
    ClientTls tls = {};
    size_t max_connections = 32;  // for requests
    absl::Duration connect_timeout = absl::Seconds(30);
    absl::Duration handshake_timeout = absl::Seconds(10);
    // Kept connections are closed after this; must be less than what servers allow.
    absl::Duration idle_timeout = absl::Seconds(90);
    size_t max_body_bytes = size_t{1} << 30;
    std::string thread_name = "http-client";
    // Told how long it took to resolve the host's name, whether or not that succeeded; not called
    // for addresses. On the transport's thread; may be null.
    std::function<void(absl::Duration)> on_resolved = nullptr;
  };
  struct Stats {
    size_t connections = 0;  // open now, streams included
    size_t idle = 0;
    size_t waiting = 0;     // requests without a connection
    uint64_t connects = 0;  // connections ever opened
  };

  // Errors: kInvalidArgument: URL or TLS settings.
  static absl::StatusOr<std::unique_ptr<BeastTransport>> Create(Options options);
  // Everything under way ends with kCancelled; joins the thread. Not from a callback.
  ~BeastTransport() override;

  void Send(Request request, absl::Duration timeout, ResponseCallback done) override;
  std::unique_ptr<Stream> OpenStream(Request request, absl::Duration idle_timeout,
                                     StreamObserver* observer) override;
  // New connections use these settings; kept ones are closed, busy ones after their request.
  absl::Status SetTls(const ClientTls& tls);
  Stats stats() const;

 private:
  class Impl;
  explicit BeastTransport(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hekla::http
