#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/http/beast_server.h"
#include "pkg/http/server.h"

namespace hekla::cmd::scheduler {

// The few paths that the scheduler serves. Answers at once.
// Threads: any.
class Endpoints final : public http::Handler {
 public:
  struct Sources {
    // Text of /metrics; null: no such path.
    std::function<std::string()> metrics = nullptr;
    // /healthz and /healthz/ping; /readyz answers 503 until `ready` says true.
    bool health = false;
    std::function<bool()> ready = nullptr;
  };
  explicit Endpoints(Sources sources) : sources_(std::move(sources)) {}

  void Handle(http::Request request, const http::Peer& peer,
              std::shared_ptr<http::Responder> responder) override;
  // The answer to a request; apart for tests.
  http::Response Answer(const http::Request& request) const;

 private:
  const Sources sources_;
};

// How such paths are served on an address: one thread, apart from all work of the process, and
// limits that fit small questions. A slow or silent client holds a connection for seconds; what
// comes above the number of connections is closed at once.
// Errors: kInvalidArgument.
absl::StatusOr<http::BeastServer::Options> EndpointListener(absl::string_view address,
                                                            absl::string_view thread_name);

// ":8080", "127.0.0.1:8080", "[::1]:8080" taken apart.
struct ListenAddress {
  std::string host;  // "": all
  uint16_t port = 0;
};
// Errors: kInvalidArgument.
absl::StatusOr<ListenAddress> ParseListenAddress(absl::string_view text);

}  // namespace hekla::cmd::scheduler
