#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/apply/field_set.h"

namespace hekla::apiserver::apply {

// One entry of `metadata.managedFields`.
struct Entry {
  std::string manager;
  bool applied = false;  // operation Apply; else Update
  std::string api_version;
  std::string subresource;
  std::string time;  // RFC 3339, "" = unknown
  FieldSet fields;

  // Appliers are told apart by name and sub-resource, updaters also by version.
  bool SameManagerAs(const Entry& other) const;
  // `"one"`, `"one" with subresource "status"`, `"two" using v1`.
  std::string Printed() const;
};

std::vector<Entry> ReadManagedFields(const apis::json::Value& object);
// Whether the client asks for an empty record: `[]` or `[{}]`.
bool IsReset(const apis::json::Value& object);
// Sets or, without entries, removes `metadata.managedFields`; appliers come first, then by time and
// name. More than ten updaters are merged into `ancient-changes`, the oldest first.
void WriteManagedFields(std::vector<Entry> entries, apis::json::Value& object);

std::string TimeText(absl::Time time);

}  // namespace hekla::apiserver::apply
