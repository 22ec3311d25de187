#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

// OpenAPI documents, as far as kubectl and the official clients read them.
// Source: spec kube-machinery 3.3.
namespace hekla::apiserver::openapi {

// One served resource of a group version.
struct Resource {
  std::string group, version, kind, plural, singular;
  bool namespaced = true;
  bool has_status = false;
  bool has_scale = false;
  std::vector<std::string> verbs;  // of the main path
  // The structural schema of a custom resource's version; nullptr for built-in kinds, whose form
  // comes from the schema table.
  const apis::json::Value* crd_schema = nullptr;
};

struct IndexEntry {
  std::string path;  // "api/v1", "apis/batch.volcano.sh/v1alpha1"
  std::string hash;  // of the document, so that clients may cache it
};
// Answer of GET /openapi/v3.
apis::json::Value V3Index(std::span<const IndexEntry> entries);

// Answer of GET /openapi/v3/<path>: one document with paths, parameters, and all schemas that they
// reach. PATCH offers merge patch, JSON patch and apply, and strategic merge not at all: kubectl
// then uses its own Go types for built-in kinds, which gives the better patches.
apis::json::Value V3Document(std::span<const Resource> resources);

// Answer of GET /openapi/v2 as JSON: definitions with group-version-kinds and the paths, as older
// clients want it. kubectl asks for the protobuf form (V2Protobuf), with content type
// kV2ProtobufContentType.
apis::json::Value V2Document(std::span<const Resource> resources);
std::string V2Protobuf(std::span<const Resource> resources);
inline constexpr absl::string_view kV2ProtobufContentType =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

// Stable upper-case hexadecimal fingerprint of a document's text, for IndexEntry::hash and ETags.
std::string Fingerprint(absl::string_view text);

}  // namespace hekla::apiserver::openapi
