#include "pkg/kube/discovery.h"

#include <algorithm>
#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "pkg/kube/api_status.h"

namespace hekla::kube {
namespace {

using apis::json::Value;

constexpr absl::string_view kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
constexpr absl::Duration kTimeout = absl::Seconds(32);

std::vector<std::string> Strings(const Value& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Value& item : list.as_array()) {
    if (item.is_string()) out.push_back(item.as_string());
  }
  return out;
}

void AddEntry(ApiCatalog& catalog, Resource resource, const Value& verbs) {
  catalog.entries.push_back({std::move(resource), Strings(verbs)});
}

RestRequest GetRequest(std::string path, absl::string_view accept) {
  RestRequest request;
  request.method = "GET";
  request.path = std::move(path);
  request.accept = std::string(accept);
  request.timeout = kTimeout;
  return request;
}

// One discovery: /api, /apis, then every group version that was not aggregated.
struct Walk : std::enable_shared_from_this<Walk> {
  RestClient* client = nullptr;
  std::function<void(absl::StatusOr<ApiCatalog>)> done;
  ApiCatalog catalog;
  std::vector<std::string> versions;  // "v1", "batch/v1" still to be read
  size_t next = 0;

  void Root(const std::string& path) {
    client->Send(GetRequest(path, kAggregated),
                 [self = shared_from_this(), path](absl::StatusOr<http::Response> answer) {
                   self->OnRoot(path, std::move(answer));
                 });
  }

  void OnRoot(const std::string& path, absl::StatusOr<http::Response> answer) {
    const bool core = path == "/api";
    if (!answer.ok()) {
      // A server without one of the two roots is odd but possible.
      if (!kube::IsNotFound(answer.status())) return done(answer.status());
    } else {
      auto document = apis::json::Parse(answer->body);
      if (!document.ok()) return done(document.status());
      if (!ReadAggregatedDiscovery(*document, catalog)) CollectVersions(*document, core);
    }
    if (core) return Root("/apis");
    NextVersion();
  }

  void CollectVersions(const Value& document, bool core) {
    if (core) {
      for (std::string& version : Strings(document.At("versions"))) versions.push_back(version);
      return;
    }
    if (!document.At("groups").is_array()) return;
    for (const Value& group : document.At("groups").as_array()) {
      if (!group.At("versions").is_array()) continue;
      for (const Value& version : group.At("versions").as_array()) {
        versions.emplace_back(version.GetString("groupVersion"));
      }
    }
  }

  void NextVersion() {
    if (next == versions.size()) return done(std::move(catalog));
    const std::string version = versions[next++];
    const bool core = version.find('/') == std::string::npos;
    client->Send(GetRequest(absl::StrCat(core ? "/api/" : "/apis/", version), "application/json"),
                 [self = shared_from_this(), version](absl::StatusOr<http::Response> answer) {
                   absl::StatusOr<Value> list =
                       answer.ok() ? apis::json::Parse(answer->body) : answer.status();
                   if (list.ok()) {
                     ReadResourceList(*list, self->catalog);
                   } else {
                     self->catalog.unreadable.push_back(version);
                   }
                   self->NextVersion();
                 });
  }
};

int LeadingNumber(absl::string_view text) {
  const size_t end = text.find_first_not_of("0123456789");
  int number = 0;
  return absl::SimpleAtoi(text.substr(0, end), &number) ? number : 0;
}

}  // namespace

const ApiCatalog::Entry* ApiCatalog::Find(absl::string_view group, absl::string_view version,
                                          absl::string_view plural) const {
  for (const Entry& entry : entries) {
    const Resource& r = entry.resource;
    if (r.group == group && r.version == version && r.plural == plural) return &entry;
  }
  return nullptr;
}

std::string ApiCatalog::PreferredVersion(absl::string_view group, absl::string_view plural,
                                         const std::vector<std::string>& versions) const {
  for (const std::string& version : versions) {
    if (Find(group, version, plural) != nullptr) return version;
  }
  return "";
}

bool ReadAggregatedDiscovery(const Value& document, ApiCatalog& catalog) {
  if (document.GetString("kind") != "APIGroupDiscoveryList") return false;
  if (!document.At("items").is_array()) return true;
  for (const Value& group : document.At("items").as_array()) {
    const absl::string_view name = group.At("metadata").GetString("name");
    if (!group.At("versions").is_array()) continue;
    for (const Value& version : group.At("versions").as_array()) {
      const absl::string_view v = version.GetString("version");
      if (version.GetString("freshness") == "Stale") {
        catalog.unreadable.push_back(absl::StrCat(name, "/", v));
      }
      if (!version.At("resources").is_array()) continue;
      for (const Value& r : version.At("resources").as_array()) {
        AddEntry(catalog,
                 Resource{std::string(name), std::string(v), std::string(r.GetString("resource")),
                          std::string(r.At("responseKind").GetString("kind")),
                          r.GetString("scope") == "Namespaced"},
                 r.At("verbs"));
      }
    }
  }
  return true;
}

void ReadResourceList(const Value& list, ApiCatalog& catalog) {
  const std::string group_version(list.GetString("groupVersion"));
  std::string group, version = group_version;
  if (const size_t slash = group_version.find('/'); slash != std::string::npos) {
    group = group_version.substr(0, slash);
    version = group_version.substr(slash + 1);
  }
  if (!list.At("resources").is_array()) return;
  for (const Value& r : list.At("resources").as_array()) {
    const absl::string_view plural = r.GetString("name");
    if (plural.find('/') != plural.npos) continue;  // a subresource
    AddEntry(catalog,
             Resource{group, version, std::string(plural), std::string(r.GetString("kind")),
                      r.GetBool("namespaced")},
             r.At("verbs"));
  }
}

void Discover(RestClient* client, std::function<void(absl::StatusOr<ApiCatalog>)> done) {
  auto walk = std::make_shared<Walk>();
  walk->client = client;
  walk->done = std::move(done);
  walk->Root("/api");
}

void GetServerVersion(RestClient* client, std::function<void(absl::StatusOr<ServerVersion>)> done) {
  client->Send(GetRequest("/version", "application/json"),
               [done = std::move(done)](absl::StatusOr<http::Response> answer) {
                 if (!answer.ok()) return done(answer.status());
                 auto body = apis::json::Parse(answer->body);
                 if (!body.ok()) return done(body.status());
                 ServerVersion version;
                 version.major = LeadingNumber(body->GetString("major"));
                 version.minor = LeadingNumber(body->GetString("minor"));
                 version.git_version = std::string(body->GetString("gitVersion"));
                 done(version);
               });
}

}  // namespace hekla::kube
