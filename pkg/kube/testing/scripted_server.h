#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pkg/http/loopback_transport.h"
#include "pkg/http/server.h"
#include "pkg/util/clock.h"
#include "pkg/util/manual_executor.h"

namespace hekla::kube {

// A server whose answers a test gives by hand, with a clock and an executor that it drives.
class ScriptedServer final : public http::Handler {
 public:
  struct Call {
    http::Request request;
    std::shared_ptr<http::Responder> responder;
    std::shared_ptr<http::StreamWriter> stream;

    http::Target target() const { return http::ParseTarget(request.target); }
    void Answer(int status, std::string body, const std::string& retry_after = "") {
      http::Response response;
      response.status = status;
      response.body = std::move(body);
      if (!retry_after.empty()) response.headers.Set("Retry-After", retry_after);
      responder->Respond(std::move(response));
    }
    void Stream(const std::string& text) {
      if (stream == nullptr) stream = responder->StartStream(200, http::Headers());
      stream->Write(std::make_shared<const std::string>(text));
    }
    void CloseStream() {
      if (stream == nullptr) stream = responder->StartStream(200, http::Headers());
      stream->Close();
    }
  };

  void Handle(http::Request request, const http::Peer&,
              std::shared_ptr<http::Responder> responder) override {
    calls.push_back(Call{std::move(request), std::move(responder), nullptr});
  }

  // Runs what is due and returns the newest request that was not taken yet; fails the test's
  // expectations by an empty method where there is none.
  Call& Next() {
    executor.RunReady();
    if (taken == calls.size()) {
      static Call none;
      none = Call();
      return none;
    }
    return calls[taken++];
  }
  bool Idle() {
    executor.RunReady();
    return taken == calls.size();
  }

  util::FakeClock clock;
  util::SkewedClock wall{&clock};  // the client's, which may be set
  util::ManualExecutor executor{&clock, &wall};
  http::LoopbackTransport transport{this, &executor};
  size_t taken = 0;
  std::deque<Call> calls;  // last: unanswered ones answer through the executor when they go
};

}  // namespace hekla::kube
