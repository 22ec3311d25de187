#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "pkg/http/server.h"
#include "pkg/http/tls.h"

namespace hekla::http {

// An HTTP listener on cpprestsdk, against which http_bench measures BeastServer (docs/adr/0001).
// Not for ports that others can reach: it has no limits and no time-outs (docs/adr/0004).
//   - The peer's address and certificate are not known here.
//   - A stream learns that its reader has gone only by its next write.
class CpprestListener {
 public:
  struct Options {
    std::string address = "127.0.0.1";  // "": all
    uint16_t port = 0;                  // 0: one that was free a moment ago
    bool tls = false;
    ServerTls tls_files = {};
    int threads = 2;  // of the library's process-wide pool; only the first user's value counts
  };

  explicit CpprestListener(Options options);
  // As Stop.
  ~CpprestListener();

  // `handler` must outlive Stop. Once only.
  // Errors: kInvalidArgument (TLS), kUnavailable (the address is in use, ...).
  absl::Status Start(Handler* handler);
  uint16_t port() const;
  // Takes no more requests and waits for those under way. Not from a handler.
  void Stop();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hekla::http
