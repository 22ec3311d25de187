#include "pkg/ray/webhook/webhook_server.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/kube/config/environment.h"
#include "pkg/util/status_macros.h"

namespace hekla::ray::webhook {

std::string WebhookServer::DefaultFolder() {
  const char* const temporary = std::getenv("TMPDIR");
  return absl::StrCat(temporary == nullptr || *temporary == '\0' ? "/tmp" : temporary,
                      "/k8s-webhook-server/serving-certs");
}

http::BeastServer::Options WebhookServer::Listener() {
  http::BeastServer::Options options;
  options.thread_name = "webhook";
  options.max_header_bytes = 16 << 10;
  options.max_body_bytes = 7 << 20;
  options.max_connections = 256;
  options.header_timeout = absl::Seconds(5);
  options.read_timeout = absl::Seconds(10);  // so long an API server waits for a webhook by default
  options.write_timeout = absl::Seconds(10);
  options.idle_timeout = absl::Seconds(120);  // Go's clients close after 90 s, before us
  options.drain_timeout = absl::Milliseconds(200);
  return options;
}

WebhookServer::WebhookServer(util::Executor* background, metrics::Registry* registry,
                             Options options)
    : background_(background),
      options_(std::move(options)),
      reads_(registry->NewCounter("certwatcher_read_certificate_total",
                                  "Total number of certificate reads")),
      read_errors_(registry->NewCounter("certwatcher_read_certificate_errors_total",
                                        "Total number of certificate read errors")) {}

absl::Status WebhookServer::Start() {
  HEKLA_ASSIGN_OR_RETURN(pair_, ReadPair());
  http::BeastServer::Options listener = options_.listener;
  listener.address = "";
  listener.port = options_.port;
  listener.tls = true;
  listener.tls_files = pair_;
  auto server = std::make_unique<http::BeastServer>(std::move(listener));
  HEKLA_RETURN_IF_ERROR(server->Start(&handler_));
  server_ = std::move(server);
  LOG(INFO) << "serving webhooks port=" << port();
  LookLater();
  return absl::OkStatus();
}

void WebhookServer::Stop() { server_.reset(); }

absl::StatusOr<http::ServerTls> WebhookServer::ReadPair() {
  reads_.Add();
  http::ServerTls pair;
  for (const auto& [name, text] :
       {std::pair("tls.crt", &pair.cert_pem), std::pair("tls.key", &pair.key_pem)}) {
    const absl::StatusOr<std::string> read =
        kube::ReadFile(absl::StrCat(options_.folder, "/", name));
    if (!read.ok()) {
      read_errors_.Add();
      return read.status();
    }
    *text = *read;
  }
  return pair;
}

absl::Status WebhookServer::TakeUp(const absl::StatusOr<http::ServerTls>& pair) {
  HEKLA_RETURN_IF_ERROR(pair.status());
  if (pair->cert_pem == pair_.cert_pem && pair->key_pem == pair_.key_pem) return absl::OkStatus();
  HEKLA_RETURN_IF_ERROR(server_->SetTls(*pair));
  pair_ = *pair;
  LOG(INFO) << "webhook certificate renewed";
  return absl::OkStatus();
}

void WebhookServer::LookLater() {
  background_->PostAfter(options_.look_every, [this] {
    const absl::Status status = TakeUp(ReadPair());
    if (!status.ok()) LOG(WARNING) << "webhook certificate not taken up error=" << status.message();
    LookLater();
  });
}

}  // namespace hekla::ray::webhook
