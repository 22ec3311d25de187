#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "pkg/http/server.h"
#include "pkg/http/tls.h"

namespace hekla::http {

// An HTTP/1.1 listener on Boost.Beast: many connections on few threads, keep-alive, chunked
// streams that share buffers, TLS with client certificates. Every connection lives on one thread.
//   - A Responder that is dropped without an answer answers 500.
//   - HEAD, Expect: 100-continue, HTTP/1.0 and pipelined requests are served as they should be.
//   - Limits: header 431, body 413, malformed 400; slow senders and silent connections are closed.
//   - Certificates of clients are verified when a client CA is given.
class BeastServer {
 public:
  struct Options {
    std::string address = "127.0.0.1";  // or a host's name; "": all of IPv6 and IPv4
    uint16_t port = 0;                  // 0: any free one, see port()
    int threads = 1;
    std::string thread_name = "http";
    bool tls = false;
    ServerTls tls_files = {};
    size_t max_header_bytes = 1 << 20;
    size_t max_body_bytes = 16 << 20;
    size_t max_connections = 16384;  // more are accepted and closed at once
    // A stream whose reader lets more than this pile up is cut off.
    size_t max_stream_queue_bytes = 256 << 20;
    // Answers from this size on are compressed for clients that accept it; 0: never.
    size_t gzip_min_bytes = 0;
    absl::Duration header_timeout = absl::Seconds(5);  // from a request's first byte
    // The whole request; also the patience with a new connection that sends nothing, and, up to ten
    // seconds, with a TLS handshake.
    absl::Duration read_timeout = absl::Seconds(30);
    absl::Duration write_timeout = absl::Seconds(60);  // without any progress
    absl::Duration idle_timeout = absl::Seconds(180);  // keep-alive between requests
    absl::Duration drain_timeout = absl::Seconds(2);   // for answers under way at Stop
  };

  explicit BeastServer(Options options);
  // As Stop.
  ~BeastServer();
  BeastServer(const BeastServer&) = delete;
  BeastServer& operator=(const BeastServer&) = delete;

  // Binds, listens and starts the threads. `handler` must outlive Stop. Once only.
  // Errors: kInvalidArgument (TLS, address), kUnavailable (the address is in use, …).
  absl::Status Start(Handler* handler);
  // With what connections are served that come from now on; those that are open keep theirs.
  // Between Start and Stop, and only where TLS was on at Start. Any thread.
  // Errors: kInvalidArgument: nothing is changed.
  absl::Status SetTls(const ServerTls& tls);
  // The port that was bound; 0 before Start.
  uint16_t port() const;
  // Connections that are open.
  size_t connections() const;
  // Takes no more requests, ends streams in order, lets answers under way finish within
  // drain_timeout, closes the rest and joins the threads. Responders and StreamWriters stay valid
  // and do nothing. Not from a handler.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hekla::http
