#include "pkg/kube/redaction.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pkg/kube/rest_client.h"
#include "pkg/kube/testing/scripted_server.h"

namespace hekla::kube {
namespace {

constexpr char kToken[] = "a-token-of-some-length";

class OneToken final : public Authorizer {
 public:
  std::shared_ptr<const http::Headers> Current() override {
    auto headers = std::make_shared<http::Headers>();
    headers->Add("Authorization", absl::StrCat("Bearer ", kToken));
    return headers;
  }
  void Refresh(std::function<void(absl::Status)> done) override { done(absl::OkStatus()); }
  void OnUnauthorized(const std::shared_ptr<const http::Headers>&) override {}
};

TEST(RedactionTest, CredentialsAndDataOfSecretsAreFound) {
  http::Request request{.method = "POST", .target = "/api/v1/namespaces/ns/secrets"};
  request.headers.Add("Authorization", absl::StrCat("Bearer ", kToken));
  request.body =
      R"({"data":{"a":"c29tZXRoaW5nLXNlY3JldA==","n":7},"stringData":{"b":"as it is read",)"
      R"("short":"true"}})";
  std::string text =
      absl::StrCat(kToken, " c29tZXRoaW5nLXNlY3JldA== something-secret as it is read true");
  Redact(SecretTexts(request), text);
  EXPECT_EQ(text, "[redacted] [redacted] [redacted] [redacted] true");
  request.target = "/api/v1/namespaces/ns/configmaps";
  EXPECT_EQ(SecretTexts(request).size(), 1u);
  request.body = "no JSON";
  request.target = "/api/v1/secrets";
  EXPECT_EQ(SecretTexts(request).size(), 1u);
  EXPECT_TRUE(SecretTexts(http::Request{.method = "GET", .target = "/api/v1/secrets"}).empty());
  text = "unchanged";
  Redact({}, text);
  EXPECT_EQ(text, "unchanged");
}

class Text final : public http::StreamObserver {
 public:
  void OnHeaders(int, const http::Headers&) override {}
  void OnData(absl::string_view bytes) override { text.append(bytes.data(), bytes.size()); }
  void OnEnd(const absl::Status&) override { ended = true; }
  std::string text;
  bool ended = false;
};

TEST(RedactionTest, WhatAServerEchoesIsNotInTheError) {
  ScriptedServer server;
  OneToken authorizer;
  RestClient::Options options;
  options.qps = 0;
  RestClient client({&server.transport, &server.executor, &authorizer}, options);
  absl::Status status;
  client.Send({.method = "GET", .path = "/api/v1/pods"},
              [&](const absl::StatusOr<http::Response>& answer) { status = answer.status(); });
  server.Next().Answer(403, absl::StrCat("you sent ", kToken));
  server.executor.RunReady();
  EXPECT_EQ(status.message(), "you sent [redacted]");
  // Neither where it opened a stream, however the text comes; what is not refused passes as it is.
  Text refused, served;
  auto first = client.OpenStream({.method = "GET", .path = "/api/v1/pods"},
                                 absl::InfiniteDuration(), &refused);
  server.Next().Answer(500, absl::StrCat("broken ", kToken));
  auto second = client.OpenStream({.method = "GET", .path = "/api/v1/pods"},
                                  absl::InfiniteDuration(), &served);
  auto& call = server.Next();
  call.Stream(absl::StrCat("an object with ", kToken));
  server.executor.RunReady();
  EXPECT_EQ(served.text, absl::StrCat("an object with ", kToken));
  EXPECT_EQ(refused.text, "broken [redacted]");
  EXPECT_TRUE(refused.ended);
  EXPECT_FALSE(served.ended);
}

}  // namespace
}  // namespace hekla::kube
