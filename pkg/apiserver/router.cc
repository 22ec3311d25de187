#include "pkg/apiserver/router.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "pkg/apiserver/reviews.h"
#include "pkg/apiserver/status/api_status.h"

namespace hekla::apiserver {
namespace {

// Sub-resources that need something that runs.
bool NeedsRealNode(const Resource& resource, absl::string_view subresource) {
  if (!resource.group.empty()) return false;
  const bool pods = resource.plural == "pods";
  if (subresource == "proxy") {
    return pods || resource.plural == "services" || resource.plural == "nodes";
  }
  return pods && (subresource == "exec" || subresource == "attach" || subresource == "portforward");
}

absl::Status HollowRefusal(absl::string_view subresource) {
  return ApiError(FailureStatus(
      501, "NotImplemented",
      absl::StrCat(subresource, " is not possible: pods of this server run on hollow nodes")));
}

bool Allows(const Resource& resource, absl::string_view verb) {
  return std::find(resource.verbs.begin(), resource.verbs.end(), verb) != resource.verbs.end();
}

Answer PlainText(absl::string_view text) {
  Answer out;
  out.content_type = "text/plain; charset=utf-8";
  out.body = std::string(text);
  return out;
}

// The checks of health that answer one by one.
bool IsCheck(absl::string_view name) { return name == "ping" || name == "etcd" || name == "log"; }

bool IsHealthPath(absl::string_view first) {
  return first == "healthz" || first == "livez" || first == "readyz";
}

}  // namespace

std::optional<Answer> Router::Route(Call& call, http::Responder& responder) {
  std::optional<Identity> caller = authorizer_.Authenticate(
      call.request->headers.Get("Authorization"), call.certificate_subject);
  if (!caller.has_value()) return ErrorAnswer(Unauthorized(), call);
  call.caller = *std::move(caller);
  call.segments = absl::StrSplit(call.target.path, '/', absl::SkipEmpty());
  const std::vector<std::string>& s = call.segments;
  const absl::string_view header = call.request->headers.Get("Accept");
  const bool group_lists = s.size() == 1 && (s[0] == "api" || s[0] == "apis");
  const std::optional<Accept> accept = NegotiateAnswer(header, group_lists);
  const bool refused = !accept.has_value();
  const bool openapi = !s.empty() && s[0] == "openapi";
  const bool health = !s.empty() && IsHealthPath(s[0]);
  if (!refused) call.accept = *accept;
  call.accept.pretty = call.target.Has("pretty") &&
                       ParseBool(call.Query("pretty")).value_or(call.Query("pretty").empty());
  if (s.empty()) return discovery_.RootPaths(call);
  if (health) return s.size() == 1 || IsCheck(s[1]) ? PlainText("ok") : NoSuchPath();
  if (openapi) return discovery_.OpenApi(call);
  const bool reads = call.request->method == "GET" || call.request->method == "HEAD";
  if (s[0] == "version" && s.size() == 1) {
    return reads ? discovery_.Version(call) : ErrorAnswer(MethodNotAllowed(), call);
  }
  if (refused && s[0] == "api" && s.size() == 1) {
    return ErrorAnswer(RefuseForms(header, false, false), call);
  }
  if (refused && s[0] == "apis" && s.size() <= 3) {
    return ErrorAnswer(RefuseForms(header, true, false), call);
  }
  size_t first = 0;
  std::string group, version;
  if (s[0] == "api") {
    if (s.size() == 1) return reads ? discovery_.Api(call) : ErrorAnswer(MethodNotAllowed(), call);
    version = s[1];
    first = 2;
  } else if (s[0] == "apis") {
    if (s.size() == 1) return discovery_.Apis(call);
    if (s.size() == 2) return discovery_.Group(s[1], call);
    group = s[1];
    version = s[2];
    first = 3;
  } else {
    return NoSuchPath();
  }
  if (!core_.registry.HasGroupVersion(group, version)) {
    // Groups of its own the real server knows without their versions.
    const bool known = core_.registry.HasBuiltinGroup(group);
    return known ? ErrorAnswer(UnknownResource(), call) : NoSuchPath();
  }
  const auto custom = [&] { return core_.registry.IsCustomGroupVersion(group, version); };
  if (s.size() == first) {
    if (!reads && !custom()) return ErrorAnswer(MethodNotAllowed(), call);
    return discovery_.ResourceList(group, version, call);
  }
  const absl::Status resolved = Resolve(call, group, version, first);
  if (!resolved.ok()) {
    return call.resource == nullptr && custom() ? NoSuchPath() : ErrorAnswer(resolved, call);
  }
  if (refused) {
    const bool streams = call.name.empty() && reads;
    return ErrorAnswer(RefuseForms(header, call.resource->is_custom(), streams), call);
  }
  return Dispatch(call, responder);
}

absl::Status Router::Resolve(Call& call, absl::string_view group, absl::string_view version,
                             size_t first) {
  std::vector<std::string> rest(call.segments.begin() + static_cast<std::ptrdiff_t>(first),
                                call.segments.end());
  const bool own_path = rest.size() == 3 && (rest[2] == "status" || rest[2] == "finalize");
  bool in_namespace = false;
  if (rest[0] == "namespaces" && rest.size() > 2 && !(group.empty() && own_path)) {
    call.ns = rest[1];
    in_namespace = true;
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  const ResourcePtr resource = core_.registry.Find(group, version, rest[0]);
  if (resource == nullptr) return UnknownResource();
  if (in_namespace != resource->namespaced && (in_namespace || rest.size() > 1)) {
    return UnknownResource();
  }
  if (rest.size() > 1) call.name = rest[1];
  if (rest.size() > 2) call.subresource = rest[2];
  if (rest.size() > 3 && !NeedsRealNode(*resource, call.subresource)) return UnknownResource();
  call.resource = resource;
  return absl::OkStatus();
}

absl::Status Router::Authorize(const Call& call) {
  if (!core_.options.enforce_rbac || call.resource->is_action) return absl::OkStatus();
  const std::string& method = call.request->method;
  Access what;
  what.group = call.resource->group;
  what.resource = call.subresource.empty()
                      ? call.resource->plural
                      : absl::StrCat(call.resource->plural, "/", call.subresource);
  what.ns = call.resource->plural == "namespaces" ? call.name : call.ns;
  what.name = call.name;
  const bool all = call.name.empty();
  if (method == "GET") {
    what.verb = !all ? "get" : Resources::IsWatch(call) ? "watch" : "list";
  } else if (method == "POST") {
    what.verb = "create";
  } else if (method == "PUT") {
    what.verb = "update";
  } else if (method == "PATCH") {
    what.verb = "patch";
  } else {
    what.verb = all ? "deletecollection" : "delete";
  }
  return authorizer_.Check(call.caller, what, call.resource->plural);
}

std::optional<Answer> Router::Dispatch(Call& call, http::Responder& responder) {
  const std::string& method = call.request->method;
  if (const absl::Status status = Authorize(call); !status.ok()) return ErrorAnswer(status, call);
  if (call.subresource.empty() && method == "GET" && Resources::IsWatch(call) &&
      Allows(*call.resource, "watch")) {
    const absl::Status status = resources_.Watch(call, responder);
    if (status.ok()) return std::nullopt;
    return ErrorAnswer(status, call);
  }
  absl::StatusOr<Answer> answer = call.name.empty()          ? OnCollection(call)
                                  : call.subresource.empty() ? OnObject(call)
                                                             : OnSubresource(call);
  return answer.ok() ? *std::move(answer) : ErrorAnswer(answer.status(), call);
}

absl::StatusOr<Answer> Router::OnCollection(Call& call) {
  const Resource& resource = *call.resource;
  const std::string& method = call.request->method;
  const bool everywhere = resource.namespaced && call.ns.empty();
  if (method == "GET" && Allows(resource, "list")) return resources_.List(call);
  if (everywhere) {
    return resource.is_custom() ? NoSuchPath() : absl::StatusOr<Answer>(MethodNotAllowed());
  }
  if (resource.is_custom() && (method == "PUT" || method == "PATCH")) {
    return BadRequest("name must be provided");
  }
  if (method == "DELETE" && resource.group.empty() && resource.plural == "namespaces") {
    return MethodNotAllowed();
  }
  if (method == "POST" && Allows(resource, "create")) {
    if (resource.is_action && resource.plural == "bindings") {
      call.resource = core_.registry.Find("", "v1", "pods");
      return resources_.Bind(call);
    }
    return resource.is_action ? AnswerReview(authorizer_, call) : resources_.Create(call);
  }
  if (method == "DELETE" && Allows(resource, "deletecollection")) {
    return resources_.DeleteCollection(call);
  }
  return MethodNotAllowed();
}

absl::StatusOr<Answer> Router::OnObject(Call& call) {
  const std::string& method = call.request->method;
  if (call.resource->is_action) return UnknownResource();
  if (method == "GET") return resources_.Get(call);
  if (method == "PUT") return resources_.Put(call);
  if (method == "PATCH") return resources_.Patch(call);
  if (method == "DELETE") return resources_.Delete(call);
  return MethodNotAllowed();
}

absl::StatusOr<Answer> Router::OnSubresource(Call& call) {
  const Resource& resource = *call.resource;
  const std::string& method = call.request->method;
  const std::string& name = call.subresource;
  if (NeedsRealNode(resource, name)) return HollowRefusal(name);
  const Subresource* sub = resource.FindSubresource(name);
  if (sub == nullptr) {
    if (resource.is_custom()) return NotFound(resource.group_resource(), call.name);
    return UnknownResource();
  }
  if (name == "status" || name == "resize") {
    if (method == "GET") return resources_.Get(call);
    if (method == "PUT") return resources_.Put(call);
    if (method == "PATCH") return resources_.Patch(call);
  } else if (name == "scale") {
    if (method == "GET") return resources_.GetScale(call);
    if (method == "PUT") return resources_.PutScale(call);
    if (method == "PATCH") return resources_.PatchScale(call);
  } else if (name == "binding") {
    if (method == "POST") return resources_.Bind(call);
  } else if (name == "eviction") {
    if (method == "POST") return resources_.Evict(call);
  } else if (name == "log") {
    if (method == "GET") return resources_.PodLog(call);
  } else if (name == "finalize") {
    if (method == "PUT") return resources_.FinalizeNamespace(call);
  } else if (name == "token") {
    if (method == "POST") return AnswerTokenRequest(core_, authorizer_, call);
  }
  if (resource.is_custom() && (method == "POST" || method == "DELETE")) {
    return NotSupportedVerb(resource.group_resource(), method == "POST" ? "create" : "delete");
  }
  return MethodNotAllowed();
}

}  // namespace hekla::apiserver
