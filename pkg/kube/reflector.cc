#include "pkg/kube/reflector.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/kube/api_status.h"
#include "pkg/kube/informer.h"
#include "pkg/util/backoff.h"
#include "pkg/util/random.h"

namespace hekla::kube {
namespace {

using apis::json::Value;

constexpr absl::string_view kInitialEventsEnd = "k8s.io/initial-events-end";

util::Backoff::Options BackoffOptions() {
  util::Backoff::Options options;  // 800 ms, doubling up to 30 s, jitter 1
  options.reset_after = absl::Minutes(2);
  return options;
}

std::string VersionOf(const Value& object) {
  return std::string(object.At("metadata").GetString("resourceVersion"));
}

}  // namespace

// States: listing (a page is under way), opening or reading a stream (as a WatchList until the
// initial state is complete, as a plain watch afterwards), waiting for the back-off.
class Reflector::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(RestClient* client, Executor* executor, ReflectorSink* sink, Options options)
      : client_(client),
        executor_(executor),
        sink_(sink),
        options_(std::move(options)),
        unread_in_lists_("items", options_.unread),
        backoff_(BackoffOptions(), options_.seed),
        random_(options_.seed ^ 0x7a7c4) {}

  void Start() {
    running_ = true;
    executor_->Post([self = shared_from_this()] { self->Round(); });
  }
  void Stop() {
    running_ = false;
    ++epoch_;
    if (timer_ != 0) executor_->Cancel(std::exchange(timer_, 0));
    stream_.reset();
  }

  std::string last_;
  Counters counters_;

 private:
  // Brings the stream's news over to the executor, in order.
  class Observer final : public http::StreamObserver {
   public:
    Observer(std::weak_ptr<Core> core, Executor* executor, uint64_t epoch)
        : core_(std::move(core)), executor_(executor), epoch_(epoch) {}
    void OnHeaders(int status, const http::Headers& headers) override {
      const std::string retry_after(headers.Get("Retry-After"));
      Post([status, retry_after](Core& core) { core.OnHeaders(status, retry_after); });
    }
    void OnData(absl::string_view bytes) override {
      Post([text = std::string(bytes)](Core& core) { core.OnData(text); });
    }
    void OnEnd(const absl::Status& status) override {
      Post([status](Core& core) { core.OnEnd(status); });
    }

   private:
    void Post(std::function<void(Core&)> call) {
      executor_->Post([weak = core_, epoch = epoch_, call = std::move(call)] {
        auto core = weak.lock();
        if (core != nullptr && core->running_ && core->epoch_ == epoch) call(*core);
      });
    }
    std::weak_ptr<Core> core_;
    Executor* executor_;
    uint64_t epoch_;
  };
  struct OpenStream {
    std::unique_ptr<Observer> observer;  // outlives `stream`
    std::unique_ptr<http::Stream> stream;
  };

  // --- rounds ---

  void Round() {
    if (!running_) return;
    if (options_.watch_list) {
      OpenWatchList();
    } else {
      BeginList();
    }
  }

  void EndRound(const absl::Status& why) {
    CloseStream();
    AbortReplace();
    ++counters_.failures;
    if (!why.ok()) sink_->OnError(why);
    After(backoff_.Next(executor_->Uptime()), &Core::Round);
  }

  void After(absl::Duration delay, void (Core::*step)()) {
    const uint64_t epoch = epoch_;
    timer_ = executor_->PostAfter(delay, [weak = weak_from_this(), epoch, step] {
      auto core = weak.lock();
      if (core == nullptr || !core->running_ || core->epoch_ != epoch) return;
      core->timer_ = 0;
      (*core.*step)();
    });
  }

  void CloseStream() {
    ++epoch_;  // what is still posted for the old stream is dropped
    stream_.reset();
  }

  void AbortReplace() {
    if (std::exchange(replacing_, false)) sink_->AbortReplace();
  }

  // --- lists ---

  void BeginList() {
    CloseStream();
    first_version_ = unavailable_ ? "" : (last_.empty() ? "0" : last_);
    pages_ = 0;
    full_list_ = false;
    AbortReplace();
    sink_->BeginReplace();
    replacing_ = true;
    // A server's cache that is asked for an exact state answers whole; pages are for the store.
    const bool paged = first_version_.empty() || first_version_ == "0" || paginated_;
    SendPage(first_version_, "", paged ? options_.page_size : 0);
  }

  void SendPage(const std::string& version, const std::string& token, int64_t limit) {
    RestRequest request;
    request.method = "GET";
    request.path = options_.resource.CollectionPath(options_.ns);
    request.subject = options_.resource.qualified_name();
    request.timeout = options_.list_timeout;
    AddSelectors(request);
    if (!version.empty() && token.empty()) request.query.emplace_back("resourceVersion", version);
    if (limit > 0) request.query.emplace_back("limit", absl::StrCat(limit));
    if (!token.empty()) request.query.emplace_back("continue", token);
    ++counters_.lists;
    const uint64_t epoch = epoch_;
    client_->Send(std::move(request), [weak = weak_from_this(), executor = executor_, epoch,
                                       limit](absl::StatusOr<http::Response> answer) {
      executor->Post([weak, epoch, limit, answer = std::move(answer)] {
        auto core = weak.lock();
        if (core == nullptr || !core->running_ || core->epoch_ != epoch) return;
        core->OnPage(answer, limit);
      });
    });
  }

  void OnPage(const absl::StatusOr<http::Response>& answer, int64_t limit) {
    if (!answer.ok()) return OnListFailure(answer.status(), limit);
    auto list = apis::json::ParseWithout(unread_in_lists_, answer->body);
    if (!list.ok()) return EndRound(Failed(list.status()));
    ++pages_;
    if (Value* items = list->Find("items"); items != nullptr && items->is_array()) {
      for (Value& item : items->as_array()) sink_->ReplaceItem(std::move(item));
    }
    const std::string token(list->At("metadata").GetString("continue"));
    if (!token.empty()) return SendPage("", token, limit);
    if (first_version_ == "0" && pages_ > 1) paginated_ = true;
    unavailable_ = false;
    FinishReplace(VersionOf(*list));
    OpenWatch();
  }

  void OnListFailure(const absl::Status& status, int64_t limit) {
    const bool expired = IsExpired(status);
    if (expired) ++counters_.expired;
    if (expired && pages_ > 0 && !full_list_) {
      // The pages' state is gone: once more in one piece.
      full_list_ = true;
      pages_ = 0;
      RestartReplace();
      return SendPage(first_version_, "", 0);
    }
    if ((expired || IsResourceVersionTooLarge(status)) && !unavailable_) {
      unavailable_ = true;
      pages_ = 0;
      RestartReplace();
      first_version_ = "";
      return SendPage("", "", limit);
    }
    EndRound(Failed(status));
  }

  void RestartReplace() {
    AbortReplace();
    sink_->BeginReplace();
    replacing_ = true;
  }

  void FinishReplace(const std::string& version) {
    replacing_ = false;
    last_ = version;
    sink_->EndReplace(version);
  }

  absl::Status Failed(const absl::Status& status) const {
    absl::Status wrapped(status.code(),
                         absl::StrCat("failed to list ", options_.resource.qualified_name(), ": ",
                                      status.message()));
    status.ForEachPayload([&wrapped](absl::string_view url, const absl::Cord& payload) {
      wrapped.SetPayload(url, payload);
    });
    return wrapped;
  }

  // --- streams ---

  void OpenWatchList() {
    AbortReplace();
    sink_->BeginReplace();
    replacing_ = true;
    deleted_early_.clear();
    initial_ = true;
    Open(unavailable_ ? "" : last_);
  }

  void OpenWatch() {
    initial_ = false;
    Open(last_);
  }

  void AddSelectors(RestRequest& request) const {
    if (!options_.label_selector.empty()) {
      request.query.emplace_back("labelSelector", options_.label_selector);
    }
    if (!options_.field_selector.empty()) {
      request.query.emplace_back("fieldSelector", options_.field_selector);
    }
  }

  void Open(const std::string& version) {
    CloseStream();
    const auto seconds =
        static_cast<int64_t>(absl::ToDoubleSeconds(options_.min_watch_time) * (1 + random_.Unit()));
    RestRequest request;
    request.method = "GET";
    request.path = options_.resource.CollectionPath(options_.ns);
    request.subject = options_.resource.qualified_name();
    request.query.emplace_back("watch", "true");
    request.query.emplace_back("allowWatchBookmarks", "true");
    request.query.emplace_back("timeoutSeconds", absl::StrCat(seconds));
    if (!version.empty()) request.query.emplace_back("resourceVersion", version);
    if (initial_) {
      request.query.emplace_back("sendInitialEvents", "true");
      request.query.emplace_back("resourceVersionMatch", "NotOlderThan");
    }
    AddSelectors(request);
    ++counters_.watches;
    opened_ = executor_->Uptime();
    opened_without_version_ = version.empty() || version == "0";
    events_ = 0;
    status_ = 0;
    retry_after_.clear();
    error_body_.clear();
    stream_error_.reset();
    decoder_ = WatchDecoder(apis::json::Omission("object", options_.unread));
    stream_.emplace();
    stream_->observer = std::make_unique<Observer>(weak_from_this(), executor_, epoch_);
    stream_->stream =
        client_->OpenStream(std::move(request), absl::Seconds(seconds) + options_.silence_margin,
                            stream_->observer.get());
  }

  void OnHeaders(int status, const std::string& retry_after) {
    status_ = status;
    retry_after_ = retry_after;
  }

  void OnData(const std::string& bytes) {
    if (status_ != 200) {
      if (error_body_.size() < 65536) error_body_.append(bytes);
      return;
    }
    const uint64_t epoch = epoch_;
    decoder_.Feed(bytes, [this, epoch](WatchEvent event) {
      Handle(std::move(event));
      return epoch_ == epoch && running_ && !stream_error_.has_value();
    });
    if (epoch_ == epoch && running_ && stream_error_.has_value()) OnStreamOver(*stream_error_);
  }

  void OnEnd(const absl::Status& status) {
    if (status_ != 0 && status_ != 200) {
      http::Response response;
      response.status = status_;
      response.body = error_body_;
      if (!retry_after_.empty()) response.headers.Set("Retry-After", retry_after_);
      return OnStreamOver(StatusFromResponse(response, "GET", ""));
    }
    // An open stream that breaks is as one that was closed; what was refused before is not.
    if (!status.ok() && status_ == 0) return OnStreamOver(status);
    OnStreamClosed();
  }

  void Handle(WatchEvent event) {
    if (event.type == EventType::kError) {
      stream_error_ = StatusFromObject(event.object);
      return;
    }
    if (event.object.GetString("kind") == "Table") {
      LOG(ERROR) << "table in a watch skipped resource=" << options_.resource.qualified_name();
      return;
    }
    ++events_;
    const std::string version = VersionOf(event.object);
    if (event.type == EventType::kBookmark) return OnBookmark(event.object, version);
    ++counters_.events;
    if (initial_) {
      // A deletion that comes before the end of the initial state is reported right after it.
      const std::string key = KeyOf(event.object);
      deleted_early_.erase(key);
      if (event.type == EventType::kDeleted) {
        deleted_early_.emplace(key, std::move(event.object));
      } else {
        sink_->ReplaceItem(std::move(event.object));
      }
      return;
    }
    if (event.type != EventType::kAdded) opened_without_version_ = false;
    if (!version.empty() && !opened_without_version_) last_ = version;
    sink_->OnEvent(event.type, std::move(event.object));
  }

  void OnBookmark(const Value& object, const std::string& version) {
    if (initial_) {
      const Value& annotations = object.At("metadata").At("annotations");
      if (annotations.GetString(kInitialEventsEnd) != "true") return;
      initial_ = false;
      unavailable_ = false;
      opened_without_version_ = false;
      FinishReplace(version);
      for (auto& [key, gone] : std::exchange(deleted_early_, {})) {
        sink_->OnEvent(EventType::kDeleted, std::move(gone));
      }
      return;
    }
    if (version.empty()) return;
    opened_without_version_ = false;
    last_ = version;
    sink_->OnBookmark(version);
  }

  // Closed in order, or broken off.
  void OnStreamClosed() {
    const bool shorter_than_a_second =
        executor_->Uptime() - opened_ < absl::Seconds(1) && events_ == 0;
    if (!shorter_than_a_second) {
      if (initial_) return OpenWatchList();
      return OpenWatch();
    }
    ++counters_.short_watches;
    if (initial_) return FallBack(absl::UnavailableError("watch list closed at once"));
    EndRound(absl::UnavailableError(absl::StrCat(
        "very short watch: ", options_.resource.qualified_name(),
        ": Unexpected watch close - watch lasted less than a second and no items received")));
  }

  absl::Duration DelayAfter(const absl::Status& status) {
    return std::max(backoff_.Next(executor_->Uptime()), absl::Seconds(RetryAfterSeconds(status)));
  }

  // Refused, answered with an error, or ended by an ERROR event.
  void OnStreamOver(const absl::Status& status) {
    const bool wait = IsTooManyRequests(status) || IsConnectionError(status);
    const bool gone = IsExpired(status) || IsResourceVersionTooLarge(status);
    if (gone) ++counters_.expired;
    if (initial_) {
      if (gone) {
        unavailable_ = true;
        return OpenWatchList();
      }
      if (!wait) return FallBack(status);
      CloseStream();
      AbortReplace();
      sink_->OnError(status);
      return After(DelayAfter(status), &Core::OpenWatchList);
    }
    if (wait) {
      CloseStream();
      sink_->OnError(status);
      return After(DelayAfter(status), &Core::OpenWatch);
    }
    if (!gone)
      LOG(WARNING) << "watch ended with error resource=" << options_.resource.qualified_name()
                   << " error=" << status.message();
    EndRound(gone ? absl::OkStatus() : status);
  }

  // The server offers no WatchList: this round goes by lists.
  void FallBack(const absl::Status& status) {
    VLOG(3) << "watch list not available, listing resource=" << options_.resource.qualified_name()
            << " error=" << status.message();
    if (IsForbidden(status) || absl::IsUnauthenticated(status)) return EndRound(Failed(status));
    BeginList();
  }

  RestClient* const client_;
  Executor* const executor_;
  ReflectorSink* const sink_;
  const Options options_;
  const apis::json::Omission unread_in_lists_;
  util::Backoff backoff_;
  util::Random random_;

  bool running_ = false;
  uint64_t epoch_ = 0;
  Executor::TimerId timer_ = 0;
  bool unavailable_ = false;  // the last known version is not to be had any more
  bool paginated_ = false;    // lists at version 0 come in pages
  bool replacing_ = false;    // between BeginReplace and its end

  std::string first_version_;  // of the list under way
  int pages_ = 0;
  bool full_list_ = false;

  std::optional<OpenStream> stream_;
  bool initial_ = false;   // the stream brings the initial state
  absl::Duration opened_;  // at that uptime
  bool opened_without_version_ = false;
  int64_t events_ = 0;
  int status_ = 0;
  std::string retry_after_, error_body_;
  std::optional<absl::Status> stream_error_;
  std::map<std::string, Value> deleted_early_;  // by key
  WatchDecoder decoder_;
};

Reflector::Reflector(RestClient* client, Executor* executor, ReflectorSink* sink, Options options)
    : core_(std::make_shared<Core>(client, executor, sink, std::move(options))) {}

Reflector::~Reflector() { Stop(); }

void Reflector::Start() { core_->Start(); }
void Reflector::Stop() { core_->Stop(); }
const std::string& Reflector::last_resource_version() const { return core_->last_; }
const Reflector::Counters& Reflector::counters() const { return core_->counters_; }

}  // namespace hekla::kube
