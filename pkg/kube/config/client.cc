#include "pkg/kube/config/client.h"

#include <utility>

#include "pkg/http/beast_transport.h"
#include "pkg/http/url.h"
#include "pkg/kube/config/credentials.h"
#include "pkg/kube/config/exec_plugin.h"
#include "pkg/util/clock.h"
#include "pkg/util/status_macros.h"

namespace hekla::kube {

// In the order of construction; the client goes first, the transport last. A plugin that still runs
// in the background keeps the reloader until it has ended.
struct Client::Parts {
  util::SystemClock clock;
  std::shared_ptr<http::BeastTransport> transport;
  std::unique_ptr<MeteredTransport> metered;  // null: nothing is counted
  std::shared_ptr<CertificateReloader> reloader;
  std::unique_ptr<Authorizer> authorizer;
  std::unique_ptr<RestClient> rest;
};

absl::StatusOr<std::unique_ptr<Client>> Client::Create(const ClientConfig& config,
                                                       Executor* executor, Executor* background,
                                                       Options options) {
  HEKLA_ASSIGN_OR_RETURN(const http::Url url, http::ParseUrl(config.server));
  auto parts = std::make_unique<Parts>();
  http::BeastTransport::Options transport;
  transport.url = config.server;
  transport.tls = config.tls;
  transport.max_connections = options.max_connections;
  transport.thread_name = options.thread_name;
  if (options.metrics != nullptr) {
    transport.on_resolved = [metrics = options.metrics, host = url.host](absl::Duration took) {
      metrics->resolution.With({host})->Observe(absl::ToDoubleSeconds(took));
    };
  }
  HEKLA_ASSIGN_OR_RETURN(parts->transport, http::BeastTransport::Create(std::move(transport)));
  parts->reloader = std::make_shared<CertificateReloader>(
      config, background,
      [weak = std::weak_ptr<http::BeastTransport>(parts->transport)](const http::ClientTls& tls) {
        const auto transport = weak.lock();
        return transport == nullptr ? absl::OkStatus() : transport->SetTls(tls);
      });
  if (config.exec.has_value()) {
    ClusterEntry cluster = config.cluster;
    if (cluster.ca_data.empty()) cluster.ca_data = config.tls.ca_pem;
    parts->authorizer = std::make_unique<ExecAuthorizer>(
        ImpersonationHeaders(config), background,
        [exec = *config.exec, cluster](std::stop_token stop) {
          return RunExecPlugin(exec, cluster, kPluginTimeLimit, std::move(stop));
        },
        [reloader = parts->reloader](const std::string& cert_pem, const std::string& key_pem) {
          reloader->SetClientCertificate(cert_pem, key_pem);
        });
  } else {
    HEKLA_ASSIGN_OR_RETURN(parts->authorizer, StaticAuthorizer::Create(config, &parts->clock));
  }
  http::Transport* outer = parts->transport.get();
  if (options.metrics != nullptr) {
    parts->metered =
        std::make_unique<MeteredTransport>(outer, options.metrics, &parts->clock, url.Authority());
    outer = parts->metered.get();
    options.rest.observer = parts->metered.get();
  }
  options.rest.path_prefix = url.path;
  parts->rest = std::make_unique<RestClient>(
      RestClient::Deps{
          .transport = outer, .executor = executor, .authorizer = parts->authorizer.get()},
      std::move(options.rest));
  return std::unique_ptr<Client>(new Client(std::move(parts)));
}

Client::Client(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Client::~Client() = default;

RestClient& Client::rest() { return *parts_->rest; }
http::Transport& Client::transport() {
  if (parts_->metered != nullptr) return *parts_->metered;
  return *parts_->transport;
}

}  // namespace hekla::kube
