#pragma once

#include <memory>
#include <string>

#include "pkg/http/client.h"
#include "pkg/http/server.h"
#include "pkg/util/executor.h"

namespace hekla::http {

// A Transport whose server is a Handler in the same process: no sockets, no threads. Requests are
// handed to the handler, and answers to the caller, as tasks of the executor, in order; with a
// ManualExecutor the whole exchange runs step by step under virtual time.
// Threads: the executor's. Handlers may answer from any thread.
class LoopbackTransport final : public Transport {
 public:
  // Both must outlive the transport. `peer` is what the handler sees as the client.
  LoopbackTransport(Handler* handler, util::Executor* executor, Peer peer = {});
  // Requests that are under way end with kCancelled (as a task of the executor).
  ~LoopbackTransport() override;

  void Send(Request request, absl::Duration timeout, ResponseCallback done) override;
  std::unique_ptr<Stream> OpenStream(Request request, absl::Duration idle_timeout,
                                     StreamObserver* observer) override;
  // Breaks what is open, as a lost connection would: streams and requests end with kUnavailable.
  // The handler still sees the requests that it was given.
  void DropConnections();

 private:
  class Core;
  const std::shared_ptr<Core> core_;
};

}  // namespace hekla::http
