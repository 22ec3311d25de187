#include "pkg/apiserver/testing/recording_responder.h"

#include "glog/logging.h"

namespace hekla::apiserver::testing {

bool RecordingStream::Write(std::shared_ptr<const std::string> bytes) {
  absl::MutexLock lock(&mutex_);
  if (closed_) return false;
  if (discarding_) return true;
  text_ += *bytes;
  if (!reading_) queued_ += bytes->size();
  return true;
}

void RecordingStream::Close() { Finish(); }

void RecordingStream::Disconnect() { Finish(); }

void RecordingStream::Finish() {
  std::function<void()> on_closed;
  {
    absl::MutexLock lock(&mutex_);
    if (closed_) return;
    closed_ = true;
    on_closed = std::move(on_closed_);
    on_closed_ = nullptr;
  }
  if (on_closed) on_closed();
}

void RecordingStream::SetOnClosed(std::function<void()> on_closed) {
  absl::MutexLock lock(&mutex_);
  on_closed_ = std::move(on_closed);
}

size_t RecordingStream::queued_bytes() const {
  absl::MutexLock lock(&mutex_);
  return queued_;
}

void RecordingStream::Discard() {
  absl::MutexLock lock(&mutex_);
  discarding_ = true;
  text_.clear();
  taken_ = 0;
}

void RecordingStream::StopReading() {
  absl::MutexLock lock(&mutex_);
  reading_ = false;
}

bool RecordingStream::closed() const {
  absl::MutexLock lock(&mutex_);
  return closed_;
}

std::string RecordingStream::text() const {
  absl::MutexLock lock(&mutex_);
  return text_;
}

std::vector<apis::json::Value> RecordingStream::TakeEvents() {
  std::string text;
  {
    absl::MutexLock lock(&mutex_);
    text = text_.substr(taken_);
    taken_ = text_.size();
  }
  std::vector<apis::json::Value> events;
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    if (end > begin) {
      auto value = apis::json::Parse(absl::string_view(text).substr(begin, end - begin));
      CHECK(value.ok()) << value.status();
      events.push_back(*std::move(value));
    }
    begin = end + 1;
  }
  return events;
}

void RecordingResponder::Respond(http::Response response) {
  absl::MutexLock lock(&mutex_);
  CHECK(!response_.has_value()) << "answered twice";
  response_ = std::move(response);
}

std::shared_ptr<http::StreamWriter> RecordingResponder::StartStream(int status,
                                                                    http::Headers headers) {
  absl::MutexLock lock(&mutex_);
  CHECK(!response_.has_value()) << "answered twice";
  response_ = http::Response{status, std::move(headers), ""};
  stream_ = std::make_shared<RecordingStream>();
  return stream_;
}

std::optional<http::Response> RecordingResponder::response() const {
  absl::MutexLock lock(&mutex_);
  return response_;
}

std::shared_ptr<RecordingStream> RecordingResponder::stream() const {
  absl::MutexLock lock(&mutex_);
  return stream_;
}

}  // namespace hekla::apiserver::testing
