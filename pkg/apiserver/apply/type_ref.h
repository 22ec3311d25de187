#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/schema/schema.h"

namespace hekla::apiserver::apply {

// What a place holds that is neither an object nor a list. kNone: the form says nothing.
enum class Scalar : uint8_t { kNone, kString, kNumeric, kBoolean, kAny };

// One place in the form of an object, of a built-in kind (schema table) or of a custom resource
// (its structural schema). A cheap handle: the table or schema must outlive it.
// What the form leaves open is "untyped": maps merge by key, lists are owned as one value.
class TypeRef {
 public:
  TypeRef() = default;  // untyped
  // A whole object of a built-in kind.
  static TypeRef OfKind(const schema::Message& message);
  // A whole custom resource. `openapi_schema` is the version's spec.versions[].schema
  // .openAPIV3Schema; its `metadata` is always read as ObjectMeta.
  static TypeRef OfCustomResource(const apis::json::Value& openapi_schema);

  // The form of one member of a map or object.
  TypeRef Member(absl::string_view name) const;
  // The form of the items of a list.
  TypeRef Item() const;
  // Whether the form names this member, as a field of an object (not as a key of a map).
  bool Declares(absl::string_view name) const;
  // Whether members that the form does not name are allowed.
  bool open() const;
  // Whether an object here is owned as one value.
  bool atomic_object() const;
  // How a list here behaves; `list_keys` is only meaningful for kMap.
  schema::ListKind list_kind() const;
  std::vector<std::string> list_keys() const;
  // What key `name` of a list map's items is taken for where an item leaves it out (`protocol: TCP`
  // of container ports); null where it may not be left out. Called on the list.
  apis::json::Value KeyDefault(absl::string_view name) const;
  Scalar scalar() const;
  // Whether the form wants an object or a list here.
  bool wants_object() const;
  bool wants_list() const;
  // What the object looks like before anything was set: members that are always present.
  apis::json::Value Empty() const;

 private:
  enum class Form : uint8_t { kUntyped, kScalar, kMessage, kField, kSchema, kCustomRoot };

  static TypeRef OfElement(const schema::Field& field);
  bool Flag(absl::string_view name) const;

  Form form_ = Form::kUntyped;
  const schema::Message* message_ = nullptr;   // kMessage
  const schema::Field* field_ = nullptr;       // kField: a list or map; kMessage: where it stands
  const apis::json::Value* schema_ = nullptr;  // kSchema, kCustomRoot
};

}  // namespace hekla::apiserver::apply
