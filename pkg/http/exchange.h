#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "pkg/http/server.h"

namespace hekla::http {

class Exchange;

// What an Exchange needs of its connection. Owned by shared_ptr; methods other than the two posts
// run on the connection's thread.
class ExchangePort {
 public:
  virtual ~ExchangePort() = default;
  // Runs `task` on the connection's thread, at once where that is the caller's. Returns false, and
  // does not run it, when the connection is closed. Any thread.
  virtual bool Post(std::function<void()> task) = 0;
  // As Post, but never at once; the connection may be closed when the task runs.
  virtual bool PostLater(std::function<void()> task) = 0;
  virtual void Send(Response response) = 0;
  virtual void BeginStream(int status, const Headers& headers,
                           std::shared_ptr<Exchange> stream) = 0;
  virtual void Flush() = 0;
  virtual void Drop() = 0;
  virtual size_t max_stream_queue_bytes() const = 0;
};

// One request's answer: the handler's end. Keeps its connection until the answer is complete.
// Lock order: Exchange::mutex_, then whatever the port's posts lock.
class Exchange final : public Responder,
                       public StreamWriter,
                       public std::enable_shared_from_this<Exchange> {
 public:
  explicit Exchange(std::shared_ptr<ExchangePort> connection)
      : connection_(std::move(connection)) {}
  ~Exchange() override;

  void Respond(Response response) override;
  std::shared_ptr<StreamWriter> StartStream(int status, Headers headers) override;
  bool Write(std::shared_ptr<const std::string> bytes) override;
  void Close() override;
  void SetOnClosed(std::function<void()> on_closed) override;
  size_t queued_bytes() const override {
    absl::MutexLock lock(&mutex_);
    return queued_;
  }

  // For the connection: takes up to `max_bytes` of what is queued. `last`: nothing follows.
  void Take(size_t max_bytes, std::vector<std::shared_ptr<const std::string>>& batch, bool& last);
  // For the connection: `bytes` are out. Returns whether there is more to send.
  bool Sent(size_t bytes);
  // For the connection: the stream has ended, in order or not.
  void Ended();

 private:
  void Schedule() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable absl::Mutex mutex_;
  std::shared_ptr<ExchangePort> connection_ ABSL_GUARDED_BY(mutex_);
  bool answered_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool scheduled_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  size_t queued_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<std::shared_ptr<const std::string>> queue_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> on_closed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::http
