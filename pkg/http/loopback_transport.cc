#include "pkg/http/loopback_transport.h"

#include <atomic>
#include <list>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "glog/logging.h"

namespace hekla::http {
namespace {

// One exchange. The client's side lives on the executor; the server's side may be anywhere.
class Call {
 public:
  virtual ~Call() = default;
  // Ends the call from the client's side. On the executor.
  virtual void Break(const absl::Status& status) = 0;
};

}  // namespace

class LoopbackTransport::Core {
 public:
  Core(Handler* handler, util::Executor* executor, Peer peer)
      : handler_(handler), executor_(executor), peer_(std::move(peer)) {}

  Handler& handler() { return *handler_; }
  util::Executor& executor() { return *executor_; }
  const Peer& peer() const { return peer_; }
  // The handler may be gone from now on.
  void ShutDown() { shut_down_ = true; }
  bool shut_down() const { return shut_down_; }

  void Add(const std::shared_ptr<Call>& call) {
    absl::MutexLock lock(&mutex_);
    calls_.push_back(call);
    if (calls_.size() > 2 * live_after_sweep_ + 64) {
      calls_.remove_if([](const std::weak_ptr<Call>& c) { return c.expired(); });
      live_after_sweep_ = calls_.size();
    }
  }
  void BreakAll(const absl::Status& status) {
    std::list<std::weak_ptr<Call>> calls;
    {
      absl::MutexLock lock(&mutex_);
      calls.swap(calls_);
      live_after_sweep_ = 0;
    }
    for (const auto& weak : calls) {
      if (auto call = weak.lock()) {
        executor_->Post([call, status] { call->Break(status); });
      }
    }
  }

 private:
  Handler* const handler_;
  util::Executor* const executor_;
  const Peer peer_;
  std::atomic<bool> shut_down_{false};
  absl::Mutex mutex_;
  std::list<std::weak_ptr<Call>> calls_ ABSL_GUARDED_BY(mutex_);
  size_t live_after_sweep_ ABSL_GUARDED_BY(mutex_) = 0;
};

namespace {

// A request with one answer.
class UnaryCall final : public Call, public std::enable_shared_from_this<UnaryCall> {
 public:
  UnaryCall(util::Executor* executor, ResponseCallback done)
      : executor_(executor), done_(std::move(done)) {}

  void Arm(absl::Duration timeout) {
    if (timeout == absl::InfiniteDuration()) return;
    timer_ = executor_->PostAfter(timeout, [self = shared_from_this()] {
      self->timer_ = 0;
      self->Finish(absl::DeadlineExceededError("no answer in time"));
    });
  }
  void Break(const absl::Status& status) override { Finish(status); }
  void Finish(absl::StatusOr<Response> result) {
    if (timer_ != 0) executor_->Cancel(timer_);
    timer_ = 0;
    if (ResponseCallback done = std::exchange(done_, nullptr)) done(std::move(result));
  }
  void Deliver(Response response) {
    executor_->Post(
        [self = shared_from_this(), shared = std::make_shared<Response>(std::move(response))] {
          self->Finish(std::move(*shared));
        });
  }

 private:
  util::Executor* const executor_;
  ResponseCallback done_;
  util::Executor::TimerId timer_ = 0;
};

// A request whose answer may go on. The server's side counts what is queued; the client's side
// delivers it on the executor.
class StreamCall final : public Call,
                         public StreamWriter,
                         public std::enable_shared_from_this<StreamCall> {
 public:
  StreamCall(util::Executor* executor, StreamObserver* observer, absl::Duration idle_timeout)
      : executor_(executor), observer_(observer), idle_timeout_(idle_timeout) {}

  // --- the client's side, on the executor
  void Deliver(int status, const Headers& headers) {
    if (observer_ == nullptr) return;
    Rearm();
    observer_->OnHeaders(status, headers);
  }
  void Break(const absl::Status& status) override {
    End(status);
    HangUp();
  }
  void End(const absl::Status& status) {
    if (timer_ != 0) executor_->Cancel(timer_);
    timer_ = 0;
    if (StreamObserver* observer = std::exchange(observer_, nullptr)) observer->OnEnd(status);
  }
  void Rearm() {
    if (observer_ == nullptr || idle_timeout_ == absl::InfiniteDuration()) return;
    if (timer_ != 0) executor_->Cancel(timer_);
    timer_ = executor_->PostAfter(idle_timeout_, [self = shared_from_this()] {
      self->timer_ = 0;
      self->Break(absl::DeadlineExceededError("stream is silent"));
    });
  }
  void Cancel() {
    observer_ = nullptr;
    if (timer_ != 0) executor_->Cancel(timer_);
    timer_ = 0;
    HangUp();
  }

  // --- the server's side, any thread
  bool Write(std::shared_ptr<const std::string> bytes) override {
    {
      absl::MutexLock lock(&mutex_);
      if (closed_) return false;
      if (bytes == nullptr || bytes->empty()) return true;
      queued_ += bytes->size();
    }
    executor_->Post([self = shared_from_this(), bytes = std::move(bytes)] {
      {
        absl::MutexLock lock(&self->mutex_);
        self->queued_ -= bytes->size();
      }
      if (self->observer_ == nullptr) return;
      self->Rearm();
      self->observer_->OnData(*bytes);
    });
    return true;
  }
  void Close() override {
    {
      absl::MutexLock lock(&mutex_);
      if (closed_) return;
      closed_ = true;
    }
    executor_->Post([self = shared_from_this()] {
      self->End(absl::OkStatus());
      self->NotifyClosed();
    });
  }
  void SetOnClosed(std::function<void()> on_closed) override {
    {
      absl::MutexLock lock(&mutex_);
      if (!notified_) {
        on_closed_ = std::move(on_closed);
        return;
      }
    }
    on_closed();
  }
  size_t queued_bytes() const override {
    absl::MutexLock lock(&mutex_);
    return queued_;
  }

 private:
  // The client is gone: the server learns it as from a broken connection.
  void HangUp() {
    {
      absl::MutexLock lock(&mutex_);
      closed_ = true;
    }
    executor_->Post([self = shared_from_this()] { self->NotifyClosed(); });
  }
  void NotifyClosed() {
    std::function<void()> on_closed;
    {
      absl::MutexLock lock(&mutex_);
      if (std::exchange(notified_, true)) return;
      on_closed = std::exchange(on_closed_, nullptr);
    }
    if (on_closed) on_closed();
  }

  util::Executor* const executor_;
  StreamObserver* observer_;
  const absl::Duration idle_timeout_;
  util::Executor::TimerId timer_ = 0;
  mutable absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool notified_ ABSL_GUARDED_BY(mutex_) = false;
  size_t queued_ ABSL_GUARDED_BY(mutex_) = 0;
  std::function<void()> on_closed_ ABSL_GUARDED_BY(mutex_);
};

// A stream that answers a plain request: its pieces are collected into one body.
class CollectingWriter final : public StreamWriter {
 public:
  CollectingWriter(std::shared_ptr<UnaryCall> call, Response response)
      : call_(std::move(call)), response_(std::move(response)) {}
  bool Write(std::shared_ptr<const std::string> bytes) override {
    absl::MutexLock lock(&mutex_);
    if (closed_) return false;
    if (bytes != nullptr) response_.body += *bytes;
    return true;
  }
  void Close() override {
    std::function<void()> on_closed;
    {
      absl::MutexLock lock(&mutex_);
      if (std::exchange(closed_, true)) return;
      call_->Deliver(std::move(response_));
      on_closed = std::move(on_closed_);
    }
    if (on_closed) on_closed();
  }
  void SetOnClosed(std::function<void()> on_closed) override {
    absl::MutexLock lock(&mutex_);
    on_closed_ = std::move(on_closed);
  }
  size_t queued_bytes() const override { return 0; }

 private:
  const std::shared_ptr<UnaryCall> call_;
  absl::Mutex mutex_;
  Response response_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> on_closed_ ABSL_GUARDED_BY(mutex_);
};

class UnaryResponder final : public Responder {
 public:
  explicit UnaryResponder(std::shared_ptr<UnaryCall> call) : call_(std::move(call)) {}
  ~UnaryResponder() override {
    if (!answered_) call_->Deliver(Response{.status = 500, .headers = {}, .body = "no answer\n"});
  }
  void Respond(Response response) override {
    if (answered_.exchange(true)) return;
    call_->Deliver(std::move(response));
  }
  std::shared_ptr<StreamWriter> StartStream(int status, Headers headers) override {
    CHECK(!answered_.exchange(true)) << "a request is answered once";
    return std::make_shared<CollectingWriter>(
        call_, Response{.status = status, .headers = std::move(headers), .body = ""});
  }

 private:
  const std::shared_ptr<UnaryCall> call_;
  std::atomic<bool> answered_{false};
};

class StreamResponder final : public Responder {
 public:
  StreamResponder(util::Executor* executor, std::shared_ptr<StreamCall> call)
      : executor_(executor), call_(std::move(call)) {}
  ~StreamResponder() override {
    if (!answered_) Respond(Response{.status = 500, .headers = {}, .body = "no answer\n"});
  }
  void Respond(Response response) override {
    if (answered_.exchange(true)) return;
    Head(response.status, response.headers);
    call_->Write(std::make_shared<const std::string>(std::move(response.body)));
    call_->Close();
  }
  std::shared_ptr<StreamWriter> StartStream(int status, Headers headers) override {
    CHECK(!answered_.exchange(true)) << "a request is answered once";
    Head(status, headers);
    return call_;
  }

 private:
  void Head(int status, const Headers& headers) {
    executor_->Post([call = call_, status, headers] { call->Deliver(status, headers); });
  }

  util::Executor* const executor_;
  const std::shared_ptr<StreamCall> call_;
  std::atomic<bool> answered_{false};
};

class LoopbackStream final : public Stream {
 public:
  explicit LoopbackStream(std::shared_ptr<StreamCall> call) : call_(std::move(call)) {}
  ~LoopbackStream() override { call_->Cancel(); }

 private:
  const std::shared_ptr<StreamCall> call_;
};

}  // namespace

LoopbackTransport::LoopbackTransport(Handler* handler, util::Executor* executor, Peer peer)
    : core_(std::make_shared<Core>(handler, executor, std::move(peer))) {}

LoopbackTransport::~LoopbackTransport() {
  core_->ShutDown();
  core_->BreakAll(absl::CancelledError("transport is shut down"));
}

void LoopbackTransport::Send(Request request, absl::Duration timeout, ResponseCallback done) {
  auto call = std::make_shared<UnaryCall>(&core_->executor(), std::move(done));
  core_->Add(call);
  core_->executor().Post(
      [core = core_, call, timeout, shared = std::make_shared<Request>(std::move(request))] {
        if (core->shut_down()) return;
        call->Arm(timeout);
        core->handler().Handle(std::move(*shared), core->peer(),
                               std::make_shared<UnaryResponder>(call));
      });
}

std::unique_ptr<Stream> LoopbackTransport::OpenStream(Request request, absl::Duration idle_timeout,
                                                      StreamObserver* observer) {
  auto call = std::make_shared<StreamCall>(&core_->executor(), observer, idle_timeout);
  core_->Add(call);
  core_->executor().Post(
      [core = core_, call, shared = std::make_shared<Request>(std::move(request))] {
        if (core->shut_down()) return;
        call->Rearm();
        core->handler().Handle(std::move(*shared), core->peer(),
                               std::make_shared<StreamResponder>(&core->executor(), call));
      });
  return std::make_unique<LoopbackStream>(std::move(call));
}

void LoopbackTransport::DropConnections() {
  core_->BreakAll(absl::UnavailableError("connection lost"));
}

}  // namespace hekla::http
