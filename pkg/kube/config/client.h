#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "pkg/http/client.h"
#include "pkg/kube/config/client_config.h"
#include "pkg/kube/executor.h"
#include "pkg/kube/metered_transport.h"
#include "pkg/kube/rest_client.h"

namespace hekla::kube {

// A client of one API server over HTTP with everything it needs: transport, credentials, limits.
class Client {
 public:
  struct Options {
    RestClient::Options rest = {};  // path_prefix is taken from the server's URL
    size_t max_connections = 32;
    std::string thread_name = "kube-client";
    // What requests and watches are counted in; outlives the client. May be null.
    ClientMetrics* metrics = nullptr;
  };

  // `executor`: for waiting (limits, retries); `background`: for what may block (exec plugins,
  // reading files); may be the same where none is used. Both must outlive the client.
  static absl::StatusOr<std::unique_ptr<Client>> Create(const ClientConfig& config,
                                                        Executor* executor, Executor* background,
                                                        Options options);
  ~Client();

  RestClient& rest();
  http::Transport& transport();

 private:
  struct Parts;
  explicit Client(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace hekla::kube
