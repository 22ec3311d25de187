#include "pkg/apiserver/hollow/local_watch.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/http/server.h"

namespace hekla::apiserver::hollow {

// Takes the streamed answer and keeps its bytes until Pump asks.
class LocalWatch::Sink final : public http::Responder,
                               public http::StreamWriter,
                               public std::enable_shared_from_this<Sink> {
 public:
  explicit Sink(std::function<void()> wake_up) : wake_up_(std::move(wake_up)) {}

  void Respond(http::Response response) override {
    LOG(ERROR) << "local watch refused status=" << response.status << " body=" << response.body;
    absl::MutexLock lock(&mutex_);
    ended_ = refused_ = true;
  }
  std::shared_ptr<http::StreamWriter> StartStream(int, http::Headers) override {
    return shared_from_this();
  }
  bool Write(std::shared_ptr<const std::string> bytes) override {
    std::function<void()> wake_up;
    {
      absl::MutexLock lock(&mutex_);
      if (ended_) return false;
      chunks_.push_back(std::move(bytes));
      wake_up = wake_up_;
    }
    if (wake_up) wake_up();
    return true;
  }
  void Close() override {
    std::function<void()> wake_up;
    {
      absl::MutexLock lock(&mutex_);
      ended_ = true;
      wake_up = wake_up_;
    }
    NotifyClosed();
    if (wake_up) wake_up();
  }
  void SetOnClosed(std::function<void()> on_closed) override {
    absl::MutexLock lock(&mutex_);
    on_closed_ = std::move(on_closed);
  }
  size_t queued_bytes() const override { return 0; }

  // The reader has gone.
  void Abandon() {
    {
      absl::MutexLock lock(&mutex_);
      ended_ = true;
      wake_up_ = nullptr;
    }
    NotifyClosed();
  }
  std::vector<std::shared_ptr<const std::string>> Take(bool* ended) {
    absl::MutexLock lock(&mutex_);
    *ended = ended_ && !refused_;
    return std::exchange(chunks_, {});
  }
  bool HasWork() const {
    absl::MutexLock lock(&mutex_);
    return !chunks_.empty() || (ended_ && !refused_);
  }

 private:
  void NotifyClosed() {
    std::function<void()> callback;
    {
      absl::MutexLock lock(&mutex_);
      callback = std::exchange(on_closed_, nullptr);
    }
    if (callback) callback();
  }

  mutable absl::Mutex mutex_;
  std::function<void()> wake_up_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<const std::string>> chunks_ ABSL_GUARDED_BY(mutex_);
  std::function<void()> on_closed_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool refused_ ABSL_GUARDED_BY(mutex_) = false;
};

LocalWatch::LocalWatch(ApiServer& server, std::string path, Callback callback)
    : server_(&server), path_(std::move(path)), callback_(std::move(callback)) {}

LocalWatch::~LocalWatch() {
  if (sink_ != nullptr) sink_->Abandon();
}

void LocalWatch::SetWakeUp(std::function<void()> wake_up) { wake_up_ = std::move(wake_up); }

void LocalWatch::Open() {
  sink_ = std::make_shared<Sink>(wake_up_);
  http::Request request;
  request.method = "GET";
  request.target = absl::StrCat(path_, "?watch=true&timeoutSeconds=2147483647");
  server_->Handle(std::move(request), http::Peer{}, sink_);
}

bool LocalWatch::HasWork() const { return sink_ == nullptr || sink_->HasWork(); }

int LocalWatch::Pump() {
  if (sink_ == nullptr) Open();
  bool ended = false;
  int events = 0;
  for (const auto& chunk : sink_->Take(&ended)) {
    for (absl::string_view line : absl::StrSplit(*chunk, '\n', absl::SkipEmpty())) {
      auto event = apis::json::Parse(line);
      CHECK(event.ok()) << "watch event of the embedded server: " << event.status();
      const absl::string_view type = event->GetString("type");
      if (type == "BOOKMARK") continue;
      if (type == "ERROR") {
        ended = true;
        continue;
      }
      callback_(type, event->At("object"));
      ++events;
    }
  }
  if (ended) {
    sink_->Abandon();
    sink_ = nullptr;
  }
  return events;
}

}  // namespace hekla::apiserver::hollow
