#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "pkg/apis/json/value.h"
#include "pkg/http/server.h"

namespace hekla::apiserver::testing {

// Keeps what a handler writes to a stream; stands for a client that reads everything at once.
// Threads: any.
class RecordingStream final : public http::StreamWriter {
 public:
  bool Write(std::shared_ptr<const std::string> bytes) override;
  void Close() override;
  void SetOnClosed(std::function<void()> on_closed) override;
  size_t queued_bytes() const override;

  // The client goes away.
  void Disconnect();
  // From now on bytes are forgotten, for measurements.
  void Discard();
  // From now on bytes stay queued, as with a reader that has stopped.
  void StopReading();
  bool closed() const;
  std::string text() const;
  // The lines that arrived since the last call, each parsed.
  std::vector<apis::json::Value> TakeEvents();

 private:
  void Finish();

  mutable absl::Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
  size_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool discarding_ ABSL_GUARDED_BY(mutex_) = false;
  bool reading_ ABSL_GUARDED_BY(mutex_) = true;
  size_t queued_ ABSL_GUARDED_BY(mutex_) = 0;
  std::function<void()> on_closed_ ABSL_GUARDED_BY(mutex_);
};

// Keeps a handler's answer to one request.
// Threads: any.
class RecordingResponder final : public http::Responder {
 public:
  void Respond(http::Response response) override;
  std::shared_ptr<http::StreamWriter> StartStream(int status, http::Headers headers) override;

  // The answer; empty while there is none. A streamed answer has an empty body.
  std::optional<http::Response> response() const;
  // Null unless the answer is a stream.
  std::shared_ptr<RecordingStream> stream() const;

 private:
  mutable absl::Mutex mutex_;
  std::optional<http::Response> response_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<RecordingStream> stream_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::apiserver::testing
