#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

// What the server knows about the form of the built-in kinds: one table, written as text in
// tables_*.cc and compiled once, from which typed decoding, strict field checks, strategic merge,
// server-side apply, protobuf and OpenAPI all follow.
// Threads: everything here is immutable once made.
// Source:  spec kube-machinery 3.12 (merge keys), 1.8 (protobuf); names, numbers and list kinds are
//          those of the public API definitions of Kubernetes 1.36.
namespace hekla::apiserver::schema {

enum class Type : uint8_t {
  kString,
  kBool,
  kInt32,
  kInt64,
  kDouble,
  kBytes,        // base64 text in JSON
  kTime,         // RFC 3339, whole seconds
  kMicroTime,    // RFC 3339, six fractional digits
  kDuration,     // "1m30s"
  kQuantity,     // "500m"; JSON numbers are accepted
  kIntOrString,  // 80 or "http"
  kAny,          // any JSON value (CRD defaults, raw extensions, FieldsV1)
  kMessage,
};

enum class Shape : uint8_t { kSingle, kList, kMap };

// When a member appears in what the server sends.
enum class Presence : uint8_t {
  kOmitEmpty,  // left out when it holds its zero value: "", 0, false, [], {} of a map
  kOptional,   // present exactly when the client gave it (also with a zero value, also as {})
  kAlways,     // always there, with its zero value where nobody gave one
  kNullable,   // always there, null where nobody gave one
};

// How a list behaves in server-side apply. Lists are atomic where nothing else is said.
enum class ListKind : uint8_t { kAtomic, kSet, kMap };

struct Message;

struct Field {
  std::string name;     // as in JSON
  uint16_t number = 0;  // in protobuf; 0 where it has none of its own (part of an inlined message)
  Type type = Type::kString;
  Shape shape = Shape::kSingle;
  Presence presence = Presence::kOmitEmpty;
  ListKind list_kind = ListKind::kAtomic;
  bool merge = false;        // strategic merge: list merged by `merge_key`, or as a set without one
  bool retain_keys = false;  // strategic merge: takes $retainKeys
  bool replace = false;      // strategic merge: never merged
  bool atomic = false;       // apply: a map or message owned as one value
  bool inlined = false;      // protobuf only: its fields stand in the surrounding JSON object
  std::string merge_key;
  std::vector<std::string> list_keys;  // apply, ListKind::kMap
  std::string key_default;             // apply: what a list key is taken for where it is missing
  std::string inlined_from;            // Go name of the inlined message it comes from, or ""
  std::string go_type;                 // as decoding errors call it: "string", "[]v1.Container"
  const Message* message = nullptr;    // Type::kMessage
};

struct Message {
  std::string name;            // "PodSpec"; outside core and meta with its group: "batch.JobSpec"
  bool atomic = false;         // apply: owned as one value wherever it occurs
  bool is_kind = false;        // has apiVersion and kind of its own
  std::vector<Field> fields;   // in the order in which the server writes them, the inlined included
  std::vector<Field> inlined;  // protobuf only: messages whose fields are part of `fields`
  absl::flat_hash_map<std::string, uint16_t> index;  // of the fields of big messages

  // nullptr where there is none.
  const Field* Find(absl::string_view json_name) const;
  // For protobuf; knows the inlined messages as well.
  const Field* FindNumber(uint32_t number) const;
  // The name without its group.
  absl::string_view go_name() const;
};

// The form of one kind; nullptr where the kind is none of the built-in ones (custom resources).
// Group "" is the core group. Also knows Binding, Eviction, DeleteOptions, Scale, Status, the list
// options and the review kinds. Every `FooList` answers the ListKind of its item as "items".
const Message* FindKind(absl::string_view group, absl::string_view version, absl::string_view kind);

// One form by its table name, for instance "ObjectMeta", "PodTemplateSpec"; nullptr where missing.
const Message* FindMessage(absl::string_view name);

struct KindEntry {
  std::string group, version, kind;
  const Message* message;
};
// All kinds of the table in its order.
const std::vector<KindEntry>& AllKinds();

}  // namespace hekla::apiserver::schema
