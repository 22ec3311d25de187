#include "pkg/ray/webhook/webhook_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "pkg/http/beast_transport.h"
#include "pkg/http/testing/certificates.h"
#include "pkg/util/manual_executor.h"
#include "pkg/util/testing/temp_folder.h"

namespace hekla::ray::webhook {
namespace {

// Speaks TLS with whoever listens on a port of this machine, or leaves it at the connection.
class RawClient {
 public:
  RawClient(uint16_t port, bool handshake) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval patience{.tv_sec = 20, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return;
    SSL_set_fd(ssl_, fd_);
    secure_ = handshake && SSL_connect(ssl_) == 1;
  }
  ~RawClient() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    close(fd_);
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool secure() const { return secure_; }
  void Send(const std::string& text) {
    SSL_write(ssl_, text.data(), static_cast<int>(text.size()));
  }
  // What comes until the other side closes.
  std::string ReadToEnd() {
    std::string out;
    char piece[4096];
    while (true) {
      const auto n = secure_ ? SSL_read(ssl_, piece, sizeof(piece))
                             : static_cast<int>(recv(fd_, piece, sizeof(piece), 0));
      if (n <= 0) return out;
      out.append(piece, static_cast<size_t>(n));
    }
  }

 private:
  const int fd_;
  SSL_CTX* const context_ = SSL_CTX_new(TLS_client_method());
  SSL* const ssl_ = SSL_new(context_);
  bool secure_ = false;
};

class WebhookServerTest : public ::testing::Test {
 protected:
  WebhookServerTest() { signal(SIGPIPE, SIG_IGN); }  // OpenSSL writes without asking
  ~WebhookServerTest() override { server_.Stop(); }
  void Put(http::testing::CertificateAuthority& authority) {
    const http::testing::KeyPair pair = authority.IssueServer("webhook", {"IP:127.0.0.1"});
    std::ofstream(folder_ + "/tls.crt") << pair.cert_pem;
    std::ofstream(folder_ + "/tls.key") << pair.key_pem;
  }
  // A server of its own with these limits, and its certificate.
  void Start(http::BeastServer::Options listener) {
    Put(authority_);
    limited_ = std::make_unique<WebhookServer>(
        &executor_, &other_registry_,
        WebhookServer::Options{.folder = folder_, .port = 0, .listener = std::move(listener)});
    ASSERT_EQ(limited_->Start(), absl::OkStatus());
  }
  // Status of a review that is sent by who trusts `authority`; 0: no connection.
  int Ask(const http::testing::CertificateAuthority& authority) {
    return Ask(authority, server_.port(), "");
  }
  static int Ask(const http::testing::CertificateAuthority& authority, uint16_t port,
                 const std::string& blanks) {
    http::BeastTransport::Options options;
    options.url = absl::StrCat("https://127.0.0.1:", port);
    options.tls.ca_pem = authority.cert_pem();
    auto transport = http::BeastTransport::Create(std::move(options));
    EXPECT_TRUE(transport.ok()) << transport.status();
    http::Request request;
    request.method = "POST";
    request.target = std::string(kRayClusterPath);
    request.body =
        absl::StrCat(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{)",
                     blanks, "}}");
    const auto response = http::SendAndWait(**transport, request, absl::Seconds(10));
    return response.ok() ? response->status : 0;
  }
  bool Exposes(const std::string& line) {
    return registry_.Expose().find(line + "\n") != std::string::npos;
  }

  const util::testing::TempFolder temp_;
  const std::string& folder_ = temp_.path();
  util::FakeClock clock_;
  util::ManualExecutor executor_{&clock_};
  metrics::Registry registry_;
  WebhookServer server_{&executor_, &registry_, {.folder = folder_, .port = 0}};
  http::testing::CertificateAuthority authority_{"limits"};
  metrics::Registry other_registry_;
  std::unique_ptr<WebhookServer> limited_;
};

TEST_F(WebhookServerTest, ServesOverTlsAndTakesUpARenewedCertificate) {
  http::testing::CertificateAuthority first("first");
  http::testing::CertificateAuthority second("second");
  Put(first);
  ASSERT_EQ(server_.Start(), absl::OkStatus());
  const uint16_t port = server_.port();
  EXPECT_EQ(Ask(first), 200);
  EXPECT_EQ(Ask(second), 0);
  RawClient open(port, /*handshake=*/true);
  ASSERT_TRUE(open.secure());
  Put(second);
  executor_.Advance(absl::Seconds(10));
  EXPECT_EQ(server_.port(), port);
  EXPECT_EQ(Ask(second), 200);
  EXPECT_EQ(Ask(first), 0);
  // A connection from before goes on.
  open.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(absl::StartsWith(open.ReadToEnd(), "HTTP/1.1 4"));
  EXPECT_TRUE(Exposes("certwatcher_read_certificate_total 2"));
}

TEST_F(WebhookServerTest, WhatCannotBeReadLeavesTheOldPairInUse) {
  EXPECT_FALSE(server_.Start().ok()) << "no certificate";
  http::testing::CertificateAuthority authority("a");
  Put(authority);
  ASSERT_EQ(server_.Start(), absl::OkStatus());
  std::ofstream(folder_ + "/tls.key") << "nonsense";
  executor_.Advance(absl::Seconds(10));
  EXPECT_EQ(Ask(authority), 200);
  std::filesystem::remove(folder_ + "/tls.crt");
  executor_.Advance(absl::Seconds(10));
  EXPECT_EQ(Ask(authority), 200);
  EXPECT_TRUE(Exposes("certwatcher_read_certificate_errors_total 2"));
}

TEST_F(WebhookServerTest, SlowAndSilentClientsAreCutOff) {
  http::BeastServer::Options listener = WebhookServer::Listener();
  listener.header_timeout = absl::Milliseconds(500);
  listener.read_timeout = absl::Seconds(1);
  Start(listener);
  const uint16_t port = limited_->port();
  // Without a handshake, without a request, and with a piece of a header or of a body now and then.
  RawClient mute(port, false), silent(port, true), header(port, true), body(port, true);
  ASSERT_TRUE(silent.secure() && header.secure() && body.secure());
  header.Send(absl::StrCat("POST ", kRayClusterPath, " HTTP/1.1\r\n"));
  body.Send(absl::StrCat("POST ", kRayClusterPath, " HTTP/1.1\r\nContent-Length: 9000\r\n\r\n"));
  const absl::Time start = absl::Now();
  for (int i = 0; i < 10; ++i) {
    header.Send("A: b\r\n");
    body.Send("x");
    EXPECT_EQ(Ask(authority_, port, ""), 200);  // others are served meanwhile
    absl::SleepFor(absl::Milliseconds(20));
  }
  for (RawClient* client : {&mute, &silent, &header, &body}) EXPECT_EQ(client->ReadToEnd(), "");
  EXPECT_LT(absl::Now() - start, absl::Seconds(15));  // the clients' own patience is 20 s
}

TEST_F(WebhookServerTest, ConnectionsAboveTheLimitAreRefused) {
  http::BeastServer::Options listener = WebhookServer::Listener();
  listener.max_connections = 2;
  Start(listener);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<RawClient>(limited_->port(), true));
    EXPECT_TRUE(clients.back()->secure());
  }
  EXPECT_FALSE(RawClient(limited_->port(), true).secure());
  EXPECT_EQ(Ask(authority_, limited_->port(), ""), 0);
  clients.clear();
  const absl::Time end = absl::Now() + absl::Seconds(20);
  int status = 0;
  while (status == 0 && absl::Now() < end) status = Ask(authority_, limited_->port(), "");
  EXPECT_EQ(status, 200);
}

TEST_F(WebhookServerTest, ReviewsOfTheLargestObjectsPassAndLargerBodiesDoNot) {
  Start(WebhookServer::Listener());
  // Two objects of 3 MiB, the limit of API servers; then more than the webhook's own.
  EXPECT_EQ(Ask(authority_, limited_->port(), std::string(6 << 20, ' ')), 200);
  EXPECT_EQ(Ask(authority_, limited_->port(), std::string(7 << 20, ' ')), 413);
  RawClient client(limited_->port(), true);
  client.Send(absl::StrCat("GET / HTTP/1.1\r\nA: ", std::string(20 << 10, 'a'), "\r\n\r\n"));
  EXPECT_TRUE(absl::StartsWith(client.ReadToEnd(), "HTTP/1.1 431"));
}

TEST_F(WebhookServerTest, WhatListensHasLimits) {
  const http::BeastServer::Options listener = WebhookServer::Listener();
  EXPECT_LE(listener.max_header_bytes, 16u << 10);
  EXPECT_LE(listener.max_body_bytes, 7u << 20);
  EXPECT_LE(listener.max_connections, 256u);
  EXPECT_LE(listener.header_timeout, absl::Seconds(5));
  EXPECT_LE(listener.read_timeout, absl::Seconds(10));
  // Longer than Go's clients keep a connection that is idle: none is closed under a request.
  EXPECT_GT(listener.idle_timeout, absl::Seconds(90));
  EXPECT_LE(listener.idle_timeout, absl::Minutes(3));
}

}  // namespace
}  // namespace hekla::ray::webhook
