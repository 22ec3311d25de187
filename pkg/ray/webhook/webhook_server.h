#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "pkg/http/cpprest_listener.h"
#include "pkg/metrics/registry.h"
#include "pkg/ray/webhook/admission.h"
#include "pkg/util/executor.h"

namespace hekla::ray::webhook {

// Serves the webhooks over HTTPS (environment ENABLE_WEBHOOKS=true). The certificate is looked at
// again and again: a renewed one is taken up within `look_every`; while the pair cannot be read,
// the old one stays in use.
// Threads: Start and Stop from the owner's; `background` must have stopped before this goes.
class WebhookServer {
 public:
  struct Options {
    // Holds tls.crt and tls.key.
    std::string folder = DefaultFolder();
    uint16_t port = 9443;  // 0: any free one
    absl::Duration look_every = absl::Seconds(10);
  };
  // `k8s-webhook-server/serving-certs` below $TMPDIR or /tmp, where upstream's Deployment mounts
  // the secret.
  static std::string DefaultFolder();

  WebhookServer(util::Executor* background, metrics::Registry* registry, Options options);
  // Errors: kInvalidArgument, kNotFound (the pair), kUnavailable (the address).
  absl::Status Start();
  void Stop();
  uint16_t port() const { return listener_ == nullptr ? 0 : listener_->port(); }

 private:
  absl::StatusOr<http::ServerTls> ReadPair();
  absl::Status Listen(http::ServerTls pair);
  void LookLater();

  util::Executor* const background_;
  const Options options_;
  metrics::Counter& reads_;
  metrics::Counter& read_errors_;
  AdmissionHandler handler_;
  http::ServerTls pair_;  // in use
  std::unique_ptr<http::CpprestListener> listener_;
};

}  // namespace hekla::ray::webhook
