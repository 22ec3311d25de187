#include "test/ray_conformance/actions.h"

#include <algorithm>
#include <regex>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "pkg/apis/meta/lookup.h"
#include "pkg/util/status_macros.h"
#include "test/ray_conformance/dump.h"

namespace hekla::ray_conformance {
namespace {

using apis::json::Value;

constexpr char kMerge[] = "application/merge-patch+json";
constexpr char kJsonPatch[] = "application/json-patch+json";

std::string NameOf(const Value& object) {
  return std::string(object.At("metadata").GetString("name"));
}

}  // namespace

Actions::Actions(apiserver::ApiServer& server, const Case& recorded, const Names& names,
                 std::function<std::string()> now)
    : server_(server), recorded_(recorded), names_(names), now_(std::move(now)) {
  std::smatch match;
  static const std::regex address("10\\.200\\.[0-9]+\\.");
  address_prefix_ =
      std::regex_search(recorded.text, match, address) ? match.str() : std::string("10.200.1.");
}

Actions::Reply Actions::Send(const std::string& method, const std::string& path, const Value& body,
                             const std::string& content_type) {
  http::Request request;
  request.method = method;
  request.target = path;
  request.headers.Add("Content-Type", content_type);
  request.headers.Add("Accept", "application/json");
  if (!body.is_null()) request.body = apis::json::Dump(body);
  const http::Response response = server_.Call(request);
  Reply reply;
  reply.status = response.status;
  auto parsed = apis::json::Parse(response.body);
  if (parsed.ok()) reply.body = *std::move(parsed);
  return reply;
}

absl::StatusOr<Value> Actions::OfCluster(const Reply& reply) const {
  if (reply.status < 300) return Value();
  return Value::MakeObject({{"httpStatus", reply.status},
                            {"reason", reply.body.At("reason")},
                            {"message", reply.body.At("message")}});
}

absl::Status Actions::OfChild(const Reply& reply, const std::string& what) const {
  if (reply.status < 300) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(what, ": ", reply.status, " ", reply.body.GetString("message")));
}

std::string Actions::ClusterPath() const {
  return absl::StrCat("/apis/ray.io/v1/namespaces/", recorded_.ns, "/rayclusters/",
                      recorded_.manifest.At("metadata").GetString("name"));
}

absl::Status Actions::Prepare() {
  const Value ns = Value::MakeObject({{"apiVersion", "v1"},
                                      {"kind", "Namespace"},
                                      {"metadata", Value::MakeObject({{"name", recorded_.ns}})}});
  if (recorded_.ns != "default") {
    HEKLA_RETURN_IF_ERROR(OfChild(Send("POST", "/api/v1/namespaces", ns), "namespace"));
  }
  for (const Value& object : recorded_.pre) HEKLA_RETURN_IF_ERROR(CreateObject(object));
  return absl::OkStatus();
}

absl::Status Actions::CreateObject(Value object) {
  const Kind* kind = FindKind(object.GetString("kind"));
  object["metadata"].Set("namespace", recorded_.ns);
  if (kind != nullptr && kind->api_version == object.GetString("apiVersion") &&
      !object.Has("status")) {
    return OfChild(Send("POST", CollectionPath(*kind, recorded_.ns), object), "create");
  }
  if (object.GetString("kind") == "PriorityClass") object["metadata"].Remove("namespace");
  const Value status = object.At("status");
  HEKLA_RETURN_IF_ERROR(server_.Create(object).status());
  if (status.is_null()) return absl::OkStatus();
  return server_.UpdateStatus(object).status();
}

std::vector<Value> Actions::Select(const Value& action) const {
  std::vector<std::pair<std::pair<std::string, int>, Value>> found;
  const auto list = server_.List("v1", "Pod", recorded_.ns);
  if (!list.ok()) return {};
  for (const Value& pod : *list) {
    const Value& labels = pod.At("metadata").At("labels");
    const absl::string_view role = action.GetString("role");
    const absl::string_view group = action.GetString("group");
    if (!role.empty() && labels.GetString("ray.io/node-type") != role) continue;
    if (!group.empty() && labels.GetString("ray.io/group") != group) continue;
    found.emplace_back(Names::Ordinal(names_.Name(NameOf(pod))), pod);
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Value> out;
  const Value& n = action.At("n");
  for (size_t i = 0; i < found.size(); ++i) {
    if (n.is_int() && static_cast<int64_t>(i) != n.as_int()) continue;
    out.push_back(std::move(found[i].second));
  }
  return out;
}

std::string Actions::AddressOf(const std::string& pod) {
  std::string& address = addresses_[pod];
  if (address.empty()) address = absl::StrCat(address_prefix_, addresses_.size());
  return address;
}

Value Actions::ConditionsOf(bool ready, const Value& action) const {
  Value out = Value::MakeArray();
  for (const char* type : {"PodScheduled", "Initialized", "ContainersReady", "Ready"}) {
    const bool about_containers =
        absl::string_view(type) == "ContainersReady" || absl::string_view(type) == "Ready";
    Value condition = Value::MakeObject({{"type", type},
                                         {"status", about_containers && !ready ? "False" : "True"},
                                         {"lastProbeTime", Value()},
                                         {"lastTransitionTime", now_()}});
    if (about_containers) {
      for (const char* key : {"reason", "message"}) {
        if (action.Has(key)) condition.Set(key, action.At(key));
      }
    }
    out.Append(std::move(condition));
  }
  return out;
}

Value Actions::ContainersOf(const Value& pod, bool ready, const Value& action) const {
  Value out = Value::MakeArray();
  const Value& containers = pod.At("spec").At("containers");
  for (size_t i = 0; containers.is_array() && i < containers.size(); ++i) {
    const Value& container = containers.as_array()[i];
    Value state = action.At("containers").At(container.GetString("name"));
    if (state.is_null()) {
      state = Value::MakeObject({{"running", Value::MakeObject({{"startedAt", Value(now_())}})}});
    }
    out.Append(Value::MakeObject({{"name", container.At("name")},
                                  {"state", std::move(state)},
                                  {"lastState", Value::MakeObject()},
                                  {"ready", ready},
                                  {"restartCount", 0},
                                  {"image", container.At("image")},
                                  {"imageID", ""},
                                  {"started", true}}));
  }
  return out;
}

absl::Status Actions::PatchPodStatus(const Value& pod, const Value& status) {
  const std::string path =
      absl::StrCat("/api/v1/namespaces/", recorded_.ns, "/pods/", NameOf(pod), "/status");
  return OfChild(Send("PATCH", path, Value::MakeObject({{"status", status}}), kMerge),
                 "pod status");
}

absl::Status Actions::PodsRunning(const Value& action) {
  for (const Value& pod : Select(action)) {
    if (apis::meta::ConditionIsTrue(pod, "Ready") || pod.At("metadata").Has("deletionTimestamp"))
      continue;
    const absl::string_view phase = pod.At("status").GetString("phase");
    if (phase == "Failed" || phase == "Succeeded") continue;
    HEKLA_RETURN_IF_ERROR(PatchPodStatus(
        pod, Value::MakeObject({{"phase", "Running"},
                                {"podIP", Value(AddressOf(NameOf(pod)))},
                                {"conditions", ConditionsOf(true, Value())},
                                {"containerStatuses", ContainersOf(pod, true, Value())}})));
  }
  return absl::OkStatus();
}

absl::Status Actions::PodStatus(const Value& action) {
  for (const Value& pod : Select(action)) {
    const bool running = action.GetString("phase") == "Running";
    const bool with_conditions = action.GetBool("cond", true);
    const bool ready = with_conditions && action.GetBool("ready", running);
    Value status = Value::MakeObject({{"phase", action.At("phase")},
                                      {"podIP", Value(AddressOf(NameOf(pod)))},
                                      {"containerStatuses", ContainersOf(pod, ready, action)}});
    status.Set("conditions", with_conditions ? ConditionsOf(ready, action) : Value());
    HEKLA_RETURN_IF_ERROR(PatchPodStatus(pod, status));
  }
  return absl::OkStatus();
}

absl::Status Actions::Bind(const Value& action) {
  for (const Value& pod : Select(action)) {
    const Value binding = Value::MakeObject(
        {{"apiVersion", "v1"},
         {"kind", "Binding"},
         {"metadata", Value::MakeObject({{"name", Value(NameOf(pod))}})},
         {"target",
          Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Node"}, {"name", "node-1"}})}});
    HEKLA_RETURN_IF_ERROR(OfChild(
        Send("POST",
             absl::StrCat("/api/v1/namespaces/", recorded_.ns, "/pods/", NameOf(pod), "/binding"),
             binding),
        "bind"));
  }
  return absl::OkStatus();
}

absl::Status Actions::DeletePods(const Value& action) {
  Value options = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}});
  if (action.GetBool("force")) options.Set("gracePeriodSeconds", 0);
  for (const Value& pod : Select(action)) {
    HEKLA_RETURN_IF_ERROR(OfChild(
        Send("DELETE", absl::StrCat("/api/v1/namespaces/", recorded_.ns, "/pods/", NameOf(pod)),
             options),
        "delete pod"));
  }
  return absl::OkStatus();
}

absl::Status Actions::PatchObject(const Value& action) {
  const Kind* kind = FindKind(action.GetString("kind"));
  if (kind == nullptr) return absl::InvalidArgumentError("unknown kind");
  const std::string name = names_.RealName(action.GetString("name"));
  std::string path = absl::StrCat(CollectionPath(*kind, recorded_.ns), "/", name);
  if (action.GetBool("status")) absl::StrAppend(&path, "/status");
  return OfChild(Send("PATCH", path, action.At("body"), kMerge), "patch object");
}

std::string Actions::Expand(std::string text) const {
  static const std::regex pattern("\\{\\{([^:}]*):([^:}]*):([0-9]+)\\}\\}");
  std::smatch match;
  while (std::regex_search(text, match, pattern)) {
    const Value action = Value::MakeObject(
        {{"role", match[1].str()}, {"group", match[2].str()}, {"n", std::stoi(match[3].str())}});
    const std::vector<Value> pods = Select(action);
    text = absl::StrReplaceAll(
        text, {{match.str(), pods.empty() ? std::string("no-such-pod") : NameOf(pods.front())}});
  }
  return text;
}

absl::StatusOr<Value> Actions::Do(const Value& action) {
  const absl::string_view what = action.GetString("do");
  if (what == "create") {
    Value manifest = recorded_.manifest;
    manifest["metadata"].Set("namespace", recorded_.ns);
    return OfCluster(Send("POST",
                          absl::StrCat("/apis/", manifest.GetString("apiVersion"), "/namespaces/",
                                       recorded_.ns, "/rayclusters"),
                          manifest));
  }
  if (what == "patch" || what == "jsonpatch") {
    HEKLA_ASSIGN_OR_RETURN(const Value body,
                           apis::json::Parse(Expand(apis::json::Dump(action.At("body")))));
    return OfCluster(Send("PATCH", ClusterPath(), body, what == "patch" ? kMerge : kJsonPatch));
  }
  if (what == "delete") return OfCluster(Send("DELETE", ClusterPath(), Value()));
  absl::Status status = absl::InvalidArgumentError(absl::StrCat("unknown action ", what));
  if (what == "pods-running") status = PodsRunning(action);
  if (what == "pod-status") status = PodStatus(action);
  if (what == "bind") status = Bind(action);
  if (what == "delete-pod") status = DeletePods(action);
  if (what == "create-object") status = CreateObject(action.At("object"));
  if (what == "patch-object") status = PatchObject(action);
  if (what == "delete-object") {
    const Kind* kind = FindKind(action.GetString("kind"));
    if (kind == nullptr) return absl::InvalidArgumentError("unknown kind");
    status = OfChild(Send("DELETE",
                          absl::StrCat(CollectionPath(*kind, recorded_.ns), "/",
                                       names_.RealName(action.GetString("name"))),
                          Value()),
                     "delete object");
  }
  HEKLA_RETURN_IF_ERROR(status);
  return Value();
}

}  // namespace hekla::ray_conformance
