#include "pkg/http/server_worker.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/http/exchange.h"
#include "pkg/http/gzip.h"
#include "pkg/util/thread_name.h"

namespace hekla::http {
namespace {

namespace asio = boost::asio;
namespace bhttp = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Io = asio::io_context;
using Socket = asio::basic_stream_socket<tcp, Io::executor_type>;
using Timer =
    asio::basic_waitable_timer<std::chrono::steady_clock,
                               asio::wait_traits<std::chrono::steady_clock>, Io::executor_type>;
using TlsSocket = asio::ssl::stream<Socket&>;

constexpr int64_t kTickMs = 250;         // how exactly deadlines are kept
constexpr int64_t kLingerMs = 2000;      // reading on after a last answer
constexpr size_t kReadBytes = 16384;     // space offered to one read
constexpr size_t kBatchBytes = 1 << 20;  // of a stream, per write
constexpr int64_t kNever = INT64_MAX / 2;

class Connection;

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// One thread and what lives on it; nothing here is touched from elsewhere, except through `io`.
struct IoThread : public std::enable_shared_from_this<IoThread> {
  Io io{1};
  std::optional<asio::executor_work_guard<Io::executor_type>> guard{io.get_executor()};
  Timer tick{io};
  absl::flat_hash_set<std::shared_ptr<Connection>> connections;
  int64_t now_ms = NowMs();  // coarse: moves with the ticks
  int64_t force_close_ms = kNever;
  bool stopping = false;
  std::optional<asio::ssl::context> tls;
  std::thread thread;

  void Tick();
  void BeginStop(int64_t drain_ms);
  void LeaveIfEmpty();
};

// A sequence of buffers that lives elsewhere; asio copies it freely.
struct BufferView {
  using value_type = asio::const_buffer;
  using const_iterator = const asio::const_buffer*;
  const_iterator begin() const { return first; }
  const_iterator end() const { return last; }
  const_iterator first;
  const_iterator last;
};

// One client connection. All methods run on its thread, except Post.
class Connection final : public ExchangePort, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, std::shared_ptr<IoThread> io, std::shared_ptr<ServerShared> shared)
      : socket_(std::move(socket)), io_(std::move(io)), shared_(std::move(shared)) {
    ++shared_->connections;
  }
  ~Connection() override { --shared_->connections; }

  void Start();
  bool Post(std::function<void()> task) override;
  bool PostLater(std::function<void()> task) override;
  void Send(Response response) override;
  void BeginStream(int status, const Headers& headers, std::shared_ptr<Exchange> stream) override;
  void Flush() override;
  void Drop() override;
  void CheckDeadline(int64_t now_ms) {
    if (now_ms > deadline_ms_) Drop();
  }
  void Drain();
  size_t max_stream_queue_bytes() const override { return shared_->options.max_stream_queue_bytes; }

 private:
  enum class State : uint8_t { kHandshake, kReading, kHandling, kSending, kStreaming, kLingering };

  void ExpireIn(absl::Duration d) {
    deadline_ms_ = d == absl::InfiniteDuration()
                       ? kNever
                       : io_->now_ms + absl::ToInt64Milliseconds(d) + kTickMs;
  }
  void NextRequest();
  void ReadMore();
  void OnRead(error_code ec, size_t bytes);
  void Parse();
  void Dispatch();
  void Refuse(error_code ec);
  void OnSent(error_code ec);
  void OnFlushed(error_code ec, size_t bytes, bool last);
  void Linger();
  void BuildHead(int status, const Headers& headers, std::optional<size_t> length);
  template <typename Done>
  void AsyncWrite(Done done);

  Socket socket_;
  std::optional<TlsSocket> tls_;
  const std::shared_ptr<IoThread> io_;
  const std::shared_ptr<ServerShared> shared_;
  absl::Mutex mutex_;
  bool dead_ ABSL_GUARDED_BY(mutex_) = false;

  State state_ = State::kHandshake;
  bool closed_ = false;
  int64_t deadline_ms_ = kNever;
  Peer peer_;
  boost::beast::flat_buffer buffer_;
  std::optional<bhttp::request_parser<bhttp::string_body>> parser_;
  bool served_ = false;  // a whole request has come
  bool header_seen_ = false;
  bool keep_alive_ = true;
  bool head_only_ = false;
  bool chunked_ = false;
  bool accepts_gzip_ = false;
  bool writing_ = false;
  bool reading_ = false;
  bool probing_ = false;  // the read under way fills probe_, not buffer_
  std::array<char, 512> probe_;
  std::shared_ptr<Exchange> stream_;
  std::string head_;
  std::string body_;
  std::string flat_;
  std::array<char, 24> chunk_head_;
  std::vector<std::shared_ptr<const std::string>> batch_;
  std::vector<asio::const_buffer> buffers_;
};

void IoThread::Tick() {
  tick.expires_after(std::chrono::milliseconds(kTickMs));
  tick.async_wait([this](error_code ec) {
    if (ec) return;
    now_ms = NowMs();
    const std::vector<std::shared_ptr<Connection>> all(connections.begin(), connections.end());
    for (const auto& connection : all) {
      if (now_ms >= force_close_ms) {
        connection->Drop();
      } else {
        connection->CheckDeadline(now_ms);
      }
    }
    if (guard.has_value()) Tick();
  });
}

void IoThread::BeginStop(int64_t drain_ms) {
  stopping = true;
  force_close_ms = now_ms + drain_ms;
  const std::vector<std::shared_ptr<Connection>> all(connections.begin(), connections.end());
  for (const auto& connection : all) connection->Drain();
  LeaveIfEmpty();
}

void IoThread::LeaveIfEmpty() {
  if (!stopping || !connections.empty()) return;
  guard.reset();
  tick.cancel();
}

bool Connection::Post(std::function<void()> task) {
  if (!io_->io.get_executor().running_in_this_thread()) return PostLater(std::move(task));
  if (closed_) return false;
  task();
  return true;
}

bool Connection::PostLater(std::function<void()> task) {
  absl::MutexLock lock(&mutex_);
  if (!dead_) asio::post(io_->io, std::move(task));
  return !dead_;
}

void Connection::Start() {
  if (io_->stopping || shared_->connections > shared_->options.max_connections) {
    error_code ignored;
    socket_.close(ignored);
    return;
  }
  error_code ec;
  socket_.set_option(tcp::no_delay(true), ec);
  const auto remote = socket_.remote_endpoint(ec);
  if (!ec) {
    const std::string address = remote.address().to_string();
    peer_.address = remote.address().is_v6() ? absl::StrCat("[", address, "]:", remote.port())
                                             : absl::StrCat(address, ":", remote.port());
  }
  io_->connections.insert(shared_from_this());
  if (!io_->tls.has_value()) {
    NextRequest();
    return;
  }
  tls_.emplace(socket_, *io_->tls);
  ExpireIn(std::min(absl::Seconds(10), shared_->options.read_timeout));
  tls_->async_handshake(asio::ssl::stream_base::server,
                        [this, self = shared_from_this()](error_code result) {
                          if (closed_) return;
                          if (result) {
                            Drop();
                            return;
                          }
                          peer_.certificate_subject = VerifiedSubject(tls_->native_handle());
                          NextRequest();
                        });
}

void Connection::NextRequest() {
  state_ = State::kReading;
  if (io_->stopping) {
    Drop();
    return;
  }
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(static_cast<uint32_t>(shared_->options.max_header_bytes));
  parser_->body_limit(shared_->options.max_body_bytes);
  header_seen_ = false;
  if (buffer_.size() == 0) {
    const BeastServer::Options& options = shared_->options;
    ExpireIn(served_ ? options.idle_timeout : std::min(options.idle_timeout, options.read_timeout));
    ReadMore();
  } else {
    ExpireIn(shared_->options.header_timeout);
    Parse();
  }
}

void Connection::ReadMore() {
  if (reading_) return;
  reading_ = true;
  auto done = [this, self = shared_from_this()](error_code ec, size_t bytes) { OnRead(ec, bytes); };
  probing_ = state_ != State::kReading;
  const asio::mutable_buffer space =
      probing_ ? asio::buffer(probe_) : asio::mutable_buffer(buffer_.prepare(kReadBytes));
  if (tls_.has_value()) {
    tls_->async_read_some(space, std::move(done));
  } else {
    socket_.async_read_some(space, std::move(done));
  }
}

void Connection::OnRead(error_code ec, size_t bytes) {
  reading_ = false;
  if (closed_) return;
  if (ec) {
    Drop();
    return;
  }
  if (state_ == State::kReading && buffer_.size() == 0 && !parser_->got_some()) {
    ExpireIn(shared_->options.header_timeout);
  }
  if (probing_) {
    asio::buffer_copy(buffer_.prepare(bytes), asio::buffer(probe_.data(), bytes));
  }
  buffer_.commit(bytes);
  switch (state_) {
    case State::kReading:
      Parse();
      break;
    case State::kLingering:
      buffer_.clear();  // whatever comes is of no interest
      ReadMore();
      break;
    default:
      // A request behind a stream that may never end: keep it, with bounded memory.
      if (buffer_.size() > kReadBytes) {
        Drop();
      } else {
        ReadMore();
      }
  }
}

void Connection::Parse() {
  while (buffer_.size() > 0) {
    error_code ec;
    buffer_.consume(parser_->put(buffer_.data(), ec));
    if (ec && ec != bhttp::error::need_more) {
      Refuse(ec);
      return;
    }
    if (parser_->is_header_done() && !header_seen_) {
      header_seen_ = true;
      ExpireIn(shared_->options.read_timeout);
      if (!parser_->is_done() &&
          boost::beast::iequals(parser_->get()[bhttp::field::expect], "100-continue")) {
        head_ = "HTTP/1.1 100 Continue\r\n\r\n";
        buffers_.assign({asio::buffer(head_)});
        AsyncWrite([this](error_code result, size_t) {
          if (result) {
            Drop();
          } else {
            Parse();
          }
        });
        return;
      }
    }
    if (parser_->is_done()) {
      Dispatch();
      return;
    }
    if (ec == bhttp::error::need_more) break;
  }
  ReadMore();
}

void Connection::Dispatch() {
  auto& message = parser_->get();
  Request request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  for (const auto& field : message) {
    const auto name = field.name_string();
    const auto value = field.value();
    request.headers.Add(absl::string_view(name.data(), name.size()),
                        absl::string_view(value.data(), value.size()));
  }
  request.body = std::move(message.body());
  keep_alive_ = message.keep_alive();
  head_only_ = message.method() == bhttp::verb::head;
  chunked_ = message.version() >= 11;
  accepts_gzip_ =
      shared_->options.gzip_min_bytes > 0 && AcceptsGzip(request.headers.Get("Accept-Encoding"));
  parser_.reset();
  state_ = State::kHandling;
  served_ = true;
  deadline_ms_ = kNever;
  auto exchange = std::make_shared<Exchange>(shared_from_this());
  try {
    shared_->handler->Handle(std::move(request), peer_, std::move(exchange));
  } catch (const std::exception& e) {
    LOG(ERROR) << "request handler threw what=" << e.what();
  }
}

void Connection::Refuse(error_code ec) {
  Response response{.status = 400, .headers = {}, .body = ""};
  if (ec == bhttp::error::header_limit) response.status = 431;
  if (ec == bhttp::error::body_limit) response.status = 413;
  response.headers.Add("Content-Type", "text/plain");
  response.body = absl::StrCat(ec.message(), "\n");
  parser_.reset();
  keep_alive_ = false;
  head_only_ = false;
  Send(std::move(response));
}

void Connection::BuildHead(int status, const Headers& headers, std::optional<size_t> length) {
  const auto reason = bhttp::obsolete_reason(static_cast<bhttp::status>(status));
  head_ = absl::StrCat("HTTP/1.1 ", status, " ");
  head_.append(reason.data(), reason.size());
  head_.append("\r\n");
  for (const auto& [name, value] : headers.all()) {
    if (absl::EqualsIgnoreCase(name, "Content-Length")) continue;
    absl::StrAppend(&head_, name, ": ", value, "\r\n");
  }
  const bool has_body = status >= 200 && status != 204 && status != 304;
  if (length.has_value()) {
    if (has_body) absl::StrAppend(&head_, "Content-Length: ", *length, "\r\n");
  } else if (chunked_) {
    head_.append("Transfer-Encoding: chunked\r\n");
  }
  if (!keep_alive_) head_.append("Connection: close\r\n");
  head_.append("\r\n");
}

template <typename Done>
void Connection::AsyncWrite(Done done) {
  ExpireIn(shared_->options.write_timeout);
  const BufferView view{buffers_.data(), buffers_.data() + buffers_.size()};
  auto progress = [this](const error_code& ec, size_t) -> size_t {
    ExpireIn(shared_->options.write_timeout);  // anew after each piece
    return ec ? 0 : kBatchBytes;
  };
  auto handler = [this, self = shared_from_this(), done = std::move(done)](error_code ec,
                                                                           size_t bytes) {
    if (!closed_) done(ec, bytes);
  };
  if (tls_.has_value()) {
    asio::async_write(*tls_, view, progress, std::move(handler));
  } else {
    asio::async_write(socket_, view, progress, std::move(handler));
  }
}

void Connection::Send(Response response) {
  if (closed_) return;
  state_ = State::kSending;
  if (io_->stopping) keep_alive_ = false;
  if (accepts_gzip_ && response.body.size() >= shared_->options.gzip_min_bytes &&
      !response.headers.Has("Content-Encoding")) {
    response.body = GzipCompress(response.body);
    response.headers.Add("Content-Encoding", "gzip");
    response.headers.Add("Vary", "Accept-Encoding");
  }
  body_ = std::move(response.body);
  BuildHead(response.status, response.headers, body_.size());
  buffers_.clear();
  if (tls_.has_value() && body_.size() < kBatchBytes) {
    if (!head_only_) head_.append(body_);  // one record
    buffers_.push_back(asio::buffer(head_));
  } else {
    buffers_.push_back(asio::buffer(head_));
    if (!head_only_) buffers_.push_back(asio::buffer(body_));
  }
  AsyncWrite([this](error_code ec, size_t) { OnSent(ec); });
}

void Connection::OnSent(error_code ec) {
  body_ = std::string();
  if (ec) {
    Drop();
  } else if (keep_alive_) {
    NextRequest();
  } else {
    Linger();
  }
}

void Connection::Linger() {
  // Closing at once could destroy the answer on its way: the peer closes first, or the time is up.
  state_ = State::kLingering;
  deadline_ms_ = io_->now_ms + kLingerMs;
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  ReadMore();
}

void Connection::BeginStream(int status, const Headers& headers, std::shared_ptr<Exchange> stream) {
  if (closed_) {
    stream->Ended();
    return;
  }
  state_ = State::kStreaming;
  stream_ = std::move(stream);
  if (!chunked_ || head_only_) keep_alive_ = false;
  BuildHead(status, headers, std::nullopt);
  if (head_only_ || io_->stopping) stream_->Close();
  ReadMore();  // tells when the peer goes
  Flush();     // the head goes out before there is any content
}

void Connection::Flush() {
  if (writing_ || closed_ || stream_ == nullptr) return;
  bool last = false;
  batch_.clear();
  stream_->Take(kBatchBytes, batch_, last);
  size_t bytes = 0;
  for (const auto& piece : batch_) bytes += piece->size();
  buffers_.clear();
  if (!head_.empty()) buffers_.push_back(asio::buffer(head_));
  if (bytes > 0 && !head_only_) {
    if (chunked_) {
      const int size = snprintf(chunk_head_.data(), chunk_head_.size(), "%zx\r\n", bytes);
      buffers_.push_back(asio::buffer(chunk_head_.data(), static_cast<size_t>(size)));
    }
    for (const auto& piece : batch_) buffers_.push_back(asio::buffer(*piece));
    if (chunked_) buffers_.push_back(asio::buffer("\r\n", 2));
  }
  if (last && chunked_ && !head_only_) buffers_.push_back(asio::buffer("0\r\n\r\n", 5));
  if (buffers_.empty()) {
    if (last) OnFlushed({}, bytes, last);
    return;
  }
  if (tls_.has_value() && buffers_.size() > 1) {
    flat_.clear();
    for (const auto& buffer : buffers_) {
      flat_.append(static_cast<const char*>(buffer.data()), buffer.size());
    }
    buffers_.assign({asio::buffer(flat_)});
  }
  writing_ = true;
  AsyncWrite([this, bytes, last](error_code ec, size_t) { OnFlushed(ec, bytes, last); });
}

void Connection::OnFlushed(error_code ec, size_t bytes, bool last) {
  writing_ = false;
  head_.clear();
  batch_.clear();
  deadline_ms_ = kNever;
  if (ec) {
    Drop();
    return;
  }
  const bool more = stream_->Sent(bytes);
  if (!last) {
    if (more) Flush();
    return;
  }
  const std::shared_ptr<Exchange> ended = std::move(stream_);
  stream_ = nullptr;
  ended->Ended();
  if (keep_alive_ && !io_->stopping) {
    NextRequest();
  } else {
    Linger();
  }
}

void Connection::Drain() {
  if (state_ == State::kReading || state_ == State::kHandshake) {
    Drop();
  } else if (state_ == State::kStreaming) {
    stream_->Close();
  }
}

void Connection::Drop() {
  if (closed_) return;
  const auto self = shared_from_this();
  closed_ = true;
  {
    absl::MutexLock lock(&mutex_);
    dead_ = true;
  }
  error_code ignored;
  socket_.close(ignored);
  io_->connections.erase(self);
  if (const std::shared_ptr<Exchange> stream = std::exchange(stream_, nullptr)) stream->Ended();
  io_->LeaveIfEmpty();
}

}  // namespace

struct ServerWorker::Impl {
  std::shared_ptr<IoThread> io = std::make_shared<IoThread>();
  std::shared_ptr<ServerShared> shared;
};

ServerWorker::ServerWorker(std::shared_ptr<ServerShared> shared) : impl_(std::make_shared<Impl>()) {
  impl_->shared = std::move(shared);
  if (impl_->shared->tls != nullptr) {
    SSL_CTX_up_ref(impl_->shared->tls.get());
    impl_->io->tls.emplace(impl_->shared->tls.get());  // drops one reference in the end
  }
}

ServerWorker::~ServerWorker() = default;

void ServerWorker::Start(const std::string& thread_name) {
  IoThread* io = impl_->io.get();
  io->thread = std::thread([io, thread_name] {
    util::SetThreadName(thread_name);
    io->Tick();
    io->io.run();
  });
}

void ServerWorker::Adopt(int socket, bool is_v6) {
  asio::post(impl_->io->io, [socket, is_v6, io = impl_->io.get(), shared = impl_->shared] {
    error_code ec;
    Socket adopted(io->io);
    adopted.assign(is_v6 ? tcp::v6() : tcp::v4(), socket, ec);
    if (ec) {
      ::close(socket);
      return;
    }
    std::make_shared<Connection>(std::move(adopted), io->shared_from_this(), shared)->Start();
  });
}

void ServerWorker::SetTls(ssl_ctx_st* context) {
  SSL_CTX_up_ref(context);  // for whom it is handed to
  asio::post(impl_->io->io, [io = impl_->io.get(), context] { io->tls.emplace(context); });
}

void ServerWorker::BeginStop() {
  const int64_t drain_ms = absl::ToInt64Milliseconds(impl_->shared->options.drain_timeout);
  asio::post(impl_->io->io, [io = impl_->io.get(), drain_ms] { io->BeginStop(drain_ms); });
}

void ServerWorker::Join() { impl_->io->thread.join(); }

}  // namespace hekla::http
