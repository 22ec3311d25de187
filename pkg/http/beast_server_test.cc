#include "pkg/http/beast_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "pkg/http/gzip.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::http {
namespace {

using util::testing::StatusIs;

// A socket that sends and receives plain text.
class RawClient {
 public:
  explicit RawClient(uint16_t port, int family = AF_INET) : fd_(socket(family, SOCK_STREAM, 0)) {
    timeval patience{.tv_sec = 20, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (family == AF_INET) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(port);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    } else {
      sockaddr_in6 address{};
      address.sin6_family = AF_INET6;
      address.sin6_port = htons(port);
      address.sin6_addr = IN6ADDR_LOOPBACK_INIT;
      connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
    }
  }
  ~RawClient() { Hangup(); }
  bool connected() const { return connected_; }
  void Hangup() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  void Send(absl::string_view text) {
    while (!text.empty()) {
      const ssize_t n = send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      text.remove_prefix(static_cast<size_t>(n));
    }
  }
  // Reads until `mark` has come, the peer closes or patience ends; returns all that came.
  std::string ReadUntil(absl::string_view mark) {
    std::string out = std::move(rest_);
    rest_.clear();
    char piece[4096];
    while (mark.empty() || !absl::StrContains(out, mark)) {
      const ssize_t n = recv(fd_, piece, sizeof(piece), 0);
      if (n <= 0) return out;
      out.append(piece, static_cast<size_t>(n));
    }
    const size_t end = out.find(std::string(mark)) + mark.size();
    rest_ = out.substr(end);
    out.resize(end);
    return out;
  }
  std::string ReadToEnd() { return ReadUntil(""); }

 private:
  int fd_;
  bool connected_ = false;
  std::string rest_;
};

class TestHandler : public Handler {
 public:
  void Handle(Request request, const Peer&, std::shared_ptr<Responder> responder) override {
    if (request.target == "/stream") {
      auto writer = responder->StartStream(200, {});
      writer->SetOnClosed([this] { stream_closed.Notify(); });
      absl::MutexLock lock(&mutex);
      stream = std::move(writer);
    } else if (request.target == "/forget") {
    } else if (request.target == "/throw") {
      throw std::runtime_error("thrown on purpose");
    } else if (request.target == "/later") {
      absl::MutexLock lock(&mutex);
      kept = std::move(responder);
    } else if (request.target == "/big") {
      responder->Respond(Response{.status = 200, .headers = {}, .body = std::string(3 << 20, 'b')});
    } else {
      Response response{.status = 200, .headers = {}, .body = ""};
      response.headers.Add("Content-Type", "text/plain");
      response.body = absl::StrCat(request.method, " ", request.target, " ", request.body, ";");
      responder->Respond(std::move(response));
    }
  }
  std::shared_ptr<StreamWriter> WaitForStream() {
    absl::MutexLock lock(&mutex);
    mutex.Await(absl::Condition(
        +[](TestHandler* h) { return h->stream != nullptr; }, this));
    return stream;
  }
  std::shared_ptr<Responder> WaitForKept() {
    absl::MutexLock lock(&mutex);
    mutex.Await(absl::Condition(
        +[](TestHandler* h) { return h->kept != nullptr; }, this));
    return std::move(kept);
  }
  absl::Mutex mutex;
  std::shared_ptr<StreamWriter> stream;
  std::shared_ptr<Responder> kept;
  absl::Notification stream_closed;
};

std::shared_ptr<const std::string> Text(absl::string_view text) {
  return std::make_shared<const std::string>(text);
}

class BeastServerTest : public ::testing::Test {
 protected:
  void Start(BeastServer::Options options = {}) {
    server = std::make_unique<BeastServer>(std::move(options));
    HEKLA_ASSERT_OK(server->Start(&handler));
  }
  TestHandler handler;
  std::unique_ptr<BeastServer> server;
};

TEST_F(BeastServerTest, AnswersKeepTheConnectionAndPipelinedRequestsComeInOrder) {
  Start();
  RawClient client(server->port());
  client.Send(
      "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
      "GET /b HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("hi;"),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n\r\nPOST /a hi;");
  EXPECT_TRUE(absl::EndsWith(client.ReadUntil(";"), "GET /b ;"));
  client.Send("GET /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string last = client.ReadToEnd();
  EXPECT_TRUE(absl::StrContains(last, "Connection: close\r\n"));
  EXPECT_TRUE(absl::EndsWith(last, "GET /c ;"));
}

TEST_F(BeastServerTest, BodiesMayComeInChunksAndInPieces) {
  Start();
  RawClient client(server->port());
  client.Send("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Enc");
  client.Send("oding: chunked\r\n\r\n3\r\nabc\r\n");
  client.Send("2\r\nde\r\n0\r\n\r\n");
  EXPECT_TRUE(absl::EndsWith(client.ReadUntil(";"), "POST /a abcde;"));
}

TEST_F(BeastServerTest, HeadAnswersHaveALengthAndNoBody) {
  Start();
  RawClient client(server->port());
  client.Send("HEAD /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answer = client.ReadToEnd();
  EXPECT_TRUE(absl::StrContains(answer, "Content-Length: 9\r\n")) << answer;
  EXPECT_TRUE(absl::EndsWith(answer, "\r\n\r\n"));
}

TEST_F(BeastServerTest, ExpectContinueIsAnsweredBeforeTheBody) {
  Start();
  RawClient client(server->port());
  client.Send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("ok");
  EXPECT_TRUE(absl::EndsWith(client.ReadUntil(";"), "POST /a ok;"));
}

TEST_F(BeastServerTest, MalformedAndOversizedRequestsAreRefused) {
  BeastServer::Options options;
  options.max_body_bytes = 1000;
  options.max_header_bytes = 2000;
  Start(options);
  struct Case {
    std::string name, request, status;
  };
  for (const Case& c : {
           Case{"no HTTP", "hello there\r\n\r\n", "HTTP/1.1 400 "},
           Case{"bad length", "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 400 "},
           Case{"body", "POST / HTTP/1.1\r\nContent-Length: 1001\r\n\r\n", "HTTP/1.1 413 "},
           Case{"header", absl::StrCat("GET / HTTP/1.1\r\nA: ", std::string(3000, 'a'), "\r\n\r\n"),
                "HTTP/1.1 431 "},
       }) {
    SCOPED_TRACE(c.name);
    RawClient client(server->port());
    client.Send(c.request);
    EXPECT_TRUE(absl::StartsWith(client.ReadToEnd(), c.status));
  }
}

TEST_F(BeastServerTest, ForgottenAndFailedRequestsAnswer500) {
  Start();
  for (const std::string target : {"/forget", "/throw"}) {
    RawClient client(server->port());
    client.Send(absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_TRUE(absl::StartsWith(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 500 "));
  }
}

TEST_F(BeastServerTest, AnswersMayComeLaterFromAnotherThread) {
  Start();
  RawClient client(server->port());
  client.Send("GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
  auto responder = handler.WaitForKept();
  responder->Respond(Response{.status = 201, .headers = {}, .body = "late"});
  EXPECT_EQ(client.ReadUntil("late"), "HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\nlate");
}

TEST_F(BeastServerTest, StreamsAreChunkedFlushedAtOnceAndEndInOrder) {
  Start();
  RawClient client(server->port());
  client.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  auto writer = handler.WaitForStream();
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_TRUE(writer->Write(Text("first")));
  EXPECT_EQ(client.ReadUntil("first\r\n"), "5\r\nfirst\r\n");
  EXPECT_TRUE(writer->Write(Text("second")));
  writer->Close();
  EXPECT_FALSE(writer->Write(Text("third")));
  EXPECT_TRUE(absl::EndsWith(client.ReadUntil("0\r\n\r\n"), "second\r\n0\r\n\r\n"));
  handler.stream_closed.WaitForNotification();
  EXPECT_EQ(writer->queued_bytes(), 0u);
  client.Send("GET /next HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(absl::EndsWith(client.ReadUntil(";"), "GET /next ;"));
}

TEST_F(BeastServerTest, OldClientsGetStreamsWithoutChunks) {
  Start();
  RawClient client(server->port());
  client.Send("GET /stream HTTP/1.0\r\n\r\n");
  auto writer = handler.WaitForStream();
  writer->Write(Text("plain"));
  writer->Close();
  EXPECT_TRUE(absl::EndsWith(client.ReadToEnd(), "\r\n\r\nplain"));
}

TEST_F(BeastServerTest, AClientThatGoesEndsItsStream) {
  Start();
  RawClient client(server->port());
  client.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  auto writer = handler.WaitForStream();
  client.Hangup();
  handler.stream_closed.WaitForNotification();
  EXPECT_FALSE(writer->Write(Text("x")));
}

TEST_F(BeastServerTest, AReaderThatFallsBehindIsCutOff) {
  BeastServer::Options options;
  options.max_stream_queue_bytes = 4 << 20;
  Start(options);
  RawClient client(server->port());
  client.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  auto writer = handler.WaitForStream();
  const auto piece = Text(std::string(1 << 20, 'x'));
  int written = 0;
  while (written < 1000 && writer->Write(piece)) ++written;
  EXPECT_LT(written, 1000);
  handler.stream_closed.WaitForNotification();
}

TEST_F(BeastServerTest, BigAnswersArriveWhole) {
  Start();
  RawClient client(server->port());
  client.Send("GET /big HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answer = client.ReadToEnd();
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, 3u << 20);
}

TEST_F(BeastServerTest, BigAnswersAreCompressedForThoseWhoAccept) {
  BeastServer::Options options;
  options.gzip_min_bytes = 1000;
  Start(options);
  RawClient client(server->port());
  client.Send(
      "GET /big HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br, gzip\r\nConnection: close\r\n\r\n");
  const std::string answer = client.ReadToEnd();
  EXPECT_TRUE(absl::StrContains(answer, "Content-Encoding: gzip\r\n"));
  auto body = GzipDecompress(answer.substr(answer.find("\r\n\r\n") + 4), 4 << 20);
  HEKLA_ASSERT_OK(body);
  EXPECT_EQ(*body, std::string(3 << 20, 'b'));
}

TEST_F(BeastServerTest, SilentConnectionsAreClosed) {
  BeastServer::Options options;
  options.idle_timeout = absl::Milliseconds(1);
  options.header_timeout = absl::Milliseconds(1);
  Start(options);
  RawClient silent(server->port());
  RawClient slow(server->port());
  slow.Send("GET / HT");
  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_EQ(slow.ReadToEnd(), "");
}

TEST_F(BeastServerTest, SlowSendersAreCutOffHoweverBusyTheyAre) {
  BeastServer::Options options;
  options.header_timeout = absl::Milliseconds(100);
  options.read_timeout = absl::Milliseconds(100);
  options.idle_timeout = absl::Hours(1);
  Start(options);
  // A piece of a header now and then, a body likewise, and nothing at all.
  RawClient header(server->port()), body(server->port()), silent(server->port());
  header.Send("GET / HTTP/1.1\r\n");
  body.Send("POST / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n");
  std::atomic<bool> done = false;
  std::thread trickle([&] {
    while (!done) {
      header.Send("A: b\r\n");
      body.Send("x");
      absl::SleepFor(absl::Milliseconds(20));
    }
  });
  const absl::Time start = absl::Now();
  for (RawClient* client : {&header, &body, &silent}) EXPECT_EQ(client->ReadToEnd(), "");
  EXPECT_LT(absl::Now() - start, absl::Seconds(15));  // the clients' own patience is 20 s
  done = true;
  trickle.join();
}

TEST_F(BeastServerTest, ConnectionsAboveTheLimitAreClosedAtOnce) {
  BeastServer::Options options;
  options.max_connections = 2;
  Start(options);
  std::optional<RawClient> first(std::in_place, server->port());
  RawClient second(server->port());
  for (RawClient* client : {&*first, &second}) {
    client->Send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok");
    EXPECT_TRUE(absl::EndsWith(client->ReadUntil(";"), "POST /a ok;"));
  }
  EXPECT_EQ(RawClient(server->port()).ReadToEnd(), "");
  first.reset();
  while (server->connections() > 1) absl::SleepFor(absl::Milliseconds(5));
  RawClient third(server->port());
  third.Send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_TRUE(absl::EndsWith(third.ReadUntil(";"), "POST /a ok;"));
}

TEST_F(BeastServerTest, ListensOnANamedHost) {
  BeastServer::Options options;
  options.address = "localhost";
  Start(options);
  EXPECT_NE(server->port(), 0);
}

// Whether ::1 can be listened on here: many containers have no IPv6.
bool MachineHasIpv6() {
  const int fd = socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = IN6ADDR_LOOPBACK_INIT;
  const bool has = fd >= 0 && bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  if (fd >= 0) close(fd);
  return has;
}

TEST_F(BeastServerTest, WithoutAnAddressBothFamiliesAreServed) {
  BeastServer::Options options;
  options.address = "";
  Start(options);
  for (const int family : {AF_INET, AF_INET6}) {
    if (family == AF_INET6 && !MachineHasIpv6()) continue;
    RawClient client(server->port(), family);
    client.Send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_TRUE(absl::EndsWith(client.ReadUntil(";"), "GET /a ;")) << "family " << family;
  }
}

TEST_F(BeastServerTest, StopEndsStreamsInOrderAndLetsAnswersFinish) {
  Start();
  RawClient streaming(server->port());
  streaming.Send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  RawClient waiting(server->port());
  waiting.Send("GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
  RawClient idle(server->port());
  auto writer = handler.WaitForStream();
  auto responder = handler.WaitForKept();
  writer->Write(Text("tail"));
  std::thread stopper([this] { server->Stop(); });
  EXPECT_TRUE(absl::EndsWith(streaming.ReadToEnd(), "tail\r\n0\r\n\r\n"));
  responder->Respond(Response{.status = 200, .headers = {}, .body = "done"});
  EXPECT_TRUE(absl::EndsWith(waiting.ReadToEnd(), "done"));
  EXPECT_EQ(idle.ReadToEnd(), "");
  streaming.Hangup();
  waiting.Hangup();
  stopper.join();
  EXPECT_FALSE(writer->Write(Text("x")));
  EXPECT_EQ(server->connections(), 0u);
  EXPECT_FALSE(RawClient(server->port()).connected());
}

TEST_F(BeastServerTest, StopDoesNotWaitForeverAndLateAnswersAreHarmless) {
  BeastServer::Options options;
  options.drain_timeout = absl::Milliseconds(10);
  Start(options);
  RawClient client(server->port());
  client.Send("GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
  auto responder = handler.WaitForKept();
  server->Stop();
  server.reset();
  responder->Respond(Response{.status = 200, .headers = {}, .body = ""});
  EXPECT_EQ(client.ReadToEnd(), "");
}

TEST_F(BeastServerTest, AStreamThatIsStartedTooLateIsClosedFromTheStart) {
  BeastServer::Options options;
  options.drain_timeout = absl::Milliseconds(10);
  Start(options);
  RawClient client(server->port());
  client.Send("GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
  auto responder = handler.WaitForKept();
  server->Stop();
  auto writer = responder->StartStream(200, {});
  bool closed = false;
  writer->SetOnClosed([&] { closed = true; });
  EXPECT_TRUE(closed);
  EXPECT_FALSE(writer->Write(Text("x")));
  EXPECT_EQ(writer->queued_bytes(), 0u);
}

TEST_F(BeastServerTest, AnAddressInUseIsAnError) {
  Start();
  BeastServer::Options options;
  options.port = server->port();
  BeastServer second(options);
  EXPECT_THAT(second.Start(&handler), StatusIs(absl::StatusCode::kUnavailable, "listen on"));
  options.address = "nowhere";
  BeastServer third(options);
  EXPECT_THAT(third.Start(&handler), StatusIs(absl::StatusCode::kInvalidArgument, "nowhere"));
}

TEST_F(BeastServerTest, ManyThreadsServeManyConnections) {
  BeastServer::Options options;
  options.threads = 4;
  Start(options);
  std::vector<std::thread> clients;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t) {
    clients.emplace_back([&] {
      RawClient client(server->port());
      for (int i = 0; i < 100; ++i) {
        client.Send("GET /x HTTP/1.1\r\nHost: x\r\n\r\n");
        if (absl::EndsWith(client.ReadUntil(";"), "GET /x ;")) ++good;
      }
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(good, 400);
}

TEST(GzipTest, RoundTripsAndRefusesBrokenOrHugeData) {
  const std::string text(200000, 'a');
  const std::string packed = GzipCompress(text);
  EXPECT_LT(packed.size(), 2000u);
  EXPECT_EQ(*GzipDecompress(packed, text.size()), text);
  EXPECT_EQ(*GzipDecompress(GzipCompress(""), 10), "");
  EXPECT_THAT(GzipDecompress(packed, 1000), StatusIs(absl::StatusCode::kResourceExhausted, ""));
  EXPECT_THAT(GzipDecompress(packed.substr(0, packed.size() - 9), 1 << 20),
              StatusIs(absl::StatusCode::kInvalidArgument, ""));
  EXPECT_THAT(GzipDecompress("nonsense", 1 << 20),
              StatusIs(absl::StatusCode::kInvalidArgument, ""));
}

TEST(GzipTest, AcceptEncodingIsRead) {
  EXPECT_TRUE(AcceptsGzip("gzip"));
  EXPECT_TRUE(AcceptsGzip("br;q=1.0, gzip;q=0.8"));
  EXPECT_TRUE(AcceptsGzip("*"));
  EXPECT_FALSE(AcceptsGzip(""));
  EXPECT_FALSE(AcceptsGzip("gzip;q=0"));
  EXPECT_FALSE(AcceptsGzip("deflate"));
}

}  // namespace
}  // namespace hekla::http
