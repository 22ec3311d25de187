#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/reader.h"
#include "pkg/apis/meta/string_map.h"
#include "pkg/apis/meta/time.h"

namespace hekla::apis::meta {

struct TypeMeta {
  std::string api_version;
  std::string kind;
};

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
  bool block_owner_deletion = false;
};

struct ObjectMeta {
  std::string name;
  std::string ns;
  std::string uid;
  std::string resource_version;
  int64_t generation = 0;
  absl::Time creation_timestamp = NoTime();
  absl::Time deletion_timestamp = NoTime();
  StringMap labels;
  StringMap annotations;
  std::vector<OwnerReference> owner_references;

  bool terminating() const { return IsSet(deletion_timestamp); }
  // The owner marked as controller; nullptr where there is none.
  const OwnerReference* ControllerRef() const;
  // `namespace/name`, or the name alone for cluster-wide objects.
  std::string Key() const;
};

std::string ObjectKey(absl::string_view ns, absl::string_view name);

// What every condition list of the API has in common.
struct Condition {
  std::string type;
  std::string status;  // True, False, Unknown
  std::string reason;
  std::string message;
  absl::Time last_transition_time = NoTime();
};

void ReadTypeMeta(const Reader& object, TypeMeta& out);
// Reads the member `metadata` of an object.
void ReadObjectMeta(const Reader& object, ObjectMeta& out);
// Reads a metadata object itself.
void ReadObjectMetaFields(const Reader& metadata, ObjectMeta& out);
void ReadOwnerReferences(const Reader& metadata, std::vector<OwnerReference>& out);
void ReadConditions(const Reader& status, absl::string_view key, std::vector<Condition>& out);

// Writes what is set into `metadata` of `object`, keeping all members this struct does not know.
// Labels, annotations and owners replace the old ones; empty ones are removed.
void WriteObjectMeta(const ObjectMeta& meta, json::Value& object);
json::Value EncodeOwnerReference(const OwnerReference& owner);
json::Value EncodeResources(const ResourceList& list);
json::Value EncodeStringMap(const StringMap& map);
json::Value EncodeStrings(const std::vector<std::string>& list);
// Sets a member, or removes it where the text is empty.
void SetOrRemove(json::Value& object, absl::string_view key, absl::string_view text);

}  // namespace hekla::apis::meta
