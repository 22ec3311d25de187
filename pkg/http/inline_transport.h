#pragma once

#include <functional>
#include <memory>

#include "pkg/http/client.h"
#include "pkg/http/server.h"

namespace hekla::http {

// A Transport whose server is a Handler in the same process and which answers *inside* Send: the
// whole exchange is over when the call returns, so that a caller that waits for its answer needs no
// second thread. For single-threaded drivers: simulation, conformance runs, tests.
// There are no streams; watches go through a LoopbackTransport beside it.
// Under a kube::RestClient: without an authorizer, with qps 0 and max_retries 0 (a wait for a token
// or a retry would never end).
// Threads: one.
class InlineTransport final : public Transport {
 public:
  using Answer = absl::StatusOr<Response>;
  // Sees every request and what happens to it: calls `forward` (at most once) to let the handler
  // have it, and returns what the caller shall see. Faults, delays and records go here.
  using Next = std::function<Answer(Request request)>;
  using Intercept = std::function<Answer(Request request, const Next& forward)>;

  // `handler` must outlive the transport.
  explicit InlineTransport(Handler* handler, Intercept intercept = nullptr);

  // Errors: kDeadlineExceeded where the handler did not answer at once; otherwise as Transport.
  void Send(Request request, absl::Duration timeout, ResponseCallback done) override;
  // Opens nothing; the observer hears nothing.
  std::unique_ptr<Stream> OpenStream(Request request, absl::Duration idle_timeout,
                                     StreamObserver* observer) override;

 private:
  Answer Forward(Request request);

  Handler* const handler_;
  const Intercept intercept_;
};

}  // namespace hekla::http
