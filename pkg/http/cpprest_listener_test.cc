#include "pkg/http/cpprest_listener.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "pkg/http/beast_transport.h"
#include "pkg/http/testing/certificates.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::http {
namespace {

using util::testing::StatusIs;

class EchoHandler : public Handler {
 public:
  void Handle(Request request, const Peer&, std::shared_ptr<Responder> responder) override {
    if (request.target == "/forget") return;
    if (request.target == "/stream") {
      auto writer = responder->StartStream(200, {});
      writer->Write(std::make_shared<const std::string>("one "));
      writer->Write(std::make_shared<const std::string>("two"));
      writer->Close();
      return;
    }
    Response response{.status = 202};
    response.headers.Add("Content-Type", "application/json");
    response.headers.Add("X-Answer", request.headers.Get("X-Question"));
    response.body = absl::StrCat(request.method, " ", request.target, " ", request.body);
    responder->Respond(std::move(response));
  }
};

absl::StatusOr<Response> Ask(const std::string& url, const ClientTls& tls, Request request) {
  auto transport = BeastTransport::Create({.url = url, .tls = tls});
  if (!transport.ok()) return transport.status();
  return SendAndWait(**transport, std::move(request), absl::Seconds(60));
}

TEST(CpprestListenerTest, AnswersStreamsAndForgottenRequests) {
  EchoHandler handler;
  CpprestListener listener({});
  HEKLA_ASSERT_OK(listener.Start(&handler));
  const std::string url = absl::StrCat("http://127.0.0.1:", listener.port());
  Request post{.method = "POST", .target = "/a?b=c", .body = "hi"};
  post.headers.Add("X-Question", "why");
  auto answer = Ask(url, {}, post);
  HEKLA_ASSERT_OK(answer);
  EXPECT_EQ(answer->status, 202);
  EXPECT_EQ(answer->body, "POST /a?b=c hi");
  EXPECT_EQ(answer->headers.Get("X-Answer"), "why");
  EXPECT_EQ(answer->headers.Get("Content-Type"), "application/json");
  auto stream = Ask(url, {}, Request{.method = "GET", .target = "/stream"});
  HEKLA_ASSERT_OK(stream);
  EXPECT_EQ(stream->body, "one two");
  auto forgotten = Ask(url, {}, Request{.method = "GET", .target = "/forget"});
  HEKLA_ASSERT_OK(forgotten);
  EXPECT_EQ(forgotten->status, 500);
  listener.Stop();
  EXPECT_THAT(Ask(url, {}, post), StatusIs(absl::StatusCode::kUnavailable, ""));
}

TEST(CpprestListenerTest, ServesTls) {
  testing::CertificateAuthority ca("hekla test CA");
  const testing::KeyPair pair = ca.IssueServer("health", {"IP:127.0.0.1"});
  EchoHandler handler;
  CpprestListener listener(
      {.tls = true, .tls_files = {.cert_pem = pair.cert_pem, .key_pem = pair.key_pem}});
  HEKLA_ASSERT_OK(listener.Start(&handler));
  auto answer = Ask(absl::StrCat("https://127.0.0.1:", listener.port()), {.ca_pem = ca.cert_pem()},
                    Request{.method = "GET", .target = "/healthz"});
  HEKLA_ASSERT_OK(answer);
  EXPECT_EQ(answer->status, 202);
}

TEST(CpprestListenerTest, ATakenPortIsAnError) {
  EchoHandler handler;
  CpprestListener first({});
  HEKLA_ASSERT_OK(first.Start(&handler));
  CpprestListener second({.port = first.port()});
  EXPECT_THAT(second.Start(&handler), StatusIs(absl::StatusCode::kUnavailable, "listen on"));
  CpprestListener broken({.tls = true, .tls_files = {.cert_pem = "x", .key_pem = "y"}});
  EXPECT_THAT(broken.Start(&handler),
              StatusIs(absl::StatusCode::kInvalidArgument, "certificate cannot be read"));
}

}  // namespace
}  // namespace hekla::http
