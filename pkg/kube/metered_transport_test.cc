#include "pkg/kube/metered_transport.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/kube/testing/scripted_server.h"

namespace hekla::kube {
namespace {

using ::testing::HasSubstr;

class Ears final : public http::StreamObserver {
 public:
  void OnHeaders(int status, const http::Headers&) override { heard.push_back(status); }
  void OnData(absl::string_view) override {}
  void OnEnd(const absl::Status& status) override { heard.push_back(status.ok() ? 0 : -1); }
  std::vector<int> heard;
};

TEST(MeteredTransportTest, CountsAnswersFailuresAndStreams) {
  ScriptedServer server;
  metrics::Registry registry;
  ClientMetrics metrics(registry);
  MeteredTransport transport(&server.transport, &metrics, &server.clock, "host:1");
  http::Request request;
  request.method = "POST";
  request.target = "/api/v1/pods";
  request.body = std::string(100, 'x');
  int answers = 0;
  const auto done = [&](absl::StatusOr<http::Response>) { ++answers; };
  transport.Send(request, absl::Seconds(9), done);
  server.Next();
  server.executor.Advance(absl::Milliseconds(50));
  server.calls.back().Answer(201, "0123456789");
  server.executor.RunReady();
  transport.Send(request, absl::Seconds(9), done);
  server.Next();
  server.transport.DropConnections();
  server.executor.RunReady();
  EXPECT_EQ(answers, 2);

  Ears ears;
  http::Request watch;
  watch.method = "GET";
  watch.target = "/api/v1/pods?watch=true";
  auto stream = transport.OpenStream(watch, absl::InfiniteDuration(), &ears);
  server.Next().CloseStream();
  server.executor.RunReady();
  EXPECT_EQ(ears.heard, (std::vector<int>{200, 0}));

  const std::string text = registry.Expose();
  EXPECT_THAT(text,
              HasSubstr(R"(rest_client_requests_total{code="201",host="host:1",method="POST"} 1)"));
  EXPECT_THAT(
      text,
      HasSubstr(R"(rest_client_requests_total{code="<error>",host="host:1",method="POST"} 1)"));
  EXPECT_THAT(text,
              HasSubstr(R"(rest_client_requests_total{code="200",host="host:1",method="GET"} 1)"));
  EXPECT_THAT(
      text,
      HasSubstr(R"(rest_client_request_duration_seconds_sum{host="host:1",verb="POST"} 0.05)"));
  EXPECT_THAT(text,
              HasSubstr(R"(rest_client_request_size_bytes_sum{host="host:1",verb="POST"} 200)"));
  EXPECT_THAT(text,
              HasSubstr(R"(rest_client_response_size_bytes_sum{host="host:1",verb="POST"} 10)"));
}

TEST(MeteredTransportTest, ShowsWhatTheClientWaitsForAndTriesAgain) {
  ScriptedServer server;
  metrics::Registry registry;
  ClientMetrics metrics(registry);
  MeteredTransport transport(&server.transport, &metrics, &server.clock, "host:1");
  RestClient::Options options;
  options.qps = 2;  // a token every half second
  options.burst = 1;
  options.observer = &transport;
  RestClient client({&transport, &server.executor, nullptr}, options);
  int answers = 0;
  const auto get = [&] {
    client.Send({.method = "GET", .path = "/api/v1/pods"},
                [&](absl::StatusOr<http::Response>) { ++answers; });
  };
  get();  // at once
  server.Next().Answer(429, "{}", "1");
  EXPECT_TRUE(server.Idle());
  server.executor.Advance(absl::Seconds(1));
  server.Next().Answer(200, "{}");
  get();  // at once: the second try had the token of 0.5 s, this has that of 1 s
  server.Next();
  server.transport.DropConnections();
  server.executor.Advance(absl::Seconds(1));
  server.Next().Answer(200, "{}");
  server.executor.RunReady();
  EXPECT_EQ(answers, 2);
  const std::string text = registry.Expose();
  const std::string labels = R"({host="host:1",verb="GET")";
  const std::string wait = "rest_client_rate_limiter_duration_seconds";
  const std::string retries =
      R"(rest_client_request_retries_total{code="%",host="host:1",verb="GET"} 1)";
  for (const std::string& line :
       {absl::StrCat("# TYPE ", wait, " histogram\n"),
        std::string("# TYPE rest_client_request_retries_total counter\n"),
        absl::StrCat(wait, "_bucket", labels, ",le=\"0.25\"} 2\n"),
        absl::StrCat(wait, "_bucket", labels, ",le=\"0.5\"} 4\n"),
        absl::StrCat(wait, "_bucket", labels, ",le=\"60\"} 4\n"),
        absl::StrCat(wait, "_sum", labels, "} 1\n"),  // both retries waited half a second
        absl::StrReplaceAll(retries, {{"%", "429"}}),
        absl::StrReplaceAll(retries, {{"%", "<error>"}})}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

// Buckets and labels as upstream's: spec 2.9 and spec ray-cluster 10.
TEST(MeteredTransportTest, ResolutionsHaveNoBucketOfAMinute) {
  metrics::Registry registry;
  ClientMetrics metrics(registry);
  metrics.resolution.With({"api.example.com"})->Observe(0.1);
  std::vector<std::string> bounds;
  for (absl::string_view line : absl::StrSplit(registry.Expose(), '\n')) {
    if (absl::ConsumePrefix(&line,
                            "rest_client_dns_resolution_duration_seconds_bucket"
                            "{host=\"api.example.com\",le=\"")) {
      bounds.emplace_back(line.substr(0, line.find('"')));
    }
  }
  EXPECT_THAT(bounds, ::testing::ElementsAre("0.005", "0.025", "0.1", "0.25", "0.5", "1", "2", "4",
                                             "8", "15", "30", "+Inf"));
}

}  // namespace
}  // namespace hekla::kube
