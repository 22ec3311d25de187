#include "pkg/http/beast_server.h"

#include <algorithm>
#include <boost/asio.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/http/server_worker.h"
#include "pkg/util/status_macros.h"
#include "pkg/util/thread_name.h"

namespace hekla::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// Waiting after an accept that failed, for instance because no file descriptor is left.
constexpr auto kAcceptPause = std::chrono::milliseconds(100);

bool MachineLacksFamily(const error_code& ec) {
  return ec == asio::error::address_family_not_supported ||
         ec == boost::system::errc::address_not_available;
}

}  // namespace

class BeastServer::Impl {
 public:
  explicit Impl(Options options) : shared_(std::make_shared<ServerShared>()) {
    shared_->options = std::move(options);
  }

  absl::Status Start(Handler* handler) {
    const Options& options = shared_->options;
    shared_->handler = handler;
    if (options.tls) {
      HEKLA_ASSIGN_OR_RETURN(shared_->tls, MakeServerContext(options.tls_files));
    }
    HEKLA_RETURN_IF_ERROR(Listen());
    for (int i = 0; i < std::max(1, options.threads); ++i) {
      workers_.push_back(std::make_unique<ServerWorker>(shared_));
      workers_.back()->Start(absl::StrCat(options.thread_name, "-", i));
    }
    Accept();
    thread_ = std::thread([this, name = options.thread_name] {
      util::SetThreadName(absl::StrCat(name, "-accept"));
      io_.run();
    });
    return absl::OkStatus();
  }

  absl::Status SetTls(const ServerTls& tls) {
    HEKLA_ASSIGN_OR_RETURN(const SslCtx context, MakeServerContext(tls));
    for (const auto& worker : workers_) worker->SetTls(context.get());
    return absl::OkStatus();
  }

  uint16_t port() const { return port_; }
  size_t connections() const { return shared_->connections; }

  void Stop() {
    if (!thread_.joinable()) return;
    asio::post(io_, [this] {
      error_code ignored;
      acceptor_.close(ignored);
      pause_.cancel();
    });
    thread_.join();
    for (const auto& worker : workers_) worker->BeginStop();
    for (const auto& worker : workers_) worker->Join();
  }

 private:
  absl::Status Listen() {
    const Options& options = shared_->options;
    error_code ec;
    if (options.address.empty()) {
      ec = OpenAcceptor(tcp::endpoint(tcp::v6(), options.port));
      if (MachineLacksFamily(ec)) {
        ec = OpenAcceptor(tcp::endpoint(tcp::v4(), options.port));
      }
    } else {
      HEKLA_ASSIGN_OR_RETURN(const asio::ip::address address, Resolve(options.address));
      ec = OpenAcceptor(tcp::endpoint(address, options.port));
    }
    if (ec) {
      return absl::UnavailableError(
          absl::StrCat("listen on ", options.address, ":", options.port, ": ", ec.message()));
    }
    port_ = acceptor_.local_endpoint(ec).port();
    return absl::OkStatus();
  }

  absl::StatusOr<asio::ip::address> Resolve(const std::string& host) {
    error_code ec;
    const auto address = asio::ip::make_address(host, ec);
    if (!ec) return address;
    const auto found = tcp::resolver(io_).resolve(host, "", tcp::resolver::passive, ec);
    if (!ec && !found.empty()) return found.begin()->endpoint().address();
    return absl::InvalidArgumentError(absl::StrCat("listen address ", host, ": ", ec.message()));
  }

  // An endpoint of IPv6 for all addresses takes those of IPv4 too.
  error_code OpenAcceptor(const tcp::endpoint& endpoint) {
    error_code ec;
    const bool both = endpoint.address().is_v6() && endpoint.address().is_unspecified();
    if (acceptor_.is_open()) acceptor_.close(ec);
    acceptor_.open(endpoint.protocol(), ec);
    if (!ec && both) acceptor_.set_option(asio::ip::v6_only(false), ec);
    if (!ec) acceptor_.set_option(asio::socket_base::reuse_address(true), ec);
    if (!ec) acceptor_.bind(endpoint, ec);
    if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
    return ec;
  }

  void Accept() {
    acceptor_.async_accept([this](error_code ec, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (ec) {
        LOG_EVERY_N(WARNING, 100) << "accept failed error=" << ec.message();
        pause_.expires_after(kAcceptPause);
        pause_.async_wait([this](error_code) {
          if (acceptor_.is_open()) Accept();
        });
        return;
      }
      const bool is_v6 = socket.local_endpoint(ec).address().is_v6();
      const int handle = socket.release(ec);
      if (!ec) workers_[next_++ % workers_.size()]->Adopt(handle, is_v6);
      Accept();
    });
  }

  const std::shared_ptr<ServerShared> shared_;
  std::vector<std::unique_ptr<ServerWorker>> workers_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_{io_};
  asio::steady_timer pause_{io_};
  std::thread thread_;
  size_t next_ = 0;
  uint16_t port_ = 0;
};

BeastServer::BeastServer(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
BeastServer::~BeastServer() { Stop(); }
absl::Status BeastServer::Start(Handler* handler) { return impl_->Start(handler); }
absl::Status BeastServer::SetTls(const ServerTls& tls) { return impl_->SetTls(tls); }
uint16_t BeastServer::port() const { return impl_->port(); }
size_t BeastServer::connections() const { return impl_->connections(); }
void BeastServer::Stop() { impl_->Stop(); }

}  // namespace hekla::http
