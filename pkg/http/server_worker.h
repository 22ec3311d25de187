#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "pkg/http/beast_server.h"
#include "pkg/http/server.h"
#include "pkg/http/tls.h"

namespace hekla::http {

// What all connections of one server share. Fixed after Start, but for the counter.
struct ServerShared {
  BeastServer::Options options;
  Handler* handler = nullptr;
  SslCtx tls;  // the first; null: plain HTTP
  std::atomic<size_t> connections{0};
};

// One thread of a server with the connections that live on it.
class ServerWorker {
 public:
  explicit ServerWorker(std::shared_ptr<ServerShared> shared);
  ~ServerWorker();

  void Start(const std::string& thread_name);
  // Takes over an accepted socket. Any thread.
  void Adopt(int socket, bool is_v6);
  // For sockets that are taken over from now on. Any thread.
  void SetTls(ssl_ctx_st* context);
  // Ends what is open, see BeastServer::Stop. Nothing may be adopted any more.
  void BeginStop();
  void Join();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace hekla::http
