#include "pkg/http/cpprest_listener.h"

#include <arpa/inet.h>
#include <cpprest/http_listener.h>
#include <cpprest/producerconsumerstream.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/http/cpprest_pool.h"
#include "pkg/util/status_macros.h"

namespace hekla::http {
namespace {

namespace rest = web::http;
namespace streams = concurrency::streams;
using rest::experimental::listener::http_listener;
using rest::experimental::listener::http_listener_config;

constexpr int kPortTries = 5;

// A port nobody listens on at the moment; 0 where there is none.
uint16_t FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0) return 0;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  uint16_t port = 0;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
    port = ntohs(address.sin_port);
  }
  close(fd);
  return port;
}

void Fill(rest::http_response& out, const Headers& headers) {
  for (const auto& [name, value] : headers.all()) {
    if (!absl::EqualsIgnoreCase(name, "Content-Length")) out.headers().add(name, value);
  }
}

// Sends what was written through a buffer that the library reads from.
class PipeWriter final : public StreamWriter, public std::enable_shared_from_this<PipeWriter> {
 public:
  bool Write(std::shared_ptr<const std::string> bytes) override {
    absl::MutexLock lock(&mutex_);
    if (closed_) return false;
    if (bytes == nullptr || bytes->empty()) return true;
    // The buffer keeps pointers until they are read; it gets a copy of its own.
    buffer_.putn_nocopy(reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size())
        .then([bytes](pplx::task<size_t> task) {
          try {
            task.get();
          } catch (const std::exception&) {  // the reader has gone; Gone() tells the writer
          }
        });
    buffer_.sync();
    return true;
  }
  void Close() override {
    absl::MutexLock lock(&mutex_);
    if (std::exchange(closed_, true)) return;
    buffer_.close(std::ios_base::out);
  }
  void SetOnClosed(std::function<void()> on_closed) override {
    {
      absl::MutexLock lock(&mutex_);
      if (!gone_) {
        on_closed_ = std::move(on_closed);
        return;
      }
    }
    on_closed();
  }
  size_t queued_bytes() const override { return buffer_.in_avail(); }

  void Gone() {
    std::function<void()> on_closed;
    {
      absl::MutexLock lock(&mutex_);
      closed_ = true;
      if (std::exchange(gone_, true)) return;
      on_closed = std::exchange(on_closed_, nullptr);
    }
    if (on_closed) on_closed();
  }
  streams::istream reader() { return buffer_.create_istream(); }

 private:
  streams::producer_consumer_buffer<uint8_t> buffer_;
  absl::Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;
  std::function<void()> on_closed_ ABSL_GUARDED_BY(mutex_);
};

class RestResponder final : public Responder {
 public:
  explicit RestResponder(rest::http_request request) : request_(std::move(request)) {}
  ~RestResponder() override {
    if (!answered_) Respond(Response{.status = 500, .body = "no answer\n"});
  }
  void Respond(Response response) override {
    if (answered_.exchange(true)) return;
    rest::http_response out(static_cast<rest::status_code>(response.status));
    Fill(out, response.headers);
    std::string type(response.headers.Get("Content-Type"));
    if (type.empty()) type = "text/plain";
    out.headers().remove("Content-Type");
    out.set_body(std::move(response.body), type);
    Reply(std::move(out), nullptr);
  }
  std::shared_ptr<StreamWriter> StartStream(int status, Headers headers) override {
    CHECK(!answered_.exchange(true)) << "a request is answered once";
    auto writer = std::make_shared<PipeWriter>();
    rest::http_response out(static_cast<rest::status_code>(status));
    Fill(out, headers);
    out.set_body(writer->reader());
    Reply(std::move(out), writer);
    return writer;
  }

 private:
  void Reply(rest::http_response out, std::shared_ptr<PipeWriter> writer) {
    request_.reply(std::move(out)).then([writer](pplx::task<void> task) {
      try {
        task.get();
      } catch (const std::exception& e) {
        VLOG(4) << "answer not delivered error=" << e.what();
      }
      if (writer != nullptr) writer->Gone();
    });
  }

  rest::http_request request_;
  std::atomic<bool> answered_{false};
};

}  // namespace

class CpprestListener::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)) {}

  absl::Status Start(Handler* handler) {
    handler_ = handler;
    SetCpprestThreads(options_.threads);
    if (options_.tls) HEKLA_RETURN_IF_ERROR(MakeServerContext(options_.tls_files).status());
    absl::Status status;
    for (int i = 0; i < kPortTries; ++i) {
      port_ = options_.port != 0 ? options_.port : FreePort();
      status = Listen();
      if (status.ok() || options_.port != 0) return status;
    }
    return status;
  }

  void Stop() {
    if (!listener_.has_value()) return;
    try {
      listener_->close().wait();
    } catch (const std::exception& e) {
      LOG(WARNING) << "listener did not close cleanly error=" << e.what();
    }
    listener_.reset();
  }

  uint16_t port() const { return port_; }

 private:
  absl::Status Listen() {
    const std::string host = options_.address.empty() ? "0.0.0.0" : options_.address;
    const std::string url =
        absl::StrCat(options_.tls ? "https" : "http", "://", host, ":", port_, "/");
    http_listener_config config;
    if (options_.tls) {
      config.set_ssl_context_callback(
          [tls = options_.tls_files](boost::asio::ssl::context& context) {
            const absl::Status status = ConfigureServerContext(tls, context.native_handle());
            if (!status.ok()) LOG(ERROR) << "TLS settings failed error=" << status.message();
          });
    }
    try {
      listener_.emplace(web::uri(url), config);
      listener_->support([this](rest::http_request request) { Serve(std::move(request)); });
      listener_->open().wait();
      return absl::OkStatus();
    } catch (const std::exception& e) {
      listener_.reset();
      return absl::UnavailableError(absl::StrCat("listen on ", url, ": ", e.what()));
    }
  }

  void Serve(rest::http_request request) {
    request.extract_vector().then([this, request](pplx::task<std::vector<uint8_t>> task) {
      Request out;
      try {
        const std::vector<uint8_t> body = task.get();
        out.body.assign(reinterpret_cast<const char*>(body.data()), body.size());
      } catch (const std::exception&) {
        return;  // the client has gone
      }
      out.method = request.method();
      out.target = request.request_uri().to_string();
      for (const auto& [name, value] : request.headers()) out.headers.Add(name, value);
      handler_->Handle(std::move(out), Peer{}, std::make_shared<RestResponder>(request));
    });
  }

  const Options options_;
  Handler* handler_ = nullptr;
  uint16_t port_ = 0;
  std::optional<http_listener> listener_;
};

CpprestListener::CpprestListener(Options options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
CpprestListener::~CpprestListener() { Stop(); }
absl::Status CpprestListener::Start(Handler* handler) { return impl_->Start(handler); }
uint16_t CpprestListener::port() const { return impl_->port(); }
void CpprestListener::Stop() { impl_->Stop(); }

}  // namespace hekla::http
