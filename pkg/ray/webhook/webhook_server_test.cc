#include "pkg/ray/webhook/webhook_server.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "pkg/http/beast_transport.h"
#include "pkg/http/testing/certificates.h"
#include "pkg/util/manual_executor.h"
#include "pkg/util/testing/temp_folder.h"

namespace hekla::ray::webhook {
namespace {

class WebhookServerTest : public ::testing::Test {
 protected:
  ~WebhookServerTest() override { server_.Stop(); }
  void Put(http::testing::CertificateAuthority& authority) {
    const http::testing::KeyPair pair = authority.IssueServer("webhook", {"IP:127.0.0.1"});
    std::ofstream(folder_ + "/tls.crt") << pair.cert_pem;
    std::ofstream(folder_ + "/tls.key") << pair.key_pem;
  }
  // Status of a review that is sent by who trusts `authority`; 0: no connection.
  int Ask(const http::testing::CertificateAuthority& authority) {
    http::BeastTransport::Options options;
    options.url = absl::StrCat("https://127.0.0.1:", server_.port());
    options.tls.ca_pem = authority.cert_pem();
    auto transport = http::BeastTransport::Create(std::move(options));
    EXPECT_TRUE(transport.ok()) << transport.status();
    http::Request request;
    request.method = "POST";
    request.target = std::string(kRayClusterPath);
    request.body = R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{}})";
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
};

TEST_F(WebhookServerTest, ServesOverTlsAndTakesUpARenewedCertificate) {
  http::testing::CertificateAuthority first("first");
  http::testing::CertificateAuthority second("second");
  Put(first);
  ASSERT_EQ(server_.Start(), absl::OkStatus());
  EXPECT_EQ(Ask(first), 200);
  EXPECT_EQ(Ask(second), 0);
  Put(second);
  executor_.Advance(absl::Seconds(10));
  EXPECT_EQ(Ask(second), 200);
  EXPECT_EQ(Ask(first), 0);
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

}  // namespace
}  // namespace hekla::ray::webhook
