#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/kube/resource.h"
#include "pkg/kube/rest_client.h"

namespace hekla::kube {

// What the server serves.
struct ApiCatalog {
  struct Entry {
    Resource resource;
    std::vector<std::string> verbs;
  };
  std::vector<Entry> entries;  // without subresources
  // Groups whose lists could not be read (an aggregated API that is down): "group/version".
  std::vector<std::string> unreadable;

  // nullptr where the server has no such resource.
  const Entry* Find(absl::string_view group, absl::string_view version,
                    absl::string_view plural) const;
  bool Has(const Resource& resource) const {
    return Find(resource.group, resource.version, resource.plural) != nullptr;
  }
  // The first of `versions` that is served; "" for none.
  std::string PreferredVersion(absl::string_view group, absl::string_view plural,
                               const std::vector<std::string>& versions) const;
};

// Asks for the aggregated document first (/api and /apis with the v2 media type), and group by
// group where the server does not have it. Errors: those of the first request; a group that cannot
// be read is named in `unreadable`.
void Discover(RestClient* client, std::function<void(absl::StatusOr<ApiCatalog>)> done);

// Entries of one aggregated discovery document (APIGroupDiscoveryList); false where it is none.
bool ReadAggregatedDiscovery(const apis::json::Value& document, ApiCatalog& catalog);
// Entries of one APIResourceList.
void ReadResourceList(const apis::json::Value& list, ApiCatalog& catalog);

struct ServerVersion {
  int major = 0;
  int minor = 0;
  std::string git_version;  // "v1.36.1"
};
// GET /version. "36+" counts as 36.
void GetServerVersion(RestClient* client, std::function<void(absl::StatusOr<ServerVersion>)> done);

}  // namespace hekla::kube
