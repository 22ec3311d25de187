// Requests and patches from a grammar against the embedded API server: it must answer each of them
// and never with a server error, save the few that real servers give.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "glog/logging.h"
#include "pkg/apiserver/server.h"
#include "pkg/apiserver/testing/recording_responder.h"
#include "pkg/http/server.h"
#include "pkg/util/clock.h"
#include "pkg/util/random.h"
#include "test/fuzz/api_grammar.h"
#include "test/fuzz/fuzz_target.h"

namespace hekla::fuzz {
namespace {

using apis::json::Value;

constexpr char kCrd[] =
    R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
    R"("metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":)"
    R"("Namespaced","names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1",)"
    R"("served":true,"storage":true,"subresources":{"status":{},"scale":{"specReplicasPath":)"
    R"(".spec.n","statusReplicasPath":".status.n"}},"schema":{"openAPIV3Schema":{"type":"object",)"
    R"("properties":{"spec":{"type":"object","properties":{"n":{"type":"integer","default":1},)"
    R"("l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],)"
    R"("items":{"type":"object","properties":{"k":{"type":"string","pattern":"^[a-z]*$"}}}},)"
    R"("any":{"x-kubernetes-preserve-unknown-fields":true}},"x-kubernetes-validations":)"
    R"([{"rule":"!has(self.n) || self.n < 9"}]},"status":{"type":"object",)"
    R"("x-kubernetes-preserve-unknown-fields":true}}}}}]}})";

// Server errors that real servers give to a client's mistake, too, each with the requests that may
// get it.
bool Excused(const http::Request& request, const http::Response& response) {
  const absl::string_view body = response.body;
  const auto says = [&](absl::string_view text) { return absl::StrContains(body, text); };
  if (response.status == 501) {
    return absl::StrContains(request.target, "/pods/") && says("hollow nodes");
  }
  // A list or watch of a version that is still to come.
  if (response.status == 504) return says("Too large resource version");
  if (response.status != 500) return false;
  // Versions that are no numbers.
  if (says("strconv.ParseUint: parsing")) return true;
  if (request.method == "POST" && says("resourceVersion should not be set")) return true;
  // Bindings without a target, budgets that contradict each other.
  if (says("target.") || says("more than one PodDisruptionBudget")) return true;
  if (request.method != "PATCH" && request.method != "PUT") return false;
  // Apply patches with fields of a wrong type or that do not exist.
  if (says("typed patch object") || says("typed live object")) return true;
  // Strategic merge patches whose lists or directives do not fit.
  for (const char* text : {"$patch", "merge key", "map: map[", "order in patch list",
                           "given slices", "list element types", "merging lists"}) {
    if (says(text)) return true;
  }
  return false;
}

// Runs a sequence of requests against a fresh server.
void Run(absl::string_view data) {
  static util::FakeClock* const clock = new util::FakeClock();
  static const Value* const crd = new Value(*apis::json::Parse(kCrd));
  apiserver::Options options;
  options.clock = clock;
  options.watch_window = 20;
  options.max_watches = 8;
  apiserver::ApiServer server(options);
  CHECK(server.LoadCrd(*crd).ok());
  std::vector<std::shared_ptr<apiserver::testing::RecordingResponder>> kept;
  Choices in(data);
  while (!in.empty()) {
    const http::Request request = RandomRequest(in);
    auto responder = std::make_shared<apiserver::testing::RecordingResponder>();
    server.Handle(request, http::Peer(), responder);
    ++fuzz_steps;
    if (!responder->response().has_value()) server.Tick();
    const std::optional<http::Response> response = responder->response();
    if (responder->stream() != nullptr) kept.push_back(std::move(responder));
    if (!response.has_value()) continue;  // waits for a version that is still to come
    CHECK(response->status >= 200 && response->status < 600) << request.target;
    CHECK(response->status < 500 || Excused(request, *response))
        << request.method << " " << request.target << " " << request.body << " -> "
        << response->status << " " << response->body;
  }
  server.Tick();
  server.CloseWatches();
}

}  // namespace
}  // namespace hekla::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hekla::fuzz::Run(absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  std::vector<std::string> seeds;
  for (uint64_t s = 0; s < 16; ++s) {
    hekla::util::Random random(s);
    std::string seed;
    for (int i = 0; i < 12000; ++i) seed.push_back(static_cast<char>(random.Below(256)));
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

std::vector<std::string> FuzzWords() { return {}; }
