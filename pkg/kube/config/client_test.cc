#include "pkg/kube/config/client.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "pkg/http/beast_server.h"
#include "pkg/http/testing/certificates.h"
#include "pkg/kube/api_status.h"
#include "pkg/util/testing/status_matchers.h"
#include "pkg/util/thread_executor.h"

namespace hekla::kube {
namespace {

// Says what it sees of a request.
class MirrorHandler : public http::Handler {
 public:
  void Handle(http::Request request, const http::Peer& peer,
              std::shared_ptr<http::Responder> responder) override {
    http::Response response{.status = 200};
    response.body = absl::StrCat(request.target, "|", request.headers.Get("Authorization"), "|",
                                 request.headers.Get("User-Agent"), "|", peer.certificate_subject);
    for (const auto& [name, value] : request.headers.all()) {
      if (name == "Impersonate-Group") absl::StrAppend(&response.body, "|", value);
    }
    responder->Respond(std::move(response));
  }
};

TEST(ClientTest, HttpsWithCertificateTokenAndPrefix) {
  http::testing::CertificateAuthority ca("hekla test CA");
  const auto server_pair = ca.IssueServer("api", {"IP:127.0.0.1"});
  const auto client_pair = ca.IssueClient({{"CN", "ann"}});
  http::BeastServer::Options options;
  options.tls = true;
  options.tls_files = {.cert_pem = server_pair.cert_pem,
                       .key_pem = server_pair.key_pem,
                       .client_ca_pem = ca.cert_pem()};
  MirrorHandler handler;
  http::BeastServer server(options);
  HEKLA_ASSERT_OK(server.Start(&handler));

  ClientConfig config;
  config.server = absl::StrCat("https://127.0.0.1:", server.port(), "/prefix/");
  config.tls = {
      .ca_pem = ca.cert_pem(), .cert_pem = client_pair.cert_pem, .key_pem = client_pair.key_pem};
  config.token = "t1";
  config.as = "bob";
  config.as_groups = {"g1", "g2"};
  util::ThreadExecutor executor("test");
  Client::Options client_options;
  client_options.rest.user_agent = "hekla-test/1";
  auto client = Client::Create(config, &executor, &executor, client_options);
  HEKLA_ASSERT_OK(client);
  auto answer = (*client)->rest().SendAndWait({.method = "GET", .path = "/api/v1/pods"});
  HEKLA_ASSERT_OK(answer);
  EXPECT_EQ(answer->body, "/prefix/api/v1/pods|Bearer t1|hekla-test/1|CN=ann|g1|g2");
}

TEST(ClientTest, ANameIsResolvedAndTheTimeCounted) {
  MirrorHandler handler;
  http::BeastServer server({});
  HEKLA_ASSERT_OK(server.Start(&handler));
  metrics::Registry registry;
  ClientMetrics metrics(registry);
  util::ThreadExecutor executor("test");
  Client::Options options;
  options.metrics = &metrics;
  for (const char* host : {"127.0.0.1", "localhost"}) {
    ClientConfig config;
    config.server = absl::StrCat("http://", host, ":", server.port());
    auto client = Client::Create(config, &executor, &executor, options);
    HEKLA_ASSERT_OK(client);
    HEKLA_ASSERT_OK((*client)->rest().SendAndWait({.method = "GET", .path = "/x"}));
    HEKLA_ASSERT_OK((*client)->rest().SendAndWait({.method = "GET", .path = "/x"}));
  }
  const std::string text = registry.Expose();
  const auto has = [&](const std::string& line) {
    return text.find(line + "\n") != std::string::npos;
  };
  // Once: the connection is kept. An address is not resolved.
  EXPECT_TRUE(has("rest_client_dns_resolution_duration_seconds_count{host=\"localhost\"} 1"))
      << text;
  EXPECT_EQ(text.find("dns_resolution_duration_seconds_count{host=\"127"), std::string::npos);
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const std::string labels =
        absl::StrCat("{host=\"", host, ":", server.port(), "\",verb=\"GET\"} 2");
    EXPECT_TRUE(has(absl::StrCat("rest_client_rate_limiter_duration_seconds_count", labels)));
    EXPECT_TRUE(has(absl::StrCat("rest_client_request_duration_seconds_count", labels)));
  }
}

TEST(ClientTest, CredentialsOfAPluginAreFetchedBeforeTheFirstRequest) {
  MirrorHandler handler;
  http::BeastServer server({});
  HEKLA_ASSERT_OK(server.Start(&handler));
  ClientConfig config;
  config.server = absl::StrCat("http://127.0.0.1:", server.port());
  config.exec = ExecEntry{
      .command = "sh",
      .args = {"-c", R"(echo '{"kind":"ExecCredential","apiVersion":)"
                     R"("client.authentication.k8s.io/v1","status":{"token":"from-plugin"}}')"},
      .api_version = "client.authentication.k8s.io/v1",
      .interactive_mode = "Never"};
  util::ThreadExecutor executor("test");
  util::ThreadExecutor background("test-background");
  auto client = Client::Create(config, &executor, &background, {});
  HEKLA_ASSERT_OK(client);
  auto answer = (*client)->rest().SendAndWait({.method = "GET", .path = "/x"});
  HEKLA_ASSERT_OK(answer);
  EXPECT_EQ(answer->body, "/x|Bearer from-plugin|hekla|");
  config.exec->args = {"-c", "exit 1"};
  client = Client::Create(config, &executor, &background, {});
  HEKLA_ASSERT_OK(client);
  EXPECT_FALSE((*client)->rest().SendAndWait({.method = "GET", .path = "/x"}).ok());
}

}  // namespace
}  // namespace hekla::kube
