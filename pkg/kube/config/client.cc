#include "pkg/kube/config/client.h"

#include <utility>

#include "pkg/http/beast_transport.h"
#include "pkg/http/url.h"
#include "pkg/kube/config/credentials.h"
#include "pkg/kube/config/exec_plugin.h"
#include "pkg/util/clock.h"
#include "pkg/util/status_macros.h"

namespace hekla::kube {

// In the order of construction; the client goes first, the transport last.
struct Client::Parts {
  util::SystemClock clock;
  std::unique_ptr<http::BeastTransport> transport;
  std::unique_ptr<CertificateReloader> reloader;
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
  HEKLA_ASSIGN_OR_RETURN(parts->transport, http::BeastTransport::Create(std::move(transport)));
  parts->reloader = std::make_unique<CertificateReloader>(
      config, background,
      [raw = parts->transport.get()](const http::ClientTls& tls) { return raw->SetTls(tls); });
  if (config.exec.has_value()) {
    ClusterEntry cluster = config.cluster;
    if (cluster.ca_data.empty()) cluster.ca_data = config.tls.ca_pem;
    parts->authorizer = std::make_unique<ExecAuthorizer>(
        ImpersonationHeaders(config), background,
        [exec = *config.exec, cluster] { return RunExecPlugin(exec, cluster); },
        [raw = parts->reloader.get()](const std::string& cert_pem, const std::string& key_pem) {
          raw->SetClientCertificate(cert_pem, key_pem);
        });
  } else {
    HEKLA_ASSIGN_OR_RETURN(parts->authorizer, StaticAuthorizer::Create(config, &parts->clock));
  }
  options.rest.path_prefix = url.path;
  parts->rest =
      std::make_unique<RestClient>(RestClient::Deps{.transport = parts->transport.get(),
                                                    .executor = executor,
                                                    .authorizer = parts->authorizer.get()},
                                   std::move(options.rest));
  return std::unique_ptr<Client>(new Client(std::move(parts)));
}

Client::Client(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Client::~Client() {
  // Answers that are under way still use the client's credentials, so the transport ends first.
  parts_->rest.reset();
}

RestClient& Client::rest() { return *parts_->rest; }
http::Transport& Client::transport() { return *parts_->transport; }

}  // namespace hekla::kube
