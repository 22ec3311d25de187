#include "pkg/apiserver/testing/test_server.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace hekla::apiserver::testing {
namespace {

using apis::json::Value;

http::Request Make(absl::string_view method, absl::string_view target, absl::string_view body,
                   absl::string_view type) {
  http::Request request;
  request.method = std::string(method);
  request.target = std::string(target);
  request.body = std::string(body);
  if (!body.empty()) request.headers.Set("Content-Type", type);
  return request;
}

}  // namespace

Value J(absl::string_view text) {
  auto value = apis::json::Parse(text);
  CHECK(value.ok()) << value.status() << " in " << text;
  return *std::move(value);
}

std::vector<std::string> Brief(const std::vector<Value>& events) {
  std::vector<std::string> out;
  for (const Value& event : events) {
    const Value& metadata = event.At("object").At("metadata");
    out.push_back(absl::StrCat(event.GetString("type"), " ", metadata.GetString("name"), "@",
                               metadata.GetString("resourceVersion")));
  }
  return out;
}

Options TestServer::WithClock(Options options, const util::Clock* clock) {
  options.clock = clock;
  return options;
}

TestServer::TestServer(Options options)
    : server(std::make_unique<ApiServer>(WithClock(std::move(options), &clock))) {}

TestServer::Reply TestServer::Send(http::Request request) {
  http::Response response = server->Call(request);
  Reply reply;
  reply.status = response.status;
  reply.text = std::move(response.body);
  reply.headers = std::move(response.headers);
  auto value = apis::json::Parse(reply.text);
  if (value.ok()) reply.body = *std::move(value);
  return reply;
}

TestServer::Reply TestServer::Get(absl::string_view target, absl::string_view accept) {
  http::Request request = Make("GET", target, "", "");
  if (!accept.empty()) request.headers.Set("Accept", accept);
  return Send(std::move(request));
}

TestServer::Reply TestServer::Post(absl::string_view target, absl::string_view body) {
  return Send(Make("POST", target, body, "application/json"));
}

TestServer::Reply TestServer::Put(absl::string_view target, absl::string_view body) {
  return Send(Make("PUT", target, body, "application/json"));
}

TestServer::Reply TestServer::Patch(absl::string_view target, absl::string_view type,
                                    absl::string_view body) {
  const absl::string_view media = type == "merge"   ? "application/merge-patch+json"
                                  : type == "json"  ? "application/json-patch+json"
                                  : type == "apply" ? "application/apply-patch+yaml"
                                                    : "application/strategic-merge-patch+json";
  return Send(Make("PATCH", target, body, media));
}

TestServer::Reply TestServer::Delete(absl::string_view target, absl::string_view body) {
  return Send(Make("DELETE", target, body, "application/json"));
}

std::shared_ptr<RecordingStream> TestServer::Watch(absl::string_view target,
                                                   absl::string_view accept) {
  auto responder = std::make_shared<RecordingResponder>();
  http::Request request = Make("GET", target, "", "");
  if (!accept.empty()) request.headers.Set("Accept", accept);
  server->Handle(std::move(request), http::Peer(), responder);
  return responder->stream();
}

Value TestServer::MakePod(absl::string_view name, absl::string_view metadata,
                          absl::string_view spec) {
  const Reply reply = Post(
      "/api/v1/namespaces/default/pods",
      absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")", name, "\"",
                   metadata.empty() ? "" : ",", metadata, R"(},"spec":{"containers":[{"name":"c",)",
                   R"("image":"i"}])", spec.empty() ? "" : ",", spec, "}}"));
  CHECK_EQ(reply.status, 201) << reply.text;
  return reply.body;
}

TestServer::Reply TestServer::Bind(absl::string_view pod, absl::string_view node) {
  return Post(absl::StrCat("/api/v1/namespaces/default/pods/", pod, "/binding"),
              absl::StrCat(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")", pod,
                           R"("},"target":{"kind":"Node","name":")", node, "\"}}"));
}

void TestServer::Advance(absl::Duration d) {
  clock.Advance(d);
  server->Tick();
}

}  // namespace hekla::apiserver::testing
