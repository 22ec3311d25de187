#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/schema/schema.h"

namespace hekla::apiserver::apply {

// One place in the form of an object, of a built-in kind (schema table) or of a custom resource
// (its structural schema). A cheap handle: the table or schema must outlive it.
// Fields the form does not know are "untyped": maps merge by key, lists are atomic.
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
  // Whether an object here is owned as one value.
  bool atomic_object() const;
  // How a list here behaves; `list_keys` is only meaningful for kMap.
  schema::ListKind list_kind() const;
  const std::vector<std::string>& list_keys() const;
  // The default of key `name` of a list map's items, used where an item leaves the key out
  // (`protocol: TCP` of container ports); nullptr where there is none.
  const apis::json::Value* KeyDefault(absl::string_view name) const;

 private:
  const schema::Message* message_ = nullptr;   // an object of this form
  const schema::Field* field_ = nullptr;       // the list or map itself, before Item()/Member()
  const apis::json::Value* schema_ = nullptr;  // structural schema node
  bool custom_root_ = false;
  std::vector<std::string> keys_;
};

}  // namespace hekla::apiserver::apply
