#include "pkg/kube/metered_transport.h"

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

}  // namespace
}  // namespace hekla::kube
