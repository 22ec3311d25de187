#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "pkg/http/beast_transport.h"
#include "pkg/http/client.h"
#include "pkg/http/observer_gate.h"
#include "pkg/http/tls.h"
#include "pkg/http/url.h"

namespace hekla::http {

// A request on its way, or a stream (`gate` set).
struct ClientCall {
  static constexpr int64_t kNever = INT64_MAX / 2;

  std::string wire;         // as sent
  bool repeatable = false;  // on a fresh connection, if a kept one turns out to be closed
  bool head = false;
  int64_t deadline_ms = kNever;  // of a request
  ResponseCallback done;
  std::shared_ptr<ObserverGate> gate;
  int64_t idle_ms = kNever;  // of a stream
  bool cancelled = false;    // on the pool's thread
};

// The connections of a BeastTransport and the thread they live on. All but Start, Post and stats
// run on that thread.
class ClientPool {
 public:
  ClientPool(BeastTransport::Options options, Url url);
  ~ClientPool();

  static int64_t NowMs();  // the clock of deadline_ms

  void Start();
  void Post(std::function<void()> task);
  // Ends everything with kCancelled and joins the thread. From another thread, once.
  void Stop();
  BeastTransport::Stats stats() const;

  void Submit(std::shared_ptr<ClientCall> call);
  void Cancel(const std::shared_ptr<ClientCall>& call);
  void SetContext(SslCtx ctx);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hekla::http
