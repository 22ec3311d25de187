// What every Transport over real sockets must do: BeastTransport and CpprestTransport against
// BeastServer.

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/barrier.h"
#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/notification.h"
#include "pkg/http/beast_server.h"
#include "pkg/http/beast_transport.h"
#include "pkg/http/cpprest_transport.h"
#include "pkg/http/testing/certificates.h"
#include "pkg/http/url.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::http {
namespace {

using testing::CertificateAuthority;
using testing::KeyPair;
using util::testing::StatusIs;

class TestHandler : public Handler {
 public:
  void Handle(Request request, const Peer& peer, std::shared_ptr<Responder> responder) override {
    if (request.target == "/stream") {
      auto writer = responder->StartStream(200, {});
      absl::MutexLock lock(&mutex);
      writer->SetOnClosed([this] {
        absl::MutexLock lock(&mutex);
        ++closed_streams;
      });
      streams.push_back(std::move(writer));
    } else if (request.target == "/never") {
      absl::MutexLock lock(&mutex);
      kept.push_back(std::move(responder));
    } else if (request.target == "/whoami") {
      responder->Respond(Response{.status = 200, .headers = {}, .body = peer.certificate_subject});
    } else {
      Response response{.status = request.target == "/missing" ? 404 : 200};
      response.headers.Add("X-Answer", request.headers.Get("X-Question"));
      response.body = absl::StrCat(request.method, " ", request.target, " ", request.body);
      responder->Respond(std::move(response));
    }
  }
  std::shared_ptr<StreamWriter> WaitForStream(size_t n = 1) {
    absl::MutexLock lock(&mutex);
    const auto there = [&] { return streams.size() >= n; };
    mutex.Await(absl::Condition(&there));
    return streams.back();
  }
  void WaitForClosed(int n) {
    absl::MutexLock lock(&mutex);
    const auto there = [&] { return closed_streams >= n; };
    mutex.Await(absl::Condition(&there));
  }
  void WaitForKept(size_t n) {
    absl::MutexLock lock(&mutex);
    const auto there = [&] { return kept.size() >= n; };
    mutex.Await(absl::Condition(&there));
  }
  absl::Mutex mutex;
  std::vector<std::shared_ptr<StreamWriter>> streams;
  std::vector<std::shared_ptr<Responder>> kept;
  int closed_streams = 0;
};

class Recorder : public StreamObserver {
 public:
  void OnHeaders(int s, const Headers&) override {
    absl::MutexLock lock(&mutex);
    status = s;
  }
  void OnData(absl::string_view bytes) override {
    absl::MutexLock lock(&mutex);
    text.append(bytes.data(), bytes.size());
  }
  void OnEnd(const absl::Status& s) override {
    absl::MutexLock lock(&mutex);
    end = s;
  }
  void WaitForText(const std::string& wanted) {
    absl::MutexLock lock(&mutex);
    const auto there = [&] { return text == wanted; };
    mutex.Await(absl::Condition(&there));
  }
  absl::Status WaitForEnd() {
    absl::MutexLock lock(&mutex);
    const auto there = [&] { return end.has_value(); };
    mutex.Await(absl::Condition(&there));
    return *end;
  }
  absl::Mutex mutex;
  int status = 0;
  std::string text;
  std::optional<absl::Status> end;
};

std::shared_ptr<const std::string> Text(absl::string_view text) {
  return std::make_shared<const std::string>(text);
}

struct Maker {
  std::string name;
  absl::StatusOr<std::unique_ptr<Transport>> (*make)(const std::string& url, const ClientTls& tls);
};

class TransportTest : public ::testing::TestWithParam<Maker> {
 protected:
  void SetUp() override { StartServer({}); }
  void StartServer(BeastServer::Options options) {
    transport.reset();
    options.drain_timeout = absl::Milliseconds(1);
    scheme = options.tls ? "https" : "http";
    server = std::make_unique<BeastServer>(std::move(options));
    HEKLA_ASSERT_OK(server->Start(&handler));
    Connect({});
  }
  void Connect(const ClientTls& tls, const std::string& host = "127.0.0.1") {
    auto made = GetParam().make(absl::StrCat(scheme, "://", host, ":", server->port()), tls);
    HEKLA_ASSERT_OK(made);
    transport = *std::move(made);
  }
  absl::StatusOr<Response> Send(const std::string& method, const std::string& target,
                                const std::string& body = "",
                                absl::Duration timeout = absl::Seconds(60)) {
    Request request{.method = method, .target = target, .body = body};
    request.headers.Add("X-Question", "why");
    request.headers.Add("Content-Type", "application/json");
    return SendAndWait(*transport, std::move(request), timeout);
  }
  Request Watch() { return Request{.method = "GET", .target = "/stream"}; }

  TestHandler handler;
  std::string scheme;
  std::unique_ptr<BeastServer> server;
  std::unique_ptr<Transport> transport;
};

INSTANTIATE_TEST_SUITE_P(
    , TransportTest,
    ::testing::Values(Maker{"Beast",
                            [](const std::string& url,
                               const ClientTls& tls) -> absl::StatusOr<std::unique_ptr<Transport>> {
                              return BeastTransport::Create({.url = url, .tls = tls});
                            }},
                      Maker{"Cpprest",
                            [](const std::string& url,
                               const ClientTls& tls) -> absl::StatusOr<std::unique_ptr<Transport>> {
                              return CpprestTransport::Create({.url = url, .tls = tls});
                            }}),
    [](const auto& info) { return info.param.name; });

TEST_P(TransportTest, AnswersOfAnyStatusAreResponses) {
  for (int i = 0; i < 3; ++i) {
    auto answer = Send("POST", "/things?dryRun=All", "{\"a\":1}");
    HEKLA_ASSERT_OK(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->headers.Get("x-answer"), "why");
    EXPECT_EQ(answer->body, "POST /things?dryRun=All {\"a\":1}");
  }
  auto missing = Send("GET", "/missing");
  HEKLA_ASSERT_OK(missing);
  EXPECT_EQ(missing->status, 404);
  auto deleted = Send("DELETE", "/x");
  HEKLA_ASSERT_OK(deleted);
  EXPECT_EQ(deleted->body, "DELETE /x ");
}

TEST_P(TransportTest, ConnectionsAreReused) {
  for (int i = 0; i < 20; ++i) HEKLA_ASSERT_OK(Send("GET", "/x"));
  EXPECT_LE(server->connections(), 3u);  // cpprest gives one back only after its callback
}

TEST_P(TransportTest, ManyRequestsAtOnceAreAllAnswered) {
  absl::BlockingCounter left(500);
  std::atomic<int> good{0};
  for (int i = 0; i < 500; ++i) {
    transport->Send(
        Request{.method = "POST", .target = absl::StrCat("/", i), .body = std::string(100, 'x')},
        absl::Seconds(60), [&, i](absl::StatusOr<Response> r) {
          if (r.ok() && absl::StartsWith(r->body, absl::StrCat("POST /", i, " "))) ++good;
          left.DecrementCount();
        });
  }
  left.Wait();
  EXPECT_EQ(good, 500);
}

TEST_P(TransportTest, RefusedConnectionsAreUnavailable) {
  server->Stop();
  EXPECT_THAT(Send("GET", "/x"), StatusIs(absl::StatusCode::kUnavailable, ""));
  Recorder recorder;
  auto stream = transport->OpenStream(Watch(), absl::InfiniteDuration(), &recorder);
  EXPECT_THAT(recorder.WaitForEnd(), StatusIs(absl::StatusCode::kUnavailable, ""));
}

TEST_P(TransportTest, SlowAnswersRunIntoTheirTimeOut) {
  EXPECT_THAT(Send("GET", "/never", "", absl::Milliseconds(20)),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
  HEKLA_EXPECT_OK(Send("GET", "/x"));
}

TEST_P(TransportTest, StreamsArriveAtOnceAndEndInOrder) {
  Recorder recorder;
  auto stream = transport->OpenStream(Watch(), absl::InfiniteDuration(), &recorder);
  auto writer = handler.WaitForStream();
  writer->Write(Text("one "));
  recorder.WaitForText("one ");
  writer->Write(Text("two"));
  recorder.WaitForText("one two");
  writer->Close();
  HEKLA_EXPECT_OK(recorder.WaitForEnd());
  EXPECT_EQ(recorder.status, 200);
}

TEST_P(TransportTest, StreamsReportOtherStatusesWithTheirBody) {
  Recorder recorder;
  auto stream = transport->OpenStream(Request{.method = "GET", .target = "/missing"},
                                      absl::InfiniteDuration(), &recorder);
  HEKLA_EXPECT_OK(recorder.WaitForEnd());
  EXPECT_EQ(recorder.status, 404);
  EXPECT_EQ(recorder.text, "GET /missing ");
}

TEST_P(TransportTest, DestroyingAStreamFreesItsConnection) {
  Recorder recorder;
  for (int i = 1; i <= 5; ++i) {
    auto stream = transport->OpenStream(Watch(), absl::InfiniteDuration(), &recorder);
    handler.WaitForStream(static_cast<size_t>(i))->Write(Text("x"));
    recorder.WaitForText(std::string(static_cast<size_t>(i), 'x'));
    stream.reset();
    handler.WaitForClosed(i);
  }
  EXPECT_FALSE(recorder.end.has_value());
}

TEST_P(TransportTest, QuietStreamsEndAfterTheirIdleTime) {
  Recorder recorder;
  auto stream = transport->OpenStream(Watch(), absl::Milliseconds(150), &recorder);
  handler.WaitForStream()->Write(Text("x"));
  EXPECT_THAT(recorder.WaitForEnd(), StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
  handler.WaitForClosed(1);
}

TEST_P(TransportTest, AServerThatGoesAwayEndsWhatIsOpen) {
  Recorder recorder;
  auto stream = transport->OpenStream(Watch(), absl::InfiniteDuration(), &recorder);
  handler.WaitForStream();
  absl::Notification answered;
  absl::StatusOr<Response> result = absl::UnknownError("");
  transport->Send(Request{.method = "POST", .target = "/never"}, absl::InfiniteDuration(),
                  [&](absl::StatusOr<Response> r) {
                    result = std::move(r);
                    answered.Notify();
                  });
  handler.WaitForKept(1);
  server->Stop();
  answered.WaitForNotification();
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kUnavailable, ""));
  HEKLA_EXPECT_OK(recorder.WaitForEnd());  // a server that stops closes its streams in order
}

TEST_P(TransportTest, ShutDownCancelsWhatIsUnderWay) {
  Recorder recorder;
  auto stream = transport->OpenStream(Watch(), absl::InfiniteDuration(), &recorder);
  handler.WaitForStream();
  absl::Notification answered;
  absl::StatusOr<Response> result = absl::UnknownError("");
  transport->Send(Request{.method = "GET", .target = "/never"}, absl::InfiniteDuration(),
                  [&](absl::StatusOr<Response> r) {
                    result = std::move(r);
                    answered.Notify();
                  });
  handler.WaitForKept(1);
  transport.reset();
  answered.WaitForNotification();
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kCancelled, ""));
  EXPECT_THAT(recorder.WaitForEnd(), StatusIs(absl::StatusCode::kCancelled, ""));
}

TEST_P(TransportTest, CompressedAnswersAreUnpacked) {
  BeastServer::Options options;
  options.gzip_min_bytes = 10;
  StartServer(options);
  Request request{.method = "POST", .target = "/zip", .body = std::string(5000, 'z')};
  request.headers.Add("Accept-Encoding", "gzip");
  auto answer = SendAndWait(*transport, request, absl::Seconds(60));
  HEKLA_ASSERT_OK(answer);
  EXPECT_EQ(answer->body, absl::StrCat("POST /zip ", std::string(5000, 'z')));
}

TEST_P(TransportTest, HttpsVerifiesTheServerAndShowsTheClientCertificate) {
  CertificateAuthority ca("hekla test CA");
  CertificateAuthority other("another CA");
  const KeyPair server_pair = ca.IssueServer("api", {"IP:127.0.0.1", "DNS:localhost"});
  const KeyPair client_pair = ca.IssueClient({{"CN", "system:admin"}, {"O", "system:masters"}});
  BeastServer::Options options;
  options.tls = true;
  options.tls_files.cert_pem = server_pair.cert_pem;
  options.tls_files.key_pem = server_pair.key_pem;
  options.tls_files.client_ca_pem = ca.cert_pem();
  StartServer(options);

  Connect(
      {.ca_pem = ca.cert_pem(), .cert_pem = client_pair.cert_pem, .key_pem = client_pair.key_pem});
  for (int i = 0; i < 3; ++i) {
    auto answer = Send("GET", "/whoami");
    HEKLA_ASSERT_OK(answer);
    EXPECT_EQ(answer->body, "CN=system:admin,O=system:masters");
  }
  Recorder recorder;
  auto stream = transport->OpenStream(Watch(), absl::InfiniteDuration(), &recorder);
  auto writer = handler.WaitForStream();
  std::string all;
  for (int i = 0; i < 100; ++i) {
    all += absl::StrCat("event ", i, "\n");
    writer->Write(Text(absl::StrCat("event ", i, "\n")));
  }
  recorder.WaitForText(all);
  stream.reset();
  handler.WaitForClosed(1);

  Connect({.ca_pem = ca.cert_pem()});
  auto anonymous = Send("GET", "/whoami");
  HEKLA_ASSERT_OK(anonymous);
  EXPECT_EQ(anonymous->body, "");
  Connect({.ca_pem = ca.cert_pem()}, "localhost");
  HEKLA_EXPECT_OK(Send("GET", "/x"));
  Connect({.ca_pem = other.cert_pem()});
  EXPECT_THAT(Send("GET", "/x"), StatusIs(absl::StatusCode::kUnavailable, ""));
  Connect({.insecure = true});
  HEKLA_EXPECT_OK(Send("GET", "/x"));
}

TEST_P(TransportTest, HttpsRefusesACertificateOfAnotherHost) {
  CertificateAuthority ca("hekla test CA");
  const KeyPair pair = ca.IssueServer("api", {"DNS:elsewhere.example"});
  BeastServer::Options options;
  options.tls = true;
  options.tls_files.cert_pem = pair.cert_pem;
  options.tls_files.key_pem = pair.key_pem;
  StartServer(options);
  Connect({.ca_pem = ca.cert_pem()});
  EXPECT_THAT(Send("GET", "/x"), StatusIs(absl::StatusCode::kUnavailable, ""));
}

TEST_P(TransportTest, BrokenTlsSettingsAreReportedAtOnce) {
  EXPECT_THAT(GetParam().make("https://127.0.0.1:1", {.ca_pem = "nonsense"}),
              StatusIs(absl::StatusCode::kInvalidArgument, "CA data holds no PEM certificate"));
  EXPECT_THAT(GetParam().make("ftp://127.0.0.1:1", {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "scheme"));
}

TEST(BeastTransportTest, ServerNameReplacesTheHostAndSettingsCanChange) {
  CertificateAuthority ca("hekla test CA");
  const KeyPair pair = ca.IssueServer("api", {"DNS:elsewhere.example"});
  TestHandler handler;
  BeastServer::Options options;
  options.tls = true;
  options.tls_files.cert_pem = pair.cert_pem;
  options.tls_files.key_pem = pair.key_pem;
  options.tls_files.client_ca_pem = ca.cert_pem();
  BeastServer server(options);
  HEKLA_ASSERT_OK(server.Start(&handler));
  ClientTls tls{.ca_pem = ca.cert_pem(), .server_name = "elsewhere.example"};
  auto transport = BeastTransport::Create(
      {.url = absl::StrCat("https://127.0.0.1:", server.port()), .tls = tls});
  HEKLA_ASSERT_OK(transport);
  const Request request{.method = "GET", .target = "/whoami"};
  auto before = SendAndWait(**transport, request, absl::Seconds(60));
  HEKLA_ASSERT_OK(before);
  EXPECT_EQ(before->body, "");
  const KeyPair client = ca.IssueClient({{"CN", "renewed"}});
  tls.cert_pem = client.cert_pem;
  tls.key_pem = client.key_pem;
  HEKLA_ASSERT_OK((*transport)->SetTls(tls));
  auto after = SendAndWait(**transport, request, absl::Seconds(60));
  HEKLA_ASSERT_OK(after);
  EXPECT_EQ(after->body, "CN=renewed");
}

TEST(BeastTransportTest, RequestsShareTheConnectionsTheyMayHave) {
  TestHandler handler;
  BeastServer server({});
  HEKLA_ASSERT_OK(server.Start(&handler));
  auto transport = BeastTransport::Create(
      {.url = absl::StrCat("http://127.0.0.1:", server.port()), .max_connections = 2});
  HEKLA_ASSERT_OK(transport);
  absl::BlockingCounter left(50);
  for (int i = 0; i < 50; ++i) {
    (*transport)
        ->Send(Request{.method = "GET", .target = "/x"}, absl::Seconds(60),
               [&](absl::StatusOr<Response> r) {
                 HEKLA_EXPECT_OK(r);
                 left.DecrementCount();
               });
  }
  left.Wait();
  EXPECT_EQ((*transport)->stats().connects, 2u);
}

TEST(BeastTransportTest, AGetOnAConnectionTheServerClosedIsSentAgain) {
  TestHandler handler;
  auto server = std::make_unique<BeastServer>(BeastServer::Options{});
  HEKLA_ASSERT_OK(server->Start(&handler));
  const uint16_t port = server->port();
  auto transport = BeastTransport::Create({.url = absl::StrCat("http://127.0.0.1:", port)});
  HEKLA_ASSERT_OK(transport);
  const Request get{.method = "GET", .target = "/x"};
  for (int i = 0; i < 10; ++i) {
    HEKLA_ASSERT_OK(SendAndWait(**transport, get, absl::Seconds(60)));
    server = std::make_unique<BeastServer>(BeastServer::Options{.port = port});
    HEKLA_ASSERT_OK(server->Start(&handler));
  }
}

TEST(UrlTest, Parts) {
  auto url = ParseUrl("HTTPS://user@[::1]:6443/prefix/?q=1#f");
  HEKLA_ASSERT_OK(url);
  EXPECT_EQ(url->scheme, "https");
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, 6443);
  EXPECT_EQ(url->path, "/prefix");
  EXPECT_EQ(url->Authority(), "[::1]:6443");
  EXPECT_EQ(ParseUrl("http://h")->Authority(), "h");
  EXPECT_EQ(ParseUrl("https://h/")->port, 443);
  EXPECT_EQ(ParseUrl("https://h/")->path, "");
  for (const char* bad :
       {"h:1", "ftp://h", "http://", "http://h:x", "http://h:70000", "http://[::1"}) {
    EXPECT_THAT(ParseUrl(bad), StatusIs(absl::StatusCode::kInvalidArgument, "bad URL")) << bad;
  }
}

TEST(UrlTest, ErrorsDoNotShowTheUserPart) {
  for (const char* bad :
       {"http://u:hidden@h:x", "ftp://u:hidden@h", "u:hidden@h", "http://u:hidden@"}) {
    const absl::Status status = ParseUrl(bad).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, "bad URL \"...@")) << bad;
    EXPECT_FALSE(absl::StrContains(status.message(), "hidden")) << status;
  }
}

}  // namespace
}  // namespace hekla::http
