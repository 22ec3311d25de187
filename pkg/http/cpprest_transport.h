#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "pkg/http/client.h"
#include "pkg/http/tls.h"
#include "pkg/util/executor.h"

namespace hekla::http {

// A Transport over cpprestsdk's client, on the library's thread pool. Time-outs and idle times are
// kept by timers of its own, because the library's would end quiet streams. BeastTransport is the
// fast one; docs/adr/0002 has the numbers.
class CpprestTransport final : public Transport {
 public:
  struct Options {
    std::string url = {};  // "https://host:port"
    ClientTls tls = {};    // server_name must be empty or the URL's host
    // Of the library's process-wide pool; only the first transport's value counts.
    int threads = 2;
  };

  // Errors: kInvalidArgument: URL or TLS settings; kUnimplemented: another server_name.
  static absl::StatusOr<std::unique_ptr<CpprestTransport>> Create(Options options);
  // Everything under way ends with kCancelled before this returns.
  ~CpprestTransport() override;

  void Send(Request request, absl::Duration timeout, ResponseCallback done) override;
  std::unique_ptr<Stream> OpenStream(Request request, absl::Duration idle_timeout,
                                     StreamObserver* observer) override;

 private:
  class Impl;
  explicit CpprestTransport(std::unique_ptr<Impl> impl);
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hekla::http
