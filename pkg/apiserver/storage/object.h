#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/selector/selector.h"

namespace hekla::apiserver::storage {

enum class EventType : uint8_t { kAdded, kModified, kDeleted };
absl::string_view EventTypeName(EventType type);

// An object ready to be stored, all but its resourceVersion, which the store gives. Made outside
// of the store's lock, so that committing costs one copy of the text.
struct EncodedObject {
  std::string key;   // "namespace/name", or "name" for cluster-scoped kinds
  std::string head;  // `{"kind":"Pod","apiVersion":"v1",`
  std::string tail;  // what follows the resourceVersion: `","name":"a",…}`
  std::string uid;
  std::string labels;  // packed pairs, see PackedLabel
  std::string fields;  // packed values of the table's selectable fields
  std::vector<std::string> owner_uids;
};

// A path to a selectable field: its name in selectors and where it stands.
struct SelectableField {
  std::string name;               // "spec.nodeName"
  std::vector<std::string> path;  // member names
  std::string fallback;           // value where it is absent ("false" for booleans)
};

// Encodes an object that has kind, apiVersion and metadata.{name, namespace, uid}.
EncodedObject Encode(const apis::json::Value& object, const std::vector<SelectableField>& fields);

// One version of one object, immutable. Its text is kept inside the line that announces it to
// watchers, so that the common case of an event needs no further copy.
class StoredObject {
 public:
  StoredObject(EncodedObject encoded, int64_t resource_version, EventType type,
               int64_t write_time_seconds);
  // The same object with another resourceVersion, as the event of its deletion shows it.
  StoredObject(const StoredObject& other, int64_t resource_version, EventType type);

  const std::string& key() const { return key_; }
  absl::string_view ns() const;
  absl::string_view name() const;
  const std::string& uid() const { return uid_; }
  int64_t resource_version() const { return resource_version_; }
  int64_t write_time_seconds() const { return write_time_seconds_; }
  const std::vector<std::string>& owner_uids() const { return owner_uids_; }
  EventType frame_type() const { return type_; }

  // The whole object.
  absl::string_view json() const;
  // Its text after `{"kind":…,"apiVersion":…,`: with a `{` in front, a list item without them.
  absl::string_view json_without_kind() const;
  // `{"type":…,"object":…}\n` for frame_type().
  const std::string& frame() const { return frame_; }
  apis::json::Value Parse() const;

  std::optional<absl::string_view> Label(absl::string_view key) const;
  // By position in the table's list of selectable fields.
  absl::string_view Field(size_t index) const;

 private:
  void BuildFrame(absl::string_view head, absl::string_view tail);

  std::string key_;
  std::string uid_;
  std::string labels_;
  std::string fields_;
  std::vector<std::string> owner_uids_;
  std::string frame_;
  int64_t resource_version_;
  int64_t write_time_seconds_;
  uint32_t json_begin_ = 0;
  uint32_t head_end_ = 0;
  EventType type_;
};

using ObjectPtr = std::shared_ptr<const StoredObject>;

// The line that announces `json` to watchers.
std::string MakeFrame(EventType type, absl::string_view json);
std::string MakeFrame(absl::string_view type, absl::string_view json);

// What a list or watch selects.
struct Filter {
  std::string ns;    // "" = all
  std::string name;  // "" = all
  LabelSelector labels;
  struct FieldTest {
    size_t field;
    bool equal;
    std::string value;
  };
  std::vector<FieldTest> fields;
  // metadata.namespace tests (metadata.name equality becomes `name`)
  std::vector<FieldSelector::Requirement> meta;

  bool selective() const { return !labels.empty() || !fields.empty() || !meta.empty(); }
  bool Matches(const StoredObject& object) const;
};

}  // namespace hekla::apiserver::storage
