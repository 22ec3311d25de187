#include "cmd/scheduler/endpoints.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "pkg/metrics/registry.h"
#include "pkg/util/status_macros.h"

namespace hekla::cmd::scheduler {
namespace {

http::Response Text(int status, std::string body,
                    absl::string_view type = "text/plain; charset=utf-8") {
  http::Response response;
  response.status = status;
  response.headers.Set("Content-Type", type);
  response.body = std::move(body);
  return response;
}

}  // namespace

void Endpoints::Handle(http::Request request, const http::Peer& peer,
                       std::shared_ptr<http::Responder> responder) {
  (void)peer;
  responder->Respond(Answer(request));
}

http::Response Endpoints::Answer(const http::Request& request) const {
  const std::string path = http::ParseTarget(request.target).path;
  if (request.method != "GET" && request.method != "HEAD") {
    return Text(405, "method not allowed\n");
  }
  if (sources_.health && (path == "/healthz" || path == "/healthz/ping")) return Text(200, "ok");
  if (sources_.health && path == "/readyz" && sources_.ready) {
    return sources_.ready() ? Text(200, "ok") : Text(503, "initial lists are not complete\n");
  }
  if (sources_.metrics && path == "/metrics") {
    return Text(200, sources_.metrics(), metrics::kTextContentType);
  }
  return Text(404, "404 page not found\n");
}

absl::StatusOr<http::BeastServer::Options> EndpointListener(absl::string_view address,
                                                            absl::string_view thread_name) {
  HEKLA_ASSIGN_OR_RETURN(const ListenAddress parsed, ParseListenAddress(address));
  http::BeastServer::Options options;
  options.address = parsed.host;
  options.port = parsed.port;
  options.thread_name = std::string(thread_name);
  options.max_header_bytes = 16 << 10;
  options.max_body_bytes = 16 << 10;
  options.max_connections = 256;
  options.header_timeout = absl::Seconds(5);
  options.read_timeout = absl::Seconds(10);
  options.write_timeout = absl::Seconds(30);
  options.idle_timeout = absl::Seconds(60);
  options.gzip_min_bytes = 4 << 10;  // metrics shrink to a tenth
  options.drain_timeout = absl::Milliseconds(200);
  return options;
}

absl::StatusOr<ListenAddress> ParseListenAddress(absl::string_view text) {
  const size_t colon = text.rfind(':');
  ListenAddress address;
  int port = 0;
  if (colon == absl::string_view::npos || !absl::SimpleAtoi(text.substr(colon + 1), &port) ||
      port < 0 || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("address \"", text, "\" is not of the form host:port"));
  }
  absl::string_view host = text.substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  address.host = std::string(host);
  address.port = static_cast<uint16_t>(port);
  return address;
}

}  // namespace hekla::cmd::scheduler
