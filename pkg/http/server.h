#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/http/message.h"

namespace hekla::http {

// The sending side of a streamed answer. May be used from any thread, also after the peer has gone.
class StreamWriter {
 public:
  virtual ~StreamWriter() = default;
  // Queues bytes; the same buffer may be queued on many streams. Returns false once the stream is
  // closed (peer gone, Close called); bytes are then dropped.
  virtual bool Write(std::shared_ptr<const std::string> bytes) = 0;
  // Ends the answer in order after what is queued.
  virtual void Close() = 0;
  // Called once, when the peer has gone or Close has finished; at once if that was before. Set it
  // before the first Write.
  virtual void SetOnClosed(std::function<void()> on_closed) = 0;
  // Bytes queued and not yet taken by the network. A slow reader can be cut off by Close.
  virtual size_t queued_bytes() const = 0;
};

// How a handler answers one request: exactly one of the two calls, now or later, from any thread.
class Responder {
 public:
  virtual ~Responder() = default;
  virtual void Respond(Response response) = 0;
  virtual std::shared_ptr<StreamWriter> StartStream(int status, Headers headers) = 0;
};

// The client's identity as far as the connection tells it.
struct Peer {
  std::string address;              // "127.0.0.1:4711"; "" for in-process calls
  std::string certificate_subject;  // verified client certificate: "CN=…,O=…"; else ""
};

// Serves requests. Threads: called on several server threads at once; must not block for long.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual void Handle(Request request, const Peer& peer, std::shared_ptr<Responder> responder) = 0;
};

}  // namespace hekla::http
