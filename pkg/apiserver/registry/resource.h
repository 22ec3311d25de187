#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apiserver/crd/custom_kind.h"
#include "pkg/apiserver/kinds/strategy.h"
#include "pkg/apiserver/schema/schema.h"
#include "pkg/apiserver/status/api_status.h"
#include "pkg/apiserver/storage/store.h"
#include "pkg/apiserver/validation/names.h"

namespace hekla::apiserver {

// A sub-resource as discovery lists it.
struct Subresource {
  std::string name;  // "status", "scale", "binding"
  std::string group, version, kind;
  std::vector<std::string> verbs;
};

// How this version of a kind differs from the stored one.
enum class View : uint8_t {
  kStored,      // not at all
  kApiVersion,  // by its apiVersion only
  kEventsV1,    // events.k8s.io/v1 over stored core events
};

// One served resource: a kind in one version.
// Threads: immutable once it is registered.
struct Resource {
  std::string group, version, plural, singular, kind, list_kind;
  bool namespaced = true;
  std::vector<std::string> short_names, categories, verbs;
  std::vector<Subresource> subresources;
  bool has_status = false;
  bool has_scale = false;
  bool has_generation = false;
  bool create_on_update = false;
  bool unconditional_update = true;
  bool returns_deleted = false;
  bool graceful = false;   // deleted in two steps: pods
  bool is_action = false;  // reviews, bindings: only POST, nothing is stored
  validation::NameRule name_rule = validation::NameRule::kDnsSubdomain;
  View view = View::kStored;
  std::string stored_api_version;
  std::string storage_hash;
  storage::TablePtr table;
  const schema::Message* message = nullptr;              // built-in kinds
  std::shared_ptr<const crd::CustomKind> custom;         // custom resources
  std::shared_ptr<const crd::CustomKind> stored_custom;  // their stored version; null if this is it
  const kinds::Strategy* strategy = nullptr;             // never null once registered

  bool is_custom() const { return custom != nullptr; }
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  GroupResource group_resource() const { return {group, plural}; }
  GroupKind group_kind() const { return {group, kind}; }
  const Subresource* FindSubresource(absl::string_view name) const;
};
using ResourcePtr = std::shared_ptr<const Resource>;

// First 8 bytes of SHA-256 over "group/version/Kind", base64.
std::string StorageVersionHash(absl::string_view group, absl::string_view version,
                               absl::string_view kind);

}  // namespace hekla::apiserver
