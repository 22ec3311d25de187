#include "pkg/apiserver/discovery.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/apiserver/openapi/openapi.h"
#include "pkg/apiserver/status/api_status.h"

namespace hekla::apiserver {
namespace {

using apis::json::Value;

Value StringList(const std::vector<std::string>& items) {
  Value out = Value::MakeArray();
  for (const std::string& item : items) out.Append(Value(item));
  return out;
}

std::string GroupVersion(absl::string_view group, absl::string_view version) {
  return group.empty() ? std::string(version) : absl::StrCat(group, "/", version);
}

Value KindOf(absl::string_view group, absl::string_view version, absl::string_view kind) {
  return Value::MakeObject({{"group", group}, {"version", version}, {"kind", kind}});
}

Value ResourceValue(const Resource& r) {
  Value out = Value::MakeObject({{"name", r.plural},
                                 {"singularName", r.singular},
                                 {"namespaced", r.namespaced},
                                 {"kind", r.kind},
                                 {"verbs", StringList(r.verbs)}});
  if (!r.short_names.empty()) out.Set("shortNames", StringList(r.short_names));
  if (!r.categories.empty()) out.Set("categories", StringList(r.categories));
  if (!r.is_action) out.Set("storageVersionHash", r.storage_hash);
  return out;
}

Value SubresourceValue(const Resource& r, const Subresource& s) {
  Value out = Value::MakeObject({{"name", absl::StrCat(r.plural, "/", s.name)},
                                 {"singularName", ""},
                                 {"namespaced", r.namespaced}});
  if (s.group != r.group || s.version != r.version) {
    if (!s.group.empty()) out.Set("group", s.group);
    out.Set("version", s.version);
  }
  out.Set("kind", s.kind);
  out.Set("verbs", StringList(s.verbs));
  return out;
}

Value AggregatedResource(const Resource& r) {
  Value out = Value::MakeObject({{"resource", r.plural},
                                 {"responseKind", KindOf(r.group, r.version, r.kind)},
                                 {"scope", r.namespaced ? "Namespaced" : "Cluster"},
                                 {"singularResource", r.singular},
                                 {"verbs", StringList(r.verbs)}});
  if (!r.short_names.empty()) out.Set("shortNames", StringList(r.short_names));
  if (!r.categories.empty()) out.Set("categories", StringList(r.categories));
  for (const Subresource& s : r.subresources) {
    out["subresources"].Append(
        Value::MakeObject({{"subresource", s.name},
                           {"responseKind", KindOf(s.group, s.version, s.kind)},
                           {"verbs", StringList(s.verbs)}}));
  }
  return out;
}

openapi::Resource OpenApiResource(const Resource& r) {
  openapi::Resource out;
  out.group = r.group;
  out.version = r.version;
  out.kind = r.kind;
  out.plural = r.plural;
  out.singular = r.singular;
  out.namespaced = r.namespaced;
  out.has_status = r.has_status;
  out.has_scale = r.has_scale;
  out.verbs = r.verbs;
  if (r.is_custom()) out.crd_schema = &r.custom->openapi();
  return out;
}

}  // namespace

Answer NoSuchPath() {
  Answer out;
  out.status = 404;
  out.content_type = "text/plain; charset=utf-8";
  out.body = "404 page not found\n";
  return out;
}

void Discovery::ForgetIfStale() {
  const uint64_t now = core_.registry.generation();
  if (now == generation_) return;
  generation_ = now;
  documents_.clear();
}

Value Discovery::AggregatedGroup(absl::string_view group) const {
  Value out = Value::MakeObject(
      {{"metadata", group.empty() ? Value::MakeObject() : Value::MakeObject({{"name", group}})}});
  for (const std::string& version : core_.registry.Versions(group)) {
    Value item = Value::MakeObject({{"version", version}, {"resources", Value::MakeArray()}});
    for (const ResourcePtr& r : core_.registry.Resources(group, version)) {
      item["resources"].Append(AggregatedResource(*r));
    }
    item.Set("freshness", "Current");
    out["versions"].Append(std::move(item));
  }
  return out;
}

Answer Discovery::Aggregated(bool core_group, const Call& call) {
  const std::string key = absl::StrCat(core_group ? "core " : "groups ", call.accept.version);
  std::string body;
  {
    absl::MutexLock lock(&mutex_);
    ForgetIfStale();
    std::string& document = documents_[key];
    if (document.empty()) {
      Value list = Value::MakeObject(
          {{"kind", "APIGroupDiscoveryList"},
           {"apiVersion", absl::StrCat("apidiscovery.k8s.io/", call.accept.version)},
           {"metadata", Value::MakeObject()},
           {"items", Value::MakeArray()}});
      for (const std::string& group : core_.registry.Groups()) {
        if (group.empty() == core_group) list["items"].Append(AggregatedGroup(group));
      }
      document = apis::json::Dump(list);
    }
    body = document;
  }
  Answer out;
  out.content_type = absl::StrCat("application/json;g=apidiscovery.k8s.io;v=", call.accept.version,
                                  ";as=APIGroupDiscoveryList");
  const std::string tag =
      absl::StrCat("\"", core_.options.seed, ".", core_.registry.generation(), "\"");
  out.headers.emplace_back("ETag", tag);
  out.headers.emplace_back("Vary", "Accept");
  if (call.request->headers.Get("If-None-Match") == tag) {
    out.status = 304;
  } else {
    out.body = std::move(body);
  }
  return out;
}

Answer Discovery::Api(const Call& call) {
  if (call.accept.as == Accept::As::kDiscovery) return Aggregated(true, call);
  const absl::string_view host = call.request->headers.Get("Host");
  Value address = Value::MakeObject(
      {{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", host.empty() ? "127.0.0.1" : host}});
  return ValueAnswer(
      200,
      Value::MakeObject({{"kind", "APIVersions"},
                         {"versions", Value::MakeArray({Value("v1")})},
                         {"serverAddressByClientCIDRs", Value::MakeArray({std::move(address)})}}),
      call);
}

Value Discovery::GroupValue(absl::string_view group) const {
  Value versions = Value::MakeArray();
  for (const std::string& version : core_.registry.Versions(group)) {
    versions.Append(
        Value::MakeObject({{"groupVersion", GroupVersion(group, version)}, {"version", version}}));
  }
  Value preferred = versions.as_array().empty() ? Value() : versions.as_array()[0];
  return Value::MakeObject({{"name", group},
                            {"versions", std::move(versions)},
                            {"preferredVersion", std::move(preferred)}});
}

Answer Discovery::Apis(const Call& call) {
  if (call.accept.as == Accept::As::kDiscovery) return Aggregated(false, call);
  Value list = Value::MakeObject(
      {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", Value::MakeArray()}});
  for (const std::string& group : core_.registry.Groups()) {
    if (!group.empty()) list["groups"].Append(GroupValue(group));
  }
  return ValueAnswer(200, list, call);
}

Answer Discovery::Group(absl::string_view group, const Call& call) {
  if (group.empty() || !core_.registry.HasGroup(group)) return NoSuchPath();
  Value out = Value::MakeObject({{"kind", "APIGroup"}, {"apiVersion", "v1"}});
  Value value = GroupValue(group);
  for (apis::json::Member& m : value.as_object()) out.Set(m.key, std::move(m.value));
  return ValueAnswer(200, out, call);
}

Answer Discovery::ResourceList(absl::string_view group, absl::string_view version,
                               const Call& call) {
  if (!core_.registry.HasGroupVersion(group, version)) return NoSuchPath();
  Value list = Value::MakeObject({{"kind", "APIResourceList"}});
  if (!group.empty()) list.Set("apiVersion", "v1");
  list.Set("groupVersion", GroupVersion(group, version));
  list.Set("resources", Value::MakeArray());
  for (const ResourcePtr& r : core_.registry.Resources(group, version)) {
    list["resources"].Append(ResourceValue(*r));
    for (const Subresource& s : r->subresources) {
      list["resources"].Append(SubresourceValue(*r, s));
    }
  }
  return ValueAnswer(200, list, call);
}

Answer Discovery::Version(const Call& call) {
  const VersionInfo& v = core_.options.version;
  return ValueAnswer(200,
                     Value::MakeObject({{"major", v.major},
                                        {"minor", v.minor},
                                        {"emulationMajor", v.major},
                                        {"emulationMinor", v.minor},
                                        {"gitVersion", v.git_version},
                                        {"gitCommit", "0000000000000000000000000000000000000000"},
                                        {"gitTreeState", "clean"},
                                        {"buildDate", "1970-01-01T00:00:00Z"},
                                        {"goVersion", "none"},
                                        {"compiler", "g++"},
                                        {"platform", "linux/amd64"}}),
                     call);
}

Answer Discovery::RootPaths(const Call& call) {
  Value paths = Value::MakeArray({Value("/api"), Value("/api/v1"), Value("/apis")});
  for (const std::string& group : core_.registry.Groups()) {
    if (group.empty()) continue;
    paths.Append(Value(absl::StrCat("/apis/", group)));
    for (const std::string& version : core_.registry.Versions(group)) {
      paths.Append(Value(absl::StrCat("/apis/", group, "/", version)));
    }
  }
  for (const char* path :
       {"/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version"}) {
    paths.Append(Value(path));
  }
  return ValueAnswer(200, Value::MakeObject({{"paths", std::move(paths)}}), call);
}

std::string Discovery::OpenApiDocument(const std::string& path) {
  absl::MutexLock lock(&mutex_);
  ForgetIfStale();
  const std::string key = absl::StrCat("openapi ", path);
  if (const auto it = documents_.find(key); it != documents_.end()) return it->second;
  std::vector<ResourcePtr> held;
  for (const std::string& group : core_.registry.Groups()) {
    for (const std::string& version : core_.registry.Versions(group)) {
      const std::string here = group.empty() ? absl::StrCat("api/", version)
                                             : absl::StrCat("apis/", group, "/", version);
      if (here != path && !absl::StartsWith(path, "v2")) continue;
      for (ResourcePtr& r : core_.registry.Resources(group, version)) held.push_back(std::move(r));
    }
  }
  if (held.empty()) return "";
  std::vector<openapi::Resource> resources;
  for (const ResourcePtr& r : held) resources.push_back(OpenApiResource(*r));
  std::string text = path == "v2 protobuf" ? openapi::V2Protobuf(resources)
                     : path == "v2"        ? apis::json::Dump(openapi::V2Document(resources))
                                           : apis::json::Dump(openapi::V3Document(resources));
  documents_[key] = text;
  return text;
}

Answer Discovery::OpenApi(const Call& call) {
  Answer out;
  const std::vector<std::string>& segments = call.segments;
  if (segments.size() == 2 && segments[1] == "v2") {
    const bool protobuf =
        absl::StrContains(call.request->headers.Get("Accept"), "proto-openapi.spec.v2");
    out.body = OpenApiDocument(protobuf ? "v2 protobuf" : "v2");
    if (protobuf) out.content_type = std::string(openapi::kV2ProtobufContentType);
    return out;
  }
  if (segments.size() == 2 && segments[1] == "v3") {
    std::vector<openapi::IndexEntry> entries;
    for (const std::string& group : core_.registry.Groups()) {
      for (const std::string& version : core_.registry.Versions(group)) {
        std::string path = group.empty() ? absl::StrCat("api/", version)
                                         : absl::StrCat("apis/", group, "/", version);
        std::string hash = openapi::Fingerprint(OpenApiDocument(path));
        entries.push_back({std::move(path), std::move(hash)});
      }
    }
    return ValueAnswer(200, openapi::V3Index(entries), call);
  }
  if (segments.size() < 4 || segments[1] != "v3") return NoSuchPath();
  out.body = OpenApiDocument(absl::StrJoin(segments.begin() + 2, segments.end(), "/"));
  if (out.body.empty()) return NoSuchPath();
  return out;
}

}  // namespace hekla::apiserver
