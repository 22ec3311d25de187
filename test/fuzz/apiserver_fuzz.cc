// Requests and patches from a grammar against the embedded API server: it must answer each of them
// and never with a server error, save the few that real servers give.
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/apiserver/server.h"
#include "pkg/http/server.h"
#include "pkg/util/clock.h"
#include "pkg/util/random.h"
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

// Reads decisions from the input; zero once it is used up.
class Source {
 public:
  explicit Source(absl::string_view data) : data_(data) {}
  bool empty() const { return data_.empty(); }
  unsigned Byte() {
    if (data_.empty()) return 0;
    const unsigned char c = static_cast<unsigned char>(data_[0]);
    data_.remove_prefix(1);
    return c;
  }
  template <size_t N>
  const char* Pick(const char* const (&options)[N]) {
    return options[Byte() % N];
  }

 private:
  absl::string_view data_;
};

constexpr const char* kNames[] = {"a", "b", "Bad_", "", "c.d", "default"};
constexpr const char* kKeys[] = {"metadata",    "spec",
                                 "status",      "name",
                                 "labels",      "finalizers",
                                 "containers",  "image",
                                 "conditions",  "type",
                                 "taints",      "resources",
                                 "requests",    "cpu",
                                 "n",           "l",
                                 "k",           "any",
                                 "replicas",    "selector",
                                 "template",    "ownerReferences",
                                 "uid",         "resourceVersion",
                                 "$patch",      "namespace",
                                 "apiVersion",  "kind",
                                 "target",      "ports",
                                 "port",        "tolerations",
                                 "priority",    "generateName",
                                 "annotations", "managedFields",
                                 "versions",    "schema",
                                 "names",       "deletionTimestamp",
                                 "data",        "rules"};
constexpr const char* kTexts[] = {
    "a",      "x/y", "1", "100m", "-5", "", "NoSchedule", "abc", "{", "Pod", "2001-01-01T00:00:00Z",
    "delete", "v1"};

Value RandomValue(Source& in, int depth) {
  switch (in.Byte() % (depth > 4 ? 5 : 8)) {
    case 0:
      return Value();
    case 1:
      return Value(in.Byte() % 2 == 0);
    case 2:
      return Value(static_cast<int>(in.Byte()) - 100);
    case 3:
      return Value(in.Byte() / 7.0);
    case 4:
      return Value(in.Pick(kTexts));
    case 5: {
      Value list = Value::MakeArray();
      for (unsigned i = in.Byte() % 4; i > 0; --i) list.Append(RandomValue(in, depth + 1));
      return list;
    }
    default: {
      Value object = Value::MakeObject();
      for (unsigned i = in.Byte() % 5; i > 0; --i) {
        const char* key = in.Pick(kKeys);
        object.Set(key, RandomValue(in, depth + 1));
      }
      return object;
    }
  }
}

// A valid body of the kind with something random put somewhere.
Value Seeded(Source& in, absl::string_view api_version, absl::string_view kind) {
  Value object = Value::MakeObject({{"apiVersion", api_version},
                                    {"kind", kind},
                                    {"metadata", Value::MakeObject({{"name", in.Pick(kNames)}})}});
  if (kind == "Pod") {
    object.Set("spec", Value::MakeObject({{"containers", Value::MakeArray({Value::MakeObject(
                                                             {{"name", "c"}, {"image", "i"}})})}}));
  }
  Value* at = &object;
  for (unsigned i = in.Byte() % 4; i > 0; --i) {
    if (!at->is_object()) break;
    at = &(*at)[in.Pick(kKeys)];
  }
  if (in.Byte() % 3 != 0) *at = RandomValue(in, 0);
  return object;
}

struct Place {
  const char* path;
  const char* api_version;
  const char* kind;
};
constexpr Place kPlaces[] = {
    {"/api/v1/namespaces/default/pods", "v1", "Pod"},
    {"/api/v1/namespaces/default/configmaps", "v1", "ConfigMap"},
    {"/api/v1/namespaces/default/services", "v1", "Service"},
    {"/api/v1/namespaces/default/events", "v1", "Event"},
    {"/api/v1/nodes", "v1", "Node"},
    {"/api/v1/namespaces", "v1", "Namespace"},
    {"/apis/example.com/v1/namespaces/default/things", "example.com/v1", "Thing"},
    {"/apis/apps/v1/namespaces/default/deployments", "apps/v1", "Deployment"},
    {"/apis/batch/v1/namespaces/default/jobs", "batch/v1", "Job"},
    {"/apis/policy/v1/namespaces/default/poddisruptionbudgets", "policy/v1", "PodDisruptionBudget"},
    {"/apis/events.k8s.io/v1/namespaces/default/events", "events.k8s.io/v1", "Event"},
    {"/apis/scheduling.k8s.io/v1/priorityclasses", "scheduling.k8s.io/v1", "PriorityClass"},
    {"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "apiextensions.k8s.io/v1",
     "CustomResourceDefinition"},
};
constexpr const char* kMethods[] = {"POST", "PUT", "PATCH", "PATCH", "GET", "DELETE", "HEAD"};
constexpr const char* kSubs[] = {"",          "",       "",     "/status",   "/binding",
                                 "/eviction", "/scale", "/log", "/finalize", "/x"};
constexpr const char* kQueries[] = {"",
                                    "?dryRun=All",
                                    "?fieldValidation=Strict",
                                    "?labelSelector=a%20in%20(b,c),!d",
                                    "?fieldSelector=metadata.name%3Da",
                                    "?limit=1",
                                    "?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ",
                                    "?resourceVersion=7&resourceVersionMatch=Exact",
                                    "?fieldManager=f",
                                    "?fieldManager=f&force=true",
                                    "?propagationPolicy=Foreground",
                                    "?pretty=1"};
constexpr const char* kPatchTypes[] = {
    "application/merge-patch+json", "application/json-patch+json",
    "application/strategic-merge-patch+json", "application/apply-patch+yaml", "application/json"};
constexpr const char* kPointers[] = {
    "/metadata/labels",     "/spec", "/spec/n",   "/metadata/name",
    "/status/conditions/0", "",      "/spec/l/-", "/metadata/finalizers"};

http::Request RandomRequest(Source& in) {
  const Place& place = kPlaces[in.Byte() % std::size(kPlaces)];
  http::Request request;
  request.method = in.Pick(kMethods);
  std::string path = place.path;
  if (request.method != "POST" || in.Byte() % 4 == 0) {
    if (in.Byte() % 5 != 0) absl::StrAppend(&path, "/", in.Pick(kNames), in.Pick(kSubs));
  }
  request.target = absl::StrCat(path, in.Pick(kQueries));
  if (in.Byte() % 6 == 0) {
    request.headers.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
  }
  if (request.method == "PATCH") {
    const std::string type = in.Pick(kPatchTypes);
    request.headers.Set("Content-Type", type);
    Value patch;
    if (type == "application/json-patch+json") {
      patch = Value::MakeArray();
      for (unsigned i = 1 + in.Byte() % 3; i > 0; --i) {
        constexpr const char* kOps[] = {"add", "remove", "replace", "move", "copy", "test", "?"};
        patch.Append(Value::MakeObject({{"op", in.Pick(kOps)},
                                        {"path", in.Pick(kPointers)},
                                        {"from", in.Pick(kPointers)},
                                        {"value", RandomValue(in, 2)}}));
      }
    } else {
      patch = in.Byte() % 2 == 0 ? RandomValue(in, 0) : Seeded(in, place.api_version, place.kind);
    }
    request.body = apis::json::Dump(patch);
  } else if (request.method == "POST" || request.method == "PUT" || in.Byte() % 4 == 0) {
    request.headers.Set("Content-Type", "application/json");
    request.body = apis::json::Dump(Seeded(in, place.api_version, place.kind));
  }
  if (in.Byte() % 40 == 0 && !request.body.empty()) request.body.resize(request.body.size() / 2);
  return request;
}

// Server errors that real servers answer to a client's mistake, too.
bool Excused(const http::Response& response) {
  if (response.status == 501) return true;  // logs, exec on hollow nodes
  for (const char* text :
       {"resourceVersion should not be set", "target.", "does not exist", "map: map[", "merge key",
        "Too large resource version", "$patch", "Internal error occurred", "typed patch object",
        "order in patch list", "given slices", "list element types", "merging lists"}) {
    if (response.body.find(text) != std::string::npos) return true;
  }
  return false;
}

// Runs a sequence of requests against a fresh server.
void Run(absl::string_view data) {
  static util::FakeClock* const clock = new util::FakeClock();
  apiserver::Options options;
  options.clock = clock;
  options.watch_window = 20;
  apiserver::ApiServer server(options);
  const auto crd = apis::json::Parse(kCrd);
  CHECK(crd.ok() && server.LoadCrd(*crd).ok());
  Source in(data);
  for (int i = 0; i < 40 && !in.empty(); ++i) {
    const http::Request request = RandomRequest(in);
    const http::Response response = server.Call(request);
    CHECK(response.status >= 200 && response.status < 600) << request.target;
    CHECK(response.status < 500 || Excused(response))
        << request.method << " " << request.target << " " << request.body << " -> "
        << response.body;
  }
  server.Tick();
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
    for (int i = 0; i < 800; ++i) seed.push_back(static_cast<char>(random.Below(256)));
    seeds.push_back(std::move(seed));
  }
  return seeds;
}

std::vector<std::string> FuzzWords() { return {}; }
