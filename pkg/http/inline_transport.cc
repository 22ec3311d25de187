#include "pkg/http/inline_transport.h"

#include <optional>
#include <utility>

#include "absl/synchronization/mutex.h"

namespace hekla::http {
namespace {

// Keeps the answer if it comes in time; streams are hung up at once.
class Capture final : public Responder {
 public:
  void Respond(Response response) override {
    absl::MutexLock lock(&mutex_);
    response_ = std::move(response);
  }
  std::shared_ptr<StreamWriter> StartStream(int, Headers) override {
    class Closed final : public StreamWriter {
     public:
      bool Write(std::shared_ptr<const std::string>) override { return false; }
      void Close() override {}
      void SetOnClosed(std::function<void()> on_closed) override { on_closed(); }
      size_t queued_bytes() const override { return 0; }
    };
    return std::make_shared<Closed>();
  }
  std::optional<Response> Take() {
    absl::MutexLock lock(&mutex_);
    return std::exchange(response_, std::nullopt);
  }

 private:
  absl::Mutex mutex_;
  std::optional<Response> response_ ABSL_GUARDED_BY(mutex_);
};

class NoStream final : public Stream {};

}  // namespace

InlineTransport::InlineTransport(Handler* handler, Intercept intercept)
    : handler_(handler), intercept_(std::move(intercept)) {}

InlineTransport::Answer InlineTransport::Forward(Request request) {
  const auto capture = std::make_shared<Capture>();
  handler_->Handle(std::move(request), Peer(), capture);
  std::optional<Response> response = capture->Take();
  if (response.has_value()) return *std::move(response);
  return absl::DeadlineExceededError("the server did not answer at once");
}

void InlineTransport::Send(Request request, absl::Duration, ResponseCallback done) {
  done(intercept_ ? intercept_(std::move(request),
                               [this](Request forwarded) { return Forward(std::move(forwarded)); })
                  : Forward(std::move(request)));
}

std::unique_ptr<Stream> InlineTransport::OpenStream(Request, absl::Duration, StreamObserver*) {
  return std::make_unique<NoStream>();
}

}  // namespace hekla::http
