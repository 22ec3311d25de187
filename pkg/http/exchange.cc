#include "pkg/http/exchange.h"

#include <utility>

#include "glog/logging.h"

namespace hekla::http {

Exchange::~Exchange() {
  // No other reference exists, so nobody else can hold the lock.
  if (!answered_ && connection_ != nullptr) {
    connection_->Post([connection = connection_] {
      connection->Send(Response{.status = 500, .headers = {}, .body = "no answer\n"});
    });
  }
}

void Exchange::Respond(Response response) {
  std::shared_ptr<ExchangePort> connection;
  {
    absl::MutexLock lock(&mutex_);
    if (answered_) return;
    answered_ = true;
    connection = std::move(connection_);
  }
  connection->Post([connection, response = std::make_shared<Response>(std::move(response))] {
    connection->Send(std::move(*response));
  });
}

std::shared_ptr<StreamWriter> Exchange::StartStream(int status, Headers headers) {
  std::shared_ptr<ExchangePort> connection;
  {
    absl::MutexLock lock(&mutex_);
    CHECK(!answered_) << "a request is answered once";
    answered_ = true;
    connection = connection_;
  }
  const bool open = connection->Post(
      [connection, status, headers = std::move(headers), self = shared_from_this()] {
        connection->BeginStream(status, headers, self);
      });
  if (!open) Ended();
  return shared_from_this();
}

bool Exchange::Write(std::shared_ptr<const std::string> bytes) {
  absl::MutexLock lock(&mutex_);
  if (ended_ || closing_) return false;
  if (bytes == nullptr || bytes->empty()) return true;
  if (queued_ + bytes->size() > connection_->max_stream_queue_bytes()) {
    closing_ = true;  // the reader cannot keep up: cut it off, what is queued goes with it
    connection_->PostLater([connection = connection_] { connection->Drop(); });
    return false;
  }
  queued_ += bytes->size();
  queue_.push_back(std::move(bytes));
  Schedule();
  return true;
}

void Exchange::Close() {
  absl::MutexLock lock(&mutex_);
  if (ended_ || closing_) return;
  closing_ = true;
  Schedule();
}

void Exchange::Schedule() {
  if (scheduled_) return;
  scheduled_ = true;
  // Never at once, not even on the connection's own thread: writes that follow join this one.
  connection_->PostLater([connection = connection_] { connection->Flush(); });
}

void Exchange::SetOnClosed(std::function<void()> on_closed) {
  {
    absl::MutexLock lock(&mutex_);
    if (!ended_) {
      on_closed_ = std::move(on_closed);
      return;
    }
  }
  on_closed();
}

void Exchange::Take(size_t max_bytes, std::vector<std::shared_ptr<const std::string>>& batch,
                    bool& last) {
  absl::MutexLock lock(&mutex_);
  scheduled_ = false;
  size_t bytes = 0;
  while (!queue_.empty() && bytes < max_bytes) {
    bytes += queue_.front()->size();
    batch.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  last = closing_ && queue_.empty();
}

bool Exchange::Sent(size_t bytes) {
  absl::MutexLock lock(&mutex_);
  queued_ -= bytes;
  return !queue_.empty() || closing_;
}

void Exchange::Ended() {
  std::function<void()> on_closed;
  std::shared_ptr<ExchangePort> connection;
  {
    absl::MutexLock lock(&mutex_);
    if (ended_) return;
    ended_ = true;
    queue_.clear();
    queued_ = 0;
    on_closed = std::move(on_closed_);
    on_closed_ = nullptr;
    connection = std::move(connection_);
  }
  if (on_closed) on_closed();
}

}  // namespace hekla::http
