#include "pkg/kube/rest_client.h"

#include <gtest/gtest.h>

#include "pkg/kube/api_status.h"
#include "pkg/kube/resource_client.h"
#include "pkg/kube/testing/scripted_server.h"
#include "pkg/kube/watch_decoder.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::kube {
namespace {

using apis::json::Value;
using util::testing::StatusIs;

const Resource kPods{"", "v1", "pods", "Pod", true};
const Resource kGroups{"scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", true};

class RestClientTest : public testing::Test {
 protected:
  RestClient::Options Unlimited() {
    RestClient::Options options;
    options.qps = 0;
    return options;
  }
  void Send(RestClient& client, const std::string& method) {
    RestRequest request;
    request.method = method;
    request.path = "/api/v1/pods";
    request.subject = "pods web-1";
    answers_.clear();
    client.Send(std::move(request), [this](absl::StatusOr<http::Response> answer) {
      answers_.push_back(std::move(answer));
    });
  }
  RestClient::Deps deps() { return {&server_.transport, &server_.executor, nullptr}; }

  ScriptedServer server_;
  std::vector<absl::StatusOr<http::Response>> answers_;
};

TEST_F(RestClientTest, PathsQueriesAndPrefixAreBuilt) {
  RestClient::Options options = Unlimited();
  options.path_prefix = "/k8s/c-1";
  RestClient client(deps(), options);
  ResourceClient groups(&client, kGroups);
  ListOptions list;
  list.label_selector = "a in (b,c)";
  list.limit = 5;
  groups.List("ns", list, [](absl::StatusOr<Value>) {});
  EXPECT_EQ(server_.Next().request.target,
            "/k8s/c-1/apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups"
            "?labelSelector=a%20in%20%28b%2Cc%29&limit=5");
  ResourceClient(&client, kPods).PostSubresource({"ns", "p", "binding"}, "{}", [](absl::Status) {});
  auto& call = server_.Next();
  EXPECT_EQ(call.request.target, "/k8s/c-1/api/v1/namespaces/ns/pods/p/binding");
  EXPECT_EQ(call.request.headers.Get("Content-Type"), "application/json");
}

TEST_F(RestClientTest, OfACreationTheMetadataIsEnough) {
  RestClient client(deps(), Unlimited());
  const ResourceClient pods(&client, kPods);
  std::string name;
  pods.CreateForMetadata("ns", Value::MakeObject({{"kind", "Pod"}}),
                         [&name](absl::StatusOr<Value> answer) {
                           name = std::string(answer->At("metadata").GetString("name"));
                         });
  auto& call = server_.Next();
  EXPECT_EQ(call.request.headers.Get("Accept"),
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
  EXPECT_EQ(call.request.body, R"({"kind":"Pod"})");
  call.Answer(201, R"({"kind":"PartialObjectMetadata","metadata":{"name":"p-1"}})");
  server_.executor.RunReady();
  EXPECT_EQ(name, "p-1");
}

TEST_F(RestClientTest, RetryAfterIsObeyedAndOnlyWithTheHeader) {
  RestClient client(deps(), Unlimited());
  Send(client, "POST");
  server_.Next().Answer(429, "{}", "3");
  EXPECT_TRUE(server_.Idle());
  server_.executor.Advance(absl::Seconds(2));
  EXPECT_TRUE(server_.Idle());
  server_.executor.Advance(absl::Seconds(1));
  server_.Next().Answer(503, "");  // no header: handed on
  server_.executor.RunReady();
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_THAT(answers_[0],
              StatusIs(absl::StatusCode::kUnavailable,
                       "the server is currently unable to handle the request (post pods "
                       "web-1) - error from a previous attempt: "));
}

TEST_F(RestClientTest, WhoMayNotWriteOnlyReads) {
  bool may_write = true;
  RestClient::Options options = Unlimited();
  options.may_write = [&may_write] { return may_write; };
  RestClient client(deps(), options);
  Send(client, "POST");
  server_.Next().Answer(429, "{}", "3");
  may_write = false;  // meanwhile
  server_.executor.Advance(absl::Seconds(3));
  EXPECT_TRUE(server_.Idle());
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_THAT(answers_[0],
              StatusIs(absl::StatusCode::kUnavailable, "this process does not lead any more"));
  Send(client, "GET");
  server_.Next().Answer(200, "{}");
  server_.executor.RunReady();
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_TRUE(answers_[0].ok());
  // Who waits for the answer gets it at once, as the executor may be this thread's.
  RestRequest request;
  request.method = "DELETE";
  request.path = "/api/v1/pods";
  EXPECT_THAT(client.SendAndWait(std::move(request)).status(),
              StatusIs(absl::StatusCode::kUnavailable, "this process does not lead any more"));
  EXPECT_TRUE(server_.Idle());
}

TEST_F(RestClientTest, ElevenTriesAreTheLimit) {
  RestClient client(deps(), Unlimited());
  Send(client, "GET");
  for (int i = 0; i < 11; ++i) {
    server_.Next().Answer(500, "", "1");
    server_.executor.Advance(absl::Seconds(1));
  }
  EXPECT_TRUE(server_.Idle());
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(server_.calls.size(), 11u);
}

TEST_F(RestClientTest, LostConnectionsAreTriedAgainForGetsOnly) {
  RestClient client(deps(), Unlimited());
  Send(client, "GET");
  server_.Next();
  server_.transport.DropConnections();
  server_.executor.Advance(absl::Seconds(1));
  server_.Next().Answer(200, "{}");
  server_.executor.RunReady();
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_TRUE(answers_[0].ok());
  Send(client, "POST");
  server_.Next();
  server_.transport.DropConnections();
  server_.executor.Advance(absl::Seconds(2));
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_THAT(answers_[0], StatusIs(absl::StatusCode::kUnavailable, ""));
  EXPECT_TRUE(server_.Idle());
}

TEST_F(RestClientTest, TheBucketSpacesRequests) {
  RestClient::Options options;
  options.qps = 2;
  options.burst = 1;
  RestClient client(deps(), options);
  Send(client, "GET");
  Send(client, "GET");
  Send(client, "GET");
  server_.Next();
  EXPECT_TRUE(server_.Idle());
  server_.executor.Advance(absl::Milliseconds(500));
  EXPECT_FALSE(server_.Idle());
  server_.Next();
  EXPECT_TRUE(server_.Idle());
  server_.executor.Advance(absl::Milliseconds(500));
  EXPECT_FALSE(server_.Idle());
}

TEST_F(RestClientTest, AClockThatIsSetGivesAndTakesNoTokens) {
  RestClient::Options options;
  options.qps = 2;
  options.burst = 1;
  RestClient client(deps(), options);
  Send(client, "GET");
  server_.Next();
  server_.wall.Step(absl::Hours(1));
  Send(client, "GET");
  EXPECT_TRUE(server_.Idle()) << "no time has passed";
  server_.wall.Step(-absl::Hours(2));
  server_.executor.Advance(absl::Milliseconds(500));
  EXPECT_FALSE(server_.Idle());
  server_.Next();
  server_.executor.Advance(absl::Milliseconds(500));
  Send(client, "GET");
  EXPECT_FALSE(server_.Idle()) << "the bucket fills while the time of day is behind";
}

TEST_F(RestClientTest, DestroyedClientTellsThoseWhoWait) {
  RestClient::Options options;
  options.qps = 0.01;
  options.burst = 1;
  auto client = std::make_unique<RestClient>(deps(), options);
  Send(*client, "GET");
  server_.Next().Answer(200, "{}");
  server_.executor.RunReady();
  Send(*client, "GET");
  client.reset();
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_THAT(answers_[0], StatusIs(absl::StatusCode::kCancelled, "shut down"));
}

TEST_F(RestClientTest, BadNamesFailBeforeTheNetwork) {
  RestClient client(deps(), Unlimited());
  ResourceClient pods(&client, kPods);
  absl::Status seen;
  pods.Get({"ns", "a/b", ""}, [&](absl::StatusOr<Value> v) { seen = v.status(); });
  EXPECT_TRUE(seen.ok());  // not from inside the call
  server_.executor.RunReady();
  EXPECT_THAT(seen, StatusIs(absl::StatusCode::kInvalidArgument, "may not contain '/'"));
  pods.Create("", Value::MakeObject(), [&](absl::StatusOr<Value> v) { seen = v.status(); });
  server_.executor.RunReady();
  EXPECT_THAT(seen, StatusIs(absl::StatusCode::kInvalidArgument,
                             "an empty namespace may not be set during creation"));
  EXPECT_TRUE(server_.calls.empty());
}

TEST(ApiStatusTest, ReasonWinsOverCode) {
  http::Response response;
  response.status = 409;
  response.body =
      R"({"kind":"Status","status":"Failure","message":"pods \"a\" already exists","reason":"AlreadyExists","code":409})";
  const absl::Status status = StatusFromResponse(response, "POST", "");
  EXPECT_TRUE(kube::IsAlreadyExists(status));
  EXPECT_FALSE(kube::IsConflict(status));
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(status.message(), "pods \"a\" already exists");
}

TEST(ApiStatusTest, BodiesThatAreNoStatusGetTheGenericTexts) {
  http::Response response;
  response.status = 500;
  response.body = "boom\n";
  const absl::Status status = StatusFromResponse(response, "GET", " (get pods a)");
  EXPECT_EQ(
      status.message(),
      "an error on the server (\"boom\") has prevented the request from succeeding (get pods a)");
  const auto api = GetApiStatus(status);
  ASSERT_TRUE(api.has_value());
  EXPECT_EQ(api->object.At("details").At("causes").as_array()[0].GetString("reason"),
            "UnexpectedServerResponse");
}

TEST(WatchDecoderTest, EventsComeOutOfAnyPieces) {
  const std::string text =
      "{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n\n{\"type\":\"DELETED\",\"object\":{}}\nrest";
  for (size_t piece = 1; piece < 20; ++piece) {
    WatchDecoder decoder;
    std::vector<EventType> seen;
    for (size_t i = 0; i < text.size(); i += piece) {
      decoder.Feed(text.substr(i, piece), [&](WatchEvent e) {
        seen.push_back(e.type);
        return true;
      });
    }
    EXPECT_EQ(seen, (std::vector<EventType>{EventType::kAdded, EventType::kDeleted})) << piece;
    EXPECT_EQ(decoder.pending_bytes(), 4u);
  }
}

TEST(WatchDecoderTest, GarbageBecomesAnErrorEvent) {
  const WatchEvent event = DecodeWatchLine("{nonsense");
  EXPECT_EQ(event.type, EventType::kError);
  EXPECT_EQ(event.object.GetString("reason"), "InternalError");
  EXPECT_EQ(
      event.object.GetString("message").find("unable to decode an event from the watch stream: "),
      0u);
}

}  // namespace
}  // namespace hekla::kube
