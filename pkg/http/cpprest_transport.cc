#include "pkg/http/cpprest_transport.h"

#include <cpprest/http_client.h>

#include <atomic>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/http/cpprest_pool.h"
#include "pkg/http/gzip.h"
#include "pkg/http/observer_gate.h"
#include "pkg/http/url.h"
#include "pkg/util/status_macros.h"
#include "pkg/util/thread_executor.h"

namespace hekla::http {
namespace {

namespace rest = web::http;
namespace streams = concurrency::streams;

// The library's own time-out is out of the way: far longer than anything we wait for.
constexpr auto kLibraryTimeout = std::chrono::hours(24 * 30);
constexpr size_t kMaxBodyBytes = size_t{1} << 30;

Headers CopyHeaders(const rest::http_headers& from) {
  Headers out;
  for (const auto& [name, value] : from) out.Add(name, value);
  return out;
}

// Takes what the library writes and hands it on at once.
class PushBuffer final : public streams::details::streambuf_state_manager<uint8_t> {
 public:
  explicit PushBuffer(std::function<void(absl::string_view)> sink)
      : streambuf_state_manager<uint8_t>(std::ios_base::out), sink_(std::move(sink)) {}

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(size_t, std::ios_base::openmode) override {}
  size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode) const override { return traits::eof(); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return traits::eof(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return traits::eof();
  }
  bool acquire(uint8_t*& ptr, size_t& count) override {
    ptr = nullptr;
    count = 0;
    return false;
  }
  void release(uint8_t*, size_t) override {}

 protected:
  using Int = pplx::task<int_type>;
  Int _putc(uint8_t ch) override {
    sink_(absl::string_view(reinterpret_cast<const char*>(&ch), 1));
    return pplx::task_from_result(static_cast<int_type>(ch));
  }
  pplx::task<size_t> _putn(const uint8_t* ptr, size_t count) override {
    sink_(absl::string_view(reinterpret_cast<const char*>(ptr), count));
    return pplx::task_from_result(count);
  }
  Int _bumpc() override { return End(); }
  int_type _sbumpc() override { return traits::eof(); }
  Int _getc() override { return End(); }
  int_type _sgetc() override { return traits::eof(); }
  Int _nextc() override { return End(); }
  Int _ungetc() override { return End(); }
  pplx::task<size_t> _getn(uint8_t*, size_t) override { return pplx::task_from_result(size_t{0}); }
  size_t _scopy(uint8_t*, size_t) override { return 0; }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  uint8_t* _alloc(size_t) override { return nullptr; }
  void _commit(size_t) override {}

 private:
  static Int End() { return pplx::task_from_result(static_cast<int_type>(traits::eof())); }
  const std::function<void(absl::string_view)> sink_;
};

// Puts the head before the body: the library may write the first bytes before it tells the head.
class StreamPipe {
 public:
  explicit StreamPipe(std::shared_ptr<ObserverGate> gate) : gate_(std::move(gate)) {}

  void Head(int status, const Headers& headers) {
    gate_->Call([&](StreamObserver& o) { o.OnHeaders(status, headers); });
    while (true) {
      std::string early;
      {
        absl::MutexLock lock(&mutex_);
        if (early_.empty()) {
          open_ = true;
          return;
        }
        early.swap(early_);
      }
      gate_->Call([&](StreamObserver& o) { o.OnData(early); });
    }
  }
  void Data(absl::string_view bytes) {
    {
      absl::MutexLock lock(&mutex_);
      if (!open_) {
        early_.append(bytes.data(), bytes.size());
        return;
      }
    }
    gate_->Call([&](StreamObserver& o) { o.OnData(bytes); });
  }

 private:
  const std::shared_ptr<ObserverGate> gate_;
  absl::Mutex mutex_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  std::string early_ ABSL_GUARDED_BY(mutex_);
};

// What goes wrong on the way, as a status. Called inside a catch block.
absl::Status CaughtStatus() {
  try {
    throw;
  } catch (const rest::http_exception& e) {
    if (e.error_code() == std::errc::operation_canceled) return absl::CancelledError("cancelled");
    return absl::UnavailableError(e.what());
  } catch (const pplx::task_canceled&) {
    return absl::CancelledError("cancelled");
  } catch (const std::exception& e) {
    return absl::UnavailableError(e.what());
  } catch (...) {
    return absl::UnavailableError("unknown exception of the HTTP library");
  }
}

// One request or stream under way.
struct Call {
  pplx::cancellation_token_source cancel;
  absl::Mutex mutex;
  // Why it was cancelled; tells a time-out from a shutdown.
  absl::Status why ABSL_GUARDED_BY(mutex);
  util::Executor::TimerId timer ABSL_GUARDED_BY(mutex) = 0;
  std::shared_ptr<ObserverGate> gate;

  void Cancel(const absl::Status& reason) {
    {
      absl::MutexLock lock(&mutex);
      if (why.ok()) why = reason;
    }
    cancel.cancel();
  }
  absl::Status Reason(const absl::Status& caught) {
    absl::MutexLock lock(&mutex);
    return why.ok() ? caught : why;
  }
};

}  // namespace

class CpprestTransport::Impl {
 public:
  Impl(const std::string& base, rest::client::http_client_config config)
      : client_(base, std::move(config)), timers_("http-timers") {}

  ~Impl() {
    std::vector<std::shared_ptr<Call>> calls;
    {
      absl::MutexLock lock(&mutex_);
      for (const auto& [raw, call] : calls_) calls.push_back(call);
    }
    for (const auto& call : calls) call->Cancel(absl::CancelledError("transport is shut down"));
    absl::MutexLock lock(&mutex_);
    const auto empty = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return calls_.empty(); };
    mutex_.Await(absl::Condition(&empty));
  }

  std::shared_ptr<Call> NewCall() {
    auto call = std::make_shared<Call>();
    absl::MutexLock lock(&mutex_);
    calls_.emplace(call.get(), call);
    return call;
  }
  // The last step of a call.
  void Remove(Call* call) {
    {
      absl::MutexLock lock(&call->mutex);
      if (call->timer != 0) timers_.Cancel(std::exchange(call->timer, 0));
    }
    absl::MutexLock lock(&mutex_);
    calls_.erase(call);
  }
  void Arm(const std::shared_ptr<Call>& call, absl::Duration timeout, absl::string_view what) {
    if (timeout == absl::InfiniteDuration()) return;
    absl::MutexLock lock(&call->mutex);
    if (call->timer != 0) timers_.Cancel(call->timer);
    call->timer =
        timers_.PostAfter(timeout, [weak = std::weak_ptr<Call>(call), text = std::string(what)] {
          if (auto call = weak.lock()) call->Cancel(absl::DeadlineExceededError(text));
        });
  }

  static rest::http_request ToRest(const Request& request) {
    rest::http_request out(request.method);
    out.set_request_uri(web::uri(request.target));
    std::string content_type = "application/octet-stream";
    for (const auto& [name, value] : request.headers.all()) {
      if (absl::EqualsIgnoreCase(name, "Content-Type")) {
        content_type = value;
      } else {
        out.headers().add(name, value);
      }
    }
    if (!request.body.empty()) out.set_body(request.body, content_type);
    return out;
  }

  rest::client::http_client& client() { return client_; }

 private:
  rest::client::http_client client_;
  absl::Mutex mutex_;
  std::map<Call*, std::shared_ptr<Call>> calls_ ABSL_GUARDED_BY(mutex_);
  util::ThreadExecutor timers_;
};

namespace {

class CpprestStream final : public Stream {
 public:
  explicit CpprestStream(std::shared_ptr<Call> call) : call_(std::move(call)) {}
  ~CpprestStream() override {
    call_->gate->Close();
    call_->Cancel(absl::CancelledError("cancelled"));
  }

 private:
  const std::shared_ptr<Call> call_;
};

absl::StatusOr<Response> Finished(rest::http_response& response, std::vector<uint8_t> body) {
  Response out;
  out.status = response.status_code();
  out.headers = CopyHeaders(response.headers());
  out.body.assign(reinterpret_cast<const char*>(body.data()), body.size());
  if (absl::EqualsIgnoreCase(out.headers.Get("Content-Encoding"), "gzip")) {
    HEKLA_ASSIGN_OR_RETURN(out.body, GzipDecompress(out.body, kMaxBodyBytes));
    out.headers.Set("Content-Encoding", "identity");
  }
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CpprestTransport>> CpprestTransport::Create(Options options) {
  HEKLA_ASSIGN_OR_RETURN(const Url url, ParseUrl(options.url));
  if (!options.tls.server_name.empty() && options.tls.server_name != url.host) {
    return absl::UnimplementedError("cpprest cannot check another server name than the host's");
  }
  SetCpprestThreads(options.threads);
  rest::client::http_client_config config;
  config.set_timeout(kLibraryTimeout);
  if (url.tls()) {
    HEKLA_RETURN_IF_ERROR(MakeClientContext(options.tls).status());  // reports what is wrong now
    config.set_validate_certificates(!options.tls.insecure);
    config.set_ssl_context_callback([tls = options.tls](boost::asio::ssl::context& context) {
      const absl::Status status = ConfigureClientContext(tls, context.native_handle());
      if (!status.ok()) LOG(ERROR) << "TLS settings failed error=" << status.message();
    });
  }
  try {
    const std::string base = absl::StrCat(url.scheme, "://", url.Authority());
    return std::unique_ptr<CpprestTransport>(
        new CpprestTransport(std::make_unique<Impl>(base, std::move(config))));
  } catch (const std::exception& e) {
    return absl::InvalidArgumentError(e.what());
  }
}

CpprestTransport::CpprestTransport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CpprestTransport::~CpprestTransport() = default;

void CpprestTransport::Send(Request request, absl::Duration timeout, ResponseCallback done) {
  Impl* impl = impl_.get();
  const std::shared_ptr<Call> call = impl->NewCall();
  impl->Arm(call, timeout, "no answer in time");
  auto shared_done = std::make_shared<ResponseCallback>(std::move(done));
  // A task of the pool from the start: nothing may call back from inside Send.
  pplx::create_task([impl, call, request = std::move(request)] {
    return impl->client().request(Impl::ToRest(request), call->cancel.get_token());
  })
      .then([](rest::http_response response) {
        return response.extract_vector().then([response](std::vector<uint8_t> body) mutable {
          return std::make_shared<absl::StatusOr<Response>>(Finished(response, std::move(body)));
        });
      })
      .then([impl, call, shared_done](pplx::task<std::shared_ptr<absl::StatusOr<Response>>> task) {
        absl::StatusOr<Response> result = absl::UnknownError("no result");
        try {
          result = std::move(*task.get());
        } catch (...) {
          result = call->Reason(CaughtStatus());
        }
        (*shared_done)(std::move(result));
        impl->Remove(call.get());
      });
}

std::unique_ptr<Stream> CpprestTransport::OpenStream(Request request, absl::Duration idle_timeout,
                                                     StreamObserver* observer) {
  Impl* impl = impl_.get();
  const std::shared_ptr<Call> call = impl->NewCall();
  call->gate = std::make_shared<ObserverGate>(observer);
  impl->Arm(call, idle_timeout, "stream is silent");
  auto pipe = std::make_shared<StreamPipe>(call->gate);
  auto buffer = std::make_shared<PushBuffer>(
      [impl, weak = std::weak_ptr<Call>(call), pipe, idle_timeout](absl::string_view bytes) {
        if (auto call = weak.lock()) impl->Arm(call, idle_timeout, "stream is silent");
        pipe->Data(bytes);
      });
  pplx::create_task([impl, call, buffer, request = std::move(request)] {
    rest::http_request out = Impl::ToRest(request);
    out.set_response_stream(streams::streambuf<uint8_t>(buffer).create_ostream());
    return impl->client().request(out, call->cancel.get_token());
  })
      .then([impl, call, idle_timeout, pipe](rest::http_response response) {
        impl->Arm(call, idle_timeout, "stream is silent");
        pipe->Head(response.status_code(), CopyHeaders(response.headers()));
        return response.content_ready();
      })
      .then([impl, call](pplx::task<rest::http_response> task) {
        absl::Status status;
        try {
          task.get();
        } catch (...) {
          status = call->Reason(CaughtStatus());
        }
        call->gate->Call([&](StreamObserver& o) { o.OnEnd(status); });
        impl->Remove(call.get());
      });
  return std::make_unique<CpprestStream>(call);
}

}  // namespace hekla::http
