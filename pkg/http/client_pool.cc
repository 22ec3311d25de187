#include "pkg/http/client_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <deque>
#include <list>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/http/gzip.h"
#include "pkg/http/observer_gate.h"
#include "pkg/http/url.h"
#include "pkg/util/thread_name.h"

namespace hekla::http {
namespace {

namespace asio = boost::asio;
namespace bhttp = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Io = asio::io_context;
using Socket = asio::basic_stream_socket<tcp, Io::executor_type>;
using TlsSocket = asio::ssl::stream<Socket&>;
using Timer =
    asio::basic_waitable_timer<std::chrono::steady_clock,
                               asio::wait_traits<std::chrono::steady_clock>, Io::executor_type>;
using Resolver = asio::ip::basic_resolver<tcp, Io::executor_type>;

constexpr int64_t kTickMs = 100;  // how exactly time-outs are kept
constexpr size_t kReadBytes = 65536;
constexpr int64_t kNever = ClientCall::kNever;

Headers CopyHeaders(const bhttp::fields& fields) {
  Headers out;
  for (const auto& field : fields) {
    out.Add(absl::string_view(field.name_string().data(), field.name_string().size()),
            absl::string_view(field.value().data(), field.value().size()));
  }
  return out;
}

class Connection;

using CallPtr = std::shared_ptr<ClientCall>;

// Ends a call that was not answered.
void End(const CallPtr& call, const absl::Status& status) {
  if (call->gate != nullptr) {
    call->gate->Call([&](StreamObserver& o) { o.OnEnd(status); });
  } else if (ResponseCallback done = std::exchange(call->done, nullptr)) {
    done(status);
  }
}

// What lives on the transport's thread.
class Pool : public std::enable_shared_from_this<Pool> {
 public:
  Pool(BeastTransport::Options options, Url url)
      : options_(std::move(options)), url_(std::move(url)) {}

  void SetContext(SslCtx ctx);
  void Submit(CallPtr call);
  void Cancel(const CallPtr& call);
  void Tick();
  void ShutDown();
  void Released(const std::shared_ptr<Connection>& connection);
  void Closed(const std::shared_ptr<Connection>& connection);
  void Resubmit(CallPtr call);

  Io& io() { return io_; }
  const BeastTransport::Options& options() const { return options_; }
  const Url& url() const { return url_; }
  asio::ssl::context* tls() { return tls_.has_value() ? &*tls_ : nullptr; }
  uint64_t tls_generation() const { return tls_generation_; }
  int64_t now_ms() const { return now_ms_; }
  BeastTransport::Stats stats() const {
    return {.connections = connections_,
            .idle = idle_count_,
            .waiting = waiting_count_,
            .connects = connects_};
  }

 private:
  std::shared_ptr<Connection> Open(bool stream);
  void Serve();

  const BeastTransport::Options options_;
  const Url url_;
  Io io_{1};
  Timer tick_{io_};
  std::optional<asio::ssl::context> tls_;
  uint64_t tls_generation_ = 0;
  int64_t now_ms_ = ClientPool::NowMs();
  bool shut_down_ = false;
  std::deque<CallPtr> waiting_;
  std::vector<std::shared_ptr<Connection>> idle_;  // the last is used first
  std::list<std::shared_ptr<Connection>> all_;
  size_t for_requests_ = 0;  // connections that are not streams
  std::atomic<size_t> connections_{0};
  std::atomic<size_t> idle_count_{0};
  std::atomic<size_t> waiting_count_{0};
  std::atomic<uint64_t> connects_{0};
};

// One connection to the server. Serves one call at a time.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Pool> pool, bool for_stream)
      : for_stream(for_stream),
        pool_(std::move(pool)),
        socket_(pool_->io()),
        resolver_(pool_->io()),
        tls_generation_(pool_->tls_generation()) {}

  void Connect(CallPtr call);
  void Serve(CallPtr call);
  void CheckDeadline(int64_t now_ms);
  // Closes; the call, if there is one, ends with `status`.
  void Fail(const absl::Status& status);
  const CallPtr& call() const { return call_; }

  bool for_stream;
  std::list<std::shared_ptr<Connection>>::iterator place;
  int64_t idle_since_ms = 0;

 private:
  void OnConnected(error_code ec);
  void Handshake();
  void Write();
  void Read();
  void OnRead(error_code ec, size_t bytes);
  void Parse(bool eof);
  void DeliverStream();
  void Finish();
  void Lost(absl::string_view what, error_code ec);
  void Shut();

  const std::shared_ptr<Pool> pool_;
  Socket socket_;
  Resolver resolver_;
  const uint64_t tls_generation_;
  std::optional<TlsSocket> tls_;
  bool closed_ = false;
  bool ready_ = false;   // connected
  bool reused_ = false;  // has served a call before
  bool reading_ = false;
  int64_t connect_deadline_ms_ = kNever;
  int64_t stream_deadline_ms_ = kNever;
  CallPtr call_;
  boost::beast::flat_buffer buffer_;
  std::optional<bhttp::response_parser<bhttp::string_body>> parser_;
  bool headers_reported_ = false;
};

void Connection::Connect(CallPtr call) {
  call_ = std::move(call);
  connect_deadline_ms_ =
      pool_->now_ms() + absl::ToInt64Milliseconds(pool_->options().connect_timeout) + kTickMs;
  error_code ec;
  const auto address = asio::ip::make_address(pool_->url().host, ec);
  auto on_connected = [this, self = shared_from_this()](error_code result) {
    if (!closed_) OnConnected(result);
  };
  if (!ec) {
    socket_.async_connect(tcp::endpoint(address, pool_->url().port), std::move(on_connected));
    return;
  }
  resolver_.async_resolve(pool_->url().host, std::to_string(pool_->url().port),
                          [this, on_connected, asked = std::chrono::steady_clock::now()](
                              error_code result, Resolver::results_type results) {
                            if (closed_) return;
                            if (const auto& told = pool_->options().on_resolved) {
                              told(absl::FromChrono(std::chrono::steady_clock::now() - asked));
                            }
                            if (result) return Lost("resolve", result);
                            asio::async_connect(
                                socket_, results,
                                [on_connected](error_code connected, const tcp::endpoint&) {
                                  on_connected(connected);
                                });
                          });
}

void Connection::OnConnected(error_code ec) {
  if (ec) {
    Lost("connect", ec);
    return;
  }
  socket_.set_option(tcp::no_delay(true), ec);
  socket_.set_option(asio::socket_base::keep_alive(true), ec);
  if (pool_->tls() != nullptr) {
    Handshake();
    return;
  }
  ready_ = true;
  Write();
}

void Connection::Handshake() {
  connect_deadline_ms_ =
      pool_->now_ms() + absl::ToInt64Milliseconds(pool_->options().handshake_timeout) + kTickMs;
  tls_.emplace(socket_, *pool_->tls());
  const ClientTls& settings = pool_->options().tls;
  const std::string& name = settings.server_name.empty() ? pool_->url().host : settings.server_name;
  const absl::Status named = SetServerName(tls_->native_handle(), name, settings.insecure);
  if (!named.ok()) {
    Fail(named);
    return;
  }
  tls_->async_handshake(asio::ssl::stream_base::client,
                        [this, self = shared_from_this()](error_code ec) {
                          if (closed_) return;
                          if (ec) {
                            Lost("TLS handshake", ec);
                            return;
                          }
                          ready_ = true;
                          Write();
                        });
}

void Connection::Serve(CallPtr call) {
  call_ = std::move(call);
  reused_ = true;
  Write();
}

void Connection::Write() {
  if (call_->cancelled) {
    Fail(absl::CancelledError("cancelled"));
    return;
  }
  connect_deadline_ms_ = kNever;
  stream_deadline_ms_ =
      call_->idle_ms == kNever ? kNever : pool_->now_ms() + call_->idle_ms + kTickMs;
  parser_.emplace();
  parser_->eager(true);
  parser_->skip(call_->head);
  parser_->body_limit(call_->gate == nullptr ? pool_->options().max_body_bytes : UINT64_MAX);
  headers_reported_ = false;
  auto written = [this, self = shared_from_this(), call = call_](error_code ec, size_t) {
    if (!closed_ && ec) Lost("write", ec);
  };
  if (tls_.has_value()) {
    asio::async_write(*tls_, asio::buffer(call_->wire), std::move(written));
  } else {
    asio::async_write(socket_, asio::buffer(call_->wire), std::move(written));
  }
  Read();
}

void Connection::Read() {
  if (reading_) return;  // the read that watched the idle connection serves the call
  reading_ = true;
  auto done = [this, self = shared_from_this()](error_code ec, size_t bytes) { OnRead(ec, bytes); };
  const auto space = buffer_.prepare(kReadBytes);
  if (tls_.has_value()) {
    tls_->async_read_some(space, std::move(done));
  } else {
    socket_.async_read_some(space, std::move(done));
  }
}

void Connection::OnRead(error_code ec, size_t bytes) {
  reading_ = false;
  if (closed_) return;
  if (call_ == nullptr) {  // an idle connection: the server closes it, or talks out of turn
    Fail(absl::UnavailableError("closed while idle"));
    return;
  }
  buffer_.commit(bytes);
  if (ec == asio::error::eof || ec == asio::ssl::error::stream_truncated) {
    Parse(/*eof=*/true);
  } else if (ec) {
    Lost("read", ec);
  } else {
    Parse(/*eof=*/false);
  }
}

void Connection::Parse(bool eof) {
  const auto self = shared_from_this();
  if (call_->gate != nullptr && call_->idle_ms != kNever && buffer_.size() > 0) {
    stream_deadline_ms_ = pool_->now_ms() + call_->idle_ms + kTickMs;
  }
  error_code ec;
  while (buffer_.size() > 0 && !parser_->is_done()) {
    buffer_.consume(parser_->put(buffer_.data(), ec));
    if (ec == bhttp::error::need_more) {
      ec = {};
      break;
    }
    if (ec) {
      Fail(absl::UnavailableError(absl::StrCat("malformed answer: ", ec.message())));
      return;
    }
    if (parser_->is_done() && parser_->get().result_int() == 100) {  // interim answer
      parser_.emplace();
      parser_->eager(true);
    }
  }
  if (eof && !parser_->is_done()) {
    if (parser_->got_some()) parser_->put_eof(ec);  // fine for an answer of unknown length
    if (ec || !parser_->is_done()) {
      if (call_->gate != nullptr) DeliverStream();
      if (!closed_) Lost("read", asio::error::eof);
      return;
    }
  }
  if (call_->gate != nullptr) {
    DeliverStream();
    if (closed_) return;
  }
  if (parser_->is_done()) {
    Finish();
  } else {
    Read();
  }
}

void Connection::DeliverStream() {
  if (!parser_->is_header_done()) return;
  auto& message = parser_->get();
  const CallPtr call = call_;
  if (!headers_reported_) {
    headers_reported_ = true;
    const Headers headers = CopyHeaders(message);
    call->gate->Call(
        [&](StreamObserver& o) { o.OnHeaders(static_cast<int>(message.result_int()), headers); });
  }
  if (!message.body().empty()) {
    call->gate->Call([&](StreamObserver& o) { o.OnData(message.body()); });
    message.body().clear();
  }
}

void Connection::Finish() {
  auto& message = parser_->get();
  const bool keep = message.keep_alive() && !parser_->need_eof() && buffer_.size() == 0 &&
                    tls_generation_ == pool_->tls_generation();
  const CallPtr call = std::exchange(call_, nullptr);
  std::optional<absl::StatusOr<Response>> result;
  if (call->gate == nullptr) {
    Response response;
    response.status = static_cast<int>(message.result_int());
    response.headers = CopyHeaders(message);
    response.body = std::move(message.body());
    if (absl::EqualsIgnoreCase(response.headers.Get("Content-Encoding"), "gzip")) {
      auto text = GzipDecompress(response.body, pool_->options().max_body_bytes);
      if (text.ok()) {
        response.body = *std::move(text);
        response.headers.Set("Content-Encoding", "identity");
        result = std::move(response);
      } else {
        result = text.status();
      }
    } else {
      result = std::move(response);
    }
  }
  stream_deadline_ms_ = kNever;
  parser_.reset();
  if (keep) {
    pool_->Released(shared_from_this());  // before the callback: the next request goes out first
    if (call_ == nullptr && !closed_) Read();
  } else {
    Shut();
  }
  if (call->gate != nullptr) {
    call->gate->Call([](StreamObserver& o) { o.OnEnd(absl::OkStatus()); });
  } else {
    call->done(*std::move(result));
  }
}

void Connection::CheckDeadline(int64_t now_ms) {
  if (now_ms > connect_deadline_ms_) {
    Fail(absl::UnavailableError(
        absl::StrCat("connect to ", pool_->url().Authority(), ": timed out")));
  } else if (call_ != nullptr && now_ms > call_->deadline_ms) {
    Fail(absl::DeadlineExceededError("no answer in time"));
  } else if (now_ms > stream_deadline_ms_) {
    Fail(absl::DeadlineExceededError("stream is silent"));
  }
}

void Connection::Lost(absl::string_view what, error_code ec) {
  const bool untouched = parser_.has_value() && !parser_->got_some() && buffer_.size() == 0;
  if (call_ != nullptr && reused_ && untouched && call_->repeatable && !call_->cancelled) {
    // A kept connection that the server had closed: once more on a fresh one.
    CallPtr call = std::exchange(call_, nullptr);
    Shut();
    call->repeatable = false;
    pool_->Resubmit(std::move(call));
    return;
  }
  Fail(absl::UnavailableError(
      absl::StrCat(what, " ", pool_->url().Authority(), ": ", ec.message())));
}

void Connection::Fail(const absl::Status& status) {
  if (closed_) return;
  const CallPtr call = std::exchange(call_, nullptr);
  Shut();
  if (call != nullptr) End(call, status);
}

void Connection::Shut() {
  if (closed_) return;
  closed_ = true;
  error_code ignored;
  resolver_.cancel();
  socket_.close(ignored);
  pool_->Closed(shared_from_this());
}

void Pool::SetContext(SslCtx ctx) {
  tls_.emplace(ctx.release());
  ++tls_generation_;
  const auto idle = std::exchange(idle_, {});
  idle_count_ = 0;
  for (const auto& connection : idle) connection->Fail(absl::CancelledError("settings changed"));
}

std::shared_ptr<Connection> Pool::Open(bool stream) {
  auto connection = std::make_shared<Connection>(shared_from_this(), stream);
  connection->place = all_.insert(all_.end(), connection);
  connections_ = all_.size();
  ++connects_;
  if (!stream) ++for_requests_;
  return connection;
}

void Pool::Submit(CallPtr call) {
  if (call->cancelled) return;
  if (shut_down_) {
    End(call, absl::CancelledError("transport is shut down"));
    return;
  }
  if (call->gate != nullptr) {
    Open(/*stream=*/true)->Connect(std::move(call));
    return;
  }
  waiting_.push_back(std::move(call));
  Serve();
}

void Pool::Resubmit(CallPtr call) {
  waiting_.push_front(std::move(call));
  Serve();
}

void Pool::Serve() {
  while (!waiting_.empty()) {
    if (!idle_.empty()) {
      const auto connection = std::move(idle_.back());
      idle_.pop_back();
      CallPtr call = std::move(waiting_.front());
      waiting_.pop_front();
      connection->Serve(std::move(call));
    } else if (for_requests_ < options_.max_connections) {
      CallPtr call = std::move(waiting_.front());
      waiting_.pop_front();
      Open(/*stream=*/false)->Connect(std::move(call));
    } else {
      break;
    }
  }
  idle_count_ = idle_.size();
  waiting_count_ = waiting_.size();
}

void Pool::Cancel(const CallPtr& call) {
  call->cancelled = true;
  for (const auto& connection : all_) {
    if (connection->call() == call) {
      connection->Fail(absl::CancelledError("cancelled"));
      return;
    }
  }
}

void Pool::Released(const std::shared_ptr<Connection>& connection) {
  if (connection->for_stream) {
    if (for_requests_ >= options_.max_connections) {
      connection->Fail(absl::CancelledError("not needed"));
      return;
    }
    connection->for_stream = false;
    ++for_requests_;
  }
  connection->idle_since_ms = now_ms_;
  idle_.push_back(connection);
  Serve();
}

void Pool::Closed(const std::shared_ptr<Connection>& connection) {
  if (!connection->for_stream) --for_requests_;
  idle_.erase(std::remove(idle_.begin(), idle_.end(), connection), idle_.end());
  all_.erase(connection->place);
  connections_ = all_.size();
  Serve();
}

void Pool::Tick() {
  tick_.expires_after(std::chrono::milliseconds(kTickMs));
  tick_.async_wait([this](error_code ec) {
    if (ec || shut_down_) return;
    now_ms_ = ClientPool::NowMs();
    const std::vector<std::shared_ptr<Connection>> all(all_.begin(), all_.end());
    for (const auto& connection : all) connection->CheckDeadline(now_ms_);
    const int64_t idle_ms = absl::ToInt64Milliseconds(options_.idle_timeout);
    while (!idle_.empty() && now_ms_ - idle_.front()->idle_since_ms > idle_ms) {
      idle_.front()->Fail(absl::CancelledError("idle"));
    }
    std::vector<CallPtr> late;
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if (now_ms_ > (*it)->deadline_ms) {
        late.push_back(std::move(*it));
        it = waiting_.erase(it);
      } else {
        ++it;
      }
    }
    for (const CallPtr& call : late) End(call, absl::DeadlineExceededError("no answer in time"));
    Tick();
  });
}

void Pool::ShutDown() {
  shut_down_ = true;
  tick_.cancel();
  const absl::Status status = absl::CancelledError("transport is shut down");
  const auto waiting = std::exchange(waiting_, {});
  for (const CallPtr& call : waiting) End(call, status);
  while (!all_.empty()) all_.front()->Fail(status);
}

}  // namespace

struct ClientPool::Impl {
  std::shared_ptr<Pool> pool;
  std::optional<asio::executor_work_guard<Io::executor_type>> guard;
  std::thread thread;
};

ClientPool::ClientPool(BeastTransport::Options options, Url url) : impl_(std::make_unique<Impl>()) {
  impl_->pool = std::make_shared<Pool>(std::move(options), std::move(url));
  impl_->guard.emplace(impl_->pool->io().get_executor());
}

ClientPool::~ClientPool() = default;

int64_t ClientPool::NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void ClientPool::Start() {
  impl_->thread = std::thread([pool = impl_->pool] {
    util::SetThreadName(pool->options().thread_name);
    pool->Tick();
    pool->io().run();
  });
}

void ClientPool::Post(std::function<void()> task) {
  asio::post(impl_->pool->io(), std::move(task));
}

void ClientPool::Submit(CallPtr call) { impl_->pool->Submit(std::move(call)); }
void ClientPool::Cancel(const CallPtr& call) { impl_->pool->Cancel(call); }
void ClientPool::SetContext(SslCtx ctx) { impl_->pool->SetContext(std::move(ctx)); }
BeastTransport::Stats ClientPool::stats() const { return impl_->pool->stats(); }

void ClientPool::Stop() {
  Post([impl = impl_.get()] {
    impl->pool->ShutDown();
    impl->guard.reset();
  });
  impl_->thread.join();
}

}  // namespace hekla::http
