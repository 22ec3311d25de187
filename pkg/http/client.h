#pragma once

#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/http/message.h"

namespace hekla::http {

// What arrives on an open stream (a watch). Calls come one at a time, in order; OnEnd is the last.
// Threads: the transport's; implementations hand over and return at once.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  // Status line and headers. For a status other than 2xx the body follows through OnData as usual.
  virtual void OnHeaders(int status, const Headers& headers) = 0;
  virtual void OnData(absl::string_view bytes) = 0;
  // OK: the server closed the stream in order. kUnavailable: connection lost or refused.
  // kDeadlineExceeded: nothing arrived for the idle time-out.
  virtual void OnEnd(const absl::Status& status) = 0;
};

// An open stream. Destroying it cancels; after the destructor has returned, the observer is not
// called again.
class Stream {
 public:
  virtual ~Stream() = default;
};

using ResponseCallback = std::function<void(absl::StatusOr<Response>)>;

// Sends requests to one server. The seam between everything that speaks to an API server and the
// way bytes travel: real HTTP, the embedded server in the same process, or a simulated network.
// Threads: any may call; callbacks come on the transport's threads (or, for passive transports,
// from
//          whoever drives them), never from inside the call itself.
class Transport {
 public:
  virtual ~Transport() = default;
  // `done` is called once. Any HTTP status is a Response; errors are: kUnavailable (no connection,
  // connection lost), kDeadlineExceeded (`timeout` passed), kCancelled (transport shut down).
  virtual void Send(Request request, absl::Duration timeout, ResponseCallback done) = 0;
  // `observer` must live until the Stream is destroyed. `idle_timeout` infinite: never.
  virtual std::unique_ptr<Stream> OpenStream(Request request, absl::Duration idle_timeout,
                                             StreamObserver* observer) = 0;
};

// Waits for the answer. Not on a transport thread.
absl::StatusOr<Response> SendAndWait(Transport& transport, Request request, absl::Duration timeout);

}  // namespace hekla::http
