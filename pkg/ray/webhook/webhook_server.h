#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "pkg/http/beast_server.h"
#include "pkg/metrics/registry.h"
#include "pkg/ray/webhook/admission.h"
#include "pkg/util/executor.h"

namespace hekla::ray::webhook {

// Serves the webhooks over HTTPS on all addresses (environment ENABLE_WEBHOOKS=true). The
// certificate is looked at again and again: a renewed one is taken up within `look_every`, for new
// connections and without closing the port; while the pair cannot be used, the old one stays.
// Threads: Start, Stop and port from the owner's; `background` must have stopped before this goes.
class WebhookServer {
 public:
  struct Options {
    // Holds tls.crt and tls.key.
    std::string folder = DefaultFolder();
    uint16_t port = 9443;  // 0: any free one
    absl::Duration look_every = absl::Seconds(10);
    // Limits and times; address, port and TLS do not count.
    http::BeastServer::Options listener = Listener();
  };
  // `k8s-webhook-server/serving-certs` below $TMPDIR or /tmp, where upstream's Deployment mounts
  // the secret.
  static std::string DefaultFolder();
  // Room for what an API server may send (an old and a new object of 3 MiB each), and for as many
  // requests at a time as it lets change something. Whoever is slow or silent is cut off within
  // seconds; a connection that served stays longer than API servers keep theirs.
  static http::BeastServer::Options Listener();

  WebhookServer(util::Executor* background, metrics::Registry* registry, Options options);
  // Errors: kInvalidArgument, kNotFound (the pair), kUnavailable (the address).
  absl::Status Start();
  void Stop();
  uint16_t port() const { return server_ == nullptr ? 0 : server_->port(); }

 private:
  absl::StatusOr<http::ServerTls> ReadPair();
  absl::Status TakeUp(const absl::StatusOr<http::ServerTls>& pair);
  void LookLater();

  util::Executor* const background_;
  const Options options_;
  metrics::Counter& reads_;
  metrics::Counter& read_errors_;
  AdmissionHandler handler_;
  http::ServerTls pair_;  // in use
  std::unique_ptr<http::BeastServer> server_;
};

}  // namespace hekla::ray::webhook
