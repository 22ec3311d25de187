#include "pkg/apiserver/server.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/apiserver/testing/recording_responder.h"
#include "pkg/util/clock.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

constexpr char kPod[] = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},)"
                        R"("spec":{"containers":[{"name":"c","image":"i"}]}})";

class ApiServerTest : public ::testing::Test {
 protected:
  ApiServerTest() : server_(MakeOptions()) {}

  Options MakeOptions() {
    Options options;
    options.clock = &clock_;
    options.watch_window = 50;
    return options;
  }

  http::Response Send(const std::string& method, const std::string& target,
                      const std::string& body = "",
                      const std::string& content_type = "application/json") {
    http::Request request;
    request.method = method;
    request.target = target;
    request.body = body;
    if (!body.empty()) request.headers.Set("Content-Type", content_type);
    return server_.Call(request);
  }
  Value Json(const http::Response& response) {
    auto value = apis::json::Parse(response.body);
    EXPECT_TRUE(value.ok()) << response.body;
    return value.ok() ? *value : Value();
  }
  std::shared_ptr<testing::RecordingStream> Watch(const std::string& target) {
    auto responder = std::make_shared<testing::RecordingResponder>();
    http::Request request;
    request.method = "GET";
    request.target = target;
    server_.Handle(request, http::Peer(), responder);
    return responder->stream();
  }

  util::FakeClock clock_;
  ApiServer server_;
};

TEST_F(ApiServerTest, CreatesGetsAndListsAPod) {
  const http::Response created = Send("POST", "/api/v1/namespaces/default/pods", kPod);
  ASSERT_EQ(created.status, 201) << created.body;
  const Value pod = Json(created);
  EXPECT_EQ(pod.At("metadata").GetString("namespace"), "default");
  EXPECT_EQ(pod.At("metadata").GetInt("generation"), 1);
  EXPECT_EQ(pod.At("status").GetString("phase"), "Pending");
  EXPECT_EQ(Json(Send("GET", "/api/v1/namespaces/default/pods/a")), pod);
  const Value list = Json(Send("GET", "/api/v1/pods"));
  EXPECT_EQ(list.GetString("kind"), "PodList");
  ASSERT_EQ(list.At("items").size(), 1u);
  EXPECT_FALSE(list.At("items").as_array()[0].Has("kind"));
}

TEST_F(ApiServerTest, WatchShowsStateAndThenChangesInOrder) {
  Send("POST", "/api/v1/namespaces/default/pods", kPod);
  const auto stream = Watch("/api/v1/pods?watch=1");
  ASSERT_NE(stream, nullptr);
  Send("POST", "/api/v1/namespaces/default/pods/a/binding",
       R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"a"},"target":{"name":"n1"}})");
  const std::vector<Value> events = stream->TakeEvents();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].GetString("type"), "ADDED");
  EXPECT_EQ(events[1].GetString("type"), "MODIFIED");
  EXPECT_EQ(events[1].At("object").At("spec").GetString("nodeName"), "n1");
}

}  // namespace
}  // namespace hekla::apiserver
