#include "cmd/scheduler/endpoints.h"

#include "gtest/gtest.h"

namespace hekla::cmd::scheduler {
namespace {

int StatusOf(const Endpoints& endpoints, const std::string& target,
             const std::string& method = "GET") {
  http::Request request;
  request.method = method;
  request.target = target;
  return endpoints.Answer(request).status;
}

TEST(EndpointsTest, HealthAndReadiness) {
  bool ready = false;
  const Endpoints endpoints({.health = true, .ready = [&] { return ready; }});
  http::Request request;
  request.method = "GET";
  request.target = "/healthz";
  EXPECT_EQ(endpoints.Answer(request).body, "ok");
  EXPECT_EQ(StatusOf(endpoints, "/healthz/ping?verbose=1"), 200);
  EXPECT_EQ(StatusOf(endpoints, "/readyz"), 503);
  ready = true;
  EXPECT_EQ(StatusOf(endpoints, "/readyz"), 200);
  EXPECT_EQ(StatusOf(endpoints, "/healthz", "POST"), 405);
  EXPECT_EQ(StatusOf(endpoints, "/metrics"), 404);
}

TEST(EndpointsTest, Metrics) {
  const Endpoints endpoints({.metrics = [] { return std::string("a 1\n"); }});
  http::Request request;
  request.method = "GET";
  request.target = "/metrics";
  const http::Response response = endpoints.Answer(request);
  EXPECT_EQ(response.body, "a 1\n");
  EXPECT_EQ(response.headers.Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(StatusOf(endpoints, "/healthz"), 404);
}

TEST(EndpointsTest, Addresses) {
  EXPECT_EQ(ParseListenAddress(":11251")->port, 11251);
  EXPECT_EQ(ParseListenAddress(":11251")->host, "");
  EXPECT_EQ(ParseListenAddress("127.0.0.1:0")->host, "127.0.0.1");
  EXPECT_EQ(ParseListenAddress("[::1]:80")->host, "::1");
  EXPECT_FALSE(ParseListenAddress("8080").ok());
  EXPECT_FALSE(ParseListenAddress("host:70000").ok());
}

TEST(EndpointsTest, ListenersHaveLimits) {
  const auto options = EndpointListener("127.0.0.1:9", "metrics");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->address, "127.0.0.1");
  EXPECT_EQ(options->port, 9);
  EXPECT_LE(options->max_header_bytes, 16u << 10);
  EXPECT_LE(options->max_body_bytes, 16u << 10);
  EXPECT_LE(options->max_connections, 256u);
  EXPECT_LE(options->header_timeout, absl::Seconds(5));
  EXPECT_LE(options->read_timeout, absl::Seconds(10));
  EXPECT_LE(options->idle_timeout, absl::Seconds(60));
  EXPECT_FALSE(EndpointListener("9", "metrics").ok());
}

}  // namespace
}  // namespace hekla::cmd::scheduler
