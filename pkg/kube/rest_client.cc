#include "pkg/kube/rest_client.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "glog/logging.h"
#include "pkg/kube/api_status.h"
#include "pkg/kube/redaction.h"

namespace hekla::kube {
namespace {

std::string TargetOf(const RestRequest& request, const std::string& prefix) {
  std::string target = absl::StrCat(prefix, request.path);
  char separator = '?';
  for (const auto& [key, value] : request.query) {
    absl::StrAppend(&target, std::string(1, separator), http::PercentEncode(key), "=",
                    http::PercentEncode(value));
    separator = '&';
  }
  return target;
}

// " (get pods web-1)"
std::string ActionOf(const RestRequest& request) {
  if (request.subject.empty()) return "";
  static constexpr std::pair<absl::string_view, absl::string_view> kVerbs[] = {
      {"GET", "get"}, {"POST", "post"}, {"PUT", "put"}, {"PATCH", "patch"}, {"DELETE", "delete"}};
  for (const auto& [method, verb] : kVerbs) {
    if (request.method == method) return absl::StrCat(" (", verb, " ", request.subject, ")");
  }
  return absl::StrCat(" (", request.method, " ", request.subject, ")");
}

std::optional<int> RetryAfter(const http::Response& response) {
  if (response.status != 429 && response.status < 500) return std::nullopt;
  int seconds = 0;
  if (!absl::SimpleAtoi(response.headers.Get("Retry-After"), &seconds) || seconds < 0) {
    return std::nullopt;
  }
  return seconds;
}

// To be tried again: a renewal that succeeds late opens the fence once more.
absl::Status NotLeading() { return absl::UnavailableError("this process does not lead any more"); }

}  // namespace

class RestClient::Core : public std::enable_shared_from_this<Core> {
 public:
  Core(Deps deps, const Options& options)
      : deps_(deps), options_(options), bucket_(options.qps, options.burst) {}

  // One request on its way through limiter, credentials and tries.
  struct Call {
    RestRequest request;
    Done done;
    int tries = 0;
    absl::Status previous;
    std::shared_ptr<const http::Headers> credentials;
  };
  using CallPtr = std::shared_ptr<Call>;

  bool MayWrite() const { return options_.may_write == nullptr || options_.may_write(); }
  // Whether it is a write and another process may lead by now.
  bool Fenced(const RestRequest& request) const { return request.method != "GET" && !MayWrite(); }

  void Begin(CallPtr call) { AfterToken(std::move(call), absl::ZeroDuration()); }

  http::Request Build(const RestRequest& request,
                      const std::shared_ptr<const http::Headers>& credentials) const {
    http::Request out;
    out.method = request.method;
    out.target = TargetOf(request, options_.path_prefix);
    out.headers.Set("Accept", request.accept);
    out.headers.Set("User-Agent", options_.user_agent);
    if (!request.body.empty()) out.headers.Set("Content-Type", request.content_type);
    if (credentials != nullptr) {
      // Some fields come several times (Impersonate-Group).
      for (const auto& [name, value] : credentials->all()) out.headers.Add(name, value);
    }
    out.body = request.body;
    return out;
  }

  // What waits for a token or a retry is dropped and told so.
  void Close() {
    std::map<uint64_t, Waiting> waiting;
    {
      absl::WriterMutexLock gate(&gate_);
      open_ = false;
    }
    {
      absl::MutexLock lock(&mutex_);
      closed_ = true;
      waiting.swap(waiting_);
    }
    for (auto& [id, w] : waiting) {
      deps_.executor->Cancel(w.timer);  // called by the client itself: it is still there
      w.call->done(absl::CancelledError("the client is shut down"));
    }
  }

 private:
  struct Waiting {
    Executor::TimerId timer = 0;
    CallPtr call;
  };

  // Takes a token and goes on once it is due, at the earliest after `delay`.
  void AfterToken(CallPtr call, absl::Duration delay) {
    absl::Duration token = absl::ZeroDuration();
    WhileOpen([&] {
      token = bucket_.Reserve(deps_.executor->Uptime());
      if (options_.observer != nullptr && options_.qps > 0) {
        options_.observer->OnLimiterWait(call->request.method, token);
      }
    });
    if (token > absl::Seconds(1)) {
      LOG_EVERY_N(INFO, 100) << "Waited before sending request seconds="
                             << absl::ToDoubleSeconds(token)
                             << " subject=" << call->request.subject;
    }
    Wait(std::max(token, delay), std::move(call));
  }

  void Wait(absl::Duration delay, CallPtr call) {
    if (delay <= absl::ZeroDuration()) return Try(std::move(call));
    {
      absl::MutexLock lock(&mutex_);
      if (!closed_) {
        const uint64_t id = next_id_++;
        Waiting& entry = waiting_[id];
        entry.call = std::move(call);
        entry.timer = deps_.executor->PostAfter(delay, [weak = weak_from_this(), id] {
          if (auto core = weak.lock()) core->Wake(id);
        });
        return;
      }
    }
    call->done(absl::CancelledError("the client is shut down"));
  }

  void Wake(uint64_t id) {
    CallPtr call;
    {
      absl::MutexLock lock(&mutex_);
      auto it = waiting_.find(id);
      if (it == waiting_.end()) return;
      call = std::move(it->second.call);
      waiting_.erase(it);
    }
    Try(std::move(call));
  }

  void Try(CallPtr call) {
    bool refreshing = false;
    const bool open = WhileOpen([&] {
      if (deps_.authorizer == nullptr) return;
      call->credentials = deps_.authorizer->Current();
      if (call->credentials != nullptr) return;
      refreshing = true;
      deps_.authorizer->Refresh([self = shared_from_this(), call](absl::Status status) {
        self->OnRefreshed(call, std::move(status));
      });
    });
    if (!open) return call->done(absl::CancelledError("the client is shut down"));
    if (!refreshing) SendNow(std::move(call));
  }

  void OnRefreshed(const CallPtr& call, absl::Status status) {
    WhileOpen([&] {
      if (status.ok()) call->credentials = deps_.authorizer->Current();
    });
    if (call->credentials != nullptr) return SendNow(call);
    if (status.ok()) status = absl::UnauthenticatedError("no credentials");
    call->done(status);
  }

  void SendNow(CallPtr call) {
    ++call->tries;
    if (Fenced(call->request)) return Refuse(std::move(call));
    const absl::Duration timeout =
        call->request.timeout > absl::ZeroDuration() ? call->request.timeout : options_.timeout;
    const bool open = WhileOpen([&] {
      deps_.transport->Send(
          Build(call->request, call->credentials), timeout,
          [self = shared_from_this(), call](absl::StatusOr<http::Response> answer) {
            self->OnAnswer(call, std::move(answer));
          });
    });
    if (!open) call->done(absl::CancelledError("the client is shut down"));
  }

  void Refuse(CallPtr call) {
    const bool open =
        WhileOpen([&] { deps_.executor->Post([call] { call->done(NotLeading()); }); });
    if (!open) call->done(absl::CancelledError("the client is shut down"));
  }

  void OnAnswer(const CallPtr& call, absl::StatusOr<http::Response> answer) {
    const bool again = call->tries <= options_.max_retries;
    absl::Status failure;
    if (!answer.ok()) {
      failure = answer.status();
      if (again && call->request.method == "GET" && absl::IsUnavailable(failure)) {
        return Retry(call, absl::Seconds(1), failure, 0);
      }
    } else if (answer->status >= 200 && answer->status < 300) {
      call->done(*std::move(answer));
      return;
    } else {
      Redact(SecretTexts(Build(call->request, call->credentials)), answer->body);
      failure = StatusFromResponse(*answer, call->request.method, ActionOf(call->request));
      if (answer->status == 401 && call->credentials != nullptr) {
        WhileOpen([&] { deps_.authorizer->OnUnauthorized(call->credentials); });
      }
      if (const auto seconds = RetryAfter(*answer); again && seconds.has_value()) {
        return Retry(call, absl::Seconds(*seconds), failure, answer->status);
      }
    }
    if (call->tries > 1 && !call->previous.ok()) {
      absl::Status joined(failure.code(),
                          absl::StrCat(failure.message(), " - error from a previous attempt: ",
                                       call->previous.message()));
      failure.ForEachPayload([&joined](absl::string_view url, const absl::Cord& payload) {
        joined.SetPayload(url, payload);
      });
      failure = std::move(joined);
    }
    call->done(std::move(failure));
  }

  void Retry(const CallPtr& call, absl::Duration delay, const absl::Status& failure, int code) {
    WhileOpen([&] {
      if (options_.observer != nullptr) options_.observer->OnRetry(call->request.method, code);
    });
    VLOG(3) << "request is tried again subject=" << call->request.subject << " try=" << call->tries
            << " error=" << failure.message();
    call->previous = failure;
    AfterToken(call, delay);
  }

  // Uses the dependencies, which may be gone once the client is: answers can come later.
  template <typename Use>
  bool WhileOpen(Use use) {
    absl::ReaderMutexLock gate(&gate_);
    if (open_) use();
    return open_;
  }

  const Deps deps_;
  const Options options_;
  util::TokenBucket bucket_;
  absl::Mutex gate_;  // taken before mutex_
  bool open_ ABSL_GUARDED_BY(gate_) = true;
  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  std::map<uint64_t, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
};

RestClient::RestClient(Deps deps, Options options)
    : deps_(deps), options_(std::move(options)), core_(std::make_shared<Core>(deps_, options_)) {}

RestClient::~RestClient() { core_->Close(); }

void RestClient::Send(RestRequest request, Done done) {
  auto call = std::make_shared<Core::Call>();
  call->request = std::move(request);
  call->done = std::move(done);
  core_->Begin(std::move(call));
}

absl::Status RestClient::CheckMayWrite() const {
  return core_->MayWrite() ? absl::OkStatus() : NotLeading();
}

absl::StatusOr<http::Response> RestClient::SendAndWait(RestRequest request) {
  // At once: the executor may be the caller's own thread.
  if (core_->Fenced(request)) return NotLeading();
  absl::StatusOr<http::Response> result = absl::UnknownError("no answer");
  absl::Notification finished;
  Send(std::move(request), [&](absl::StatusOr<http::Response> answer) {
    result = std::move(answer);
    finished.Notify();
  });
  finished.WaitForNotification();
  return result;
}

namespace {

// A stream that ends at once, because there are no credentials yet.
class NoCredentials final : public http::Stream {
 public:
  NoCredentials(Executor* executor, http::StreamObserver* observer)
      : executor_(executor), alive_(std::make_shared<bool>(true)) {
    timer_ = executor->PostAfter(absl::ZeroDuration(), [alive = alive_, observer] {
      if (*alive) observer->OnEnd(absl::UnauthenticatedError("credentials are being fetched"));
    });
  }
  ~NoCredentials() override {
    *alive_ = false;
    executor_->Cancel(timer_);
  }

 private:
  Executor* executor_;
  std::shared_ptr<bool> alive_;
  Executor::TimerId timer_;
};

// Hands on what comes; the text of a refusal at its end, without what the client has sent.
class RedactingStream final : public http::Stream, private http::StreamObserver {
 public:
  RedactingStream(http::StreamObserver* observer, std::vector<std::string> secrets)
      : observer_(observer), secrets_(std::move(secrets)) {}
  void Open(http::Transport* inner, http::Request request, absl::Duration idle_timeout) {
    stream_ = inner->OpenStream(std::move(request), idle_timeout, this);
  }

 private:
  static constexpr size_t kMaxText = 64 << 10;

  void OnHeaders(int status, const http::Headers& headers) override {
    refused_ = status >= 300;
    observer_->OnHeaders(status, headers);
  }
  void OnData(absl::string_view bytes) override {
    if (!refused_) return observer_->OnData(bytes);
    text_.append(bytes.data(), std::min(bytes.size(), kMaxText - text_.size()));
  }
  void OnEnd(const absl::Status& status) override {
    Redact(secrets_, text_);
    if (!text_.empty()) observer_->OnData(text_);
    observer_->OnEnd(status);
  }

  http::StreamObserver* const observer_;
  const std::vector<std::string> secrets_;
  bool refused_ = false;
  std::string text_;
  std::unique_ptr<http::Stream> stream_;
};

}  // namespace

std::unique_ptr<http::Stream> RestClient::OpenStream(RestRequest request,
                                                     absl::Duration idle_timeout,
                                                     http::StreamObserver* observer) {
  std::shared_ptr<const http::Headers> credentials;
  if (deps_.authorizer != nullptr) {
    credentials = deps_.authorizer->Current();
    if (credentials == nullptr) {
      deps_.authorizer->Refresh([](absl::Status) {});
      return std::make_unique<NoCredentials>(deps_.executor, observer);
    }
  }
  http::Request out = core_->Build(request, credentials);
  std::vector<std::string> secrets = SecretTexts(out);
  if (secrets.empty()) return deps_.transport->OpenStream(std::move(out), idle_timeout, observer);
  auto stream = std::make_unique<RedactingStream>(observer, std::move(secrets));
  stream->Open(deps_.transport, std::move(out), idle_timeout);
  return stream;
}

}  // namespace hekla::kube
