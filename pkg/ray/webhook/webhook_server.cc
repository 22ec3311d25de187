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

WebhookServer::WebhookServer(util::Executor* background, metrics::Registry* registry,
                             Options options)
    : background_(background),
      options_(std::move(options)),
      reads_(registry->NewCounter("certwatcher_read_certificate_total",
                                  "Total number of certificate reads")),
      read_errors_(registry->NewCounter("certwatcher_read_certificate_errors_total",
                                        "Total number of certificate read errors")) {}

absl::Status WebhookServer::Start() {
  HEKLA_ASSIGN_OR_RETURN(http::ServerTls pair, ReadPair());
  HEKLA_RETURN_IF_ERROR(Listen(std::move(pair)));
  LookLater();
  return absl::OkStatus();
}

void WebhookServer::Stop() { listener_.reset(); }

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

absl::Status WebhookServer::Listen(http::ServerTls pair) {
  // What cannot be served does not take the place of what can.
  HEKLA_RETURN_IF_ERROR(http::MakeServerContext(pair).status());
  http::CpprestListener::Options options;
  options.address = "";
  options.port = listener_ == nullptr ? options_.port : listener_->port();
  options.tls = true;
  options.tls_files = pair;
  listener_.reset();
  listener_ = std::make_unique<http::CpprestListener>(std::move(options));
  HEKLA_RETURN_IF_ERROR(listener_->Start(&handler_));
  pair_ = std::move(pair);
  LOG(INFO) << "serving webhooks port=" << listener_->port();
  return absl::OkStatus();
}

void WebhookServer::LookLater() {
  background_->PostAfter(options_.look_every, [this] {
    absl::StatusOr<http::ServerTls> pair = ReadPair();
    absl::Status status = pair.status();
    if (pair.ok() && (pair->cert_pem != pair_.cert_pem || pair->key_pem != pair_.key_pem)) {
      status = Listen(*std::move(pair));
    }
    if (!status.ok()) LOG(WARNING) << "webhook certificate not taken up error=" << status.message();
    LookLater();
  });
}

}  // namespace hekla::ray::webhook
