#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/apply/type_ref.h"

namespace hekla::apiserver::apply {

// A set of places in an object, in the notation of FieldsV1: a path is a row of elements
// `f:name` (member), `k:{"name":"c"}` (list item by keys), `v:"x"` (item of a set), `i:0`.
// A place being in the set says nothing about the places below it.
class FieldSet {
 public:
  using Path = std::vector<std::string>;

  // From and to the JSON of `fieldsV1`. What is malformed is left out.
  static FieldSet FromJson(const apis::json::Value& fields);
  apis::json::Value ToJson() const;

  bool empty() const;
  void Insert(const Path& path);
  bool Has(const Path& path) const;
  // Whether the element itself is in the set, and what the set holds below it (or nullptr).
  bool HasMember(const std::string& element) const;
  const FieldSet* Below(const std::string& element) const;

  void UnionWith(const FieldSet& other);
  FieldSet Minus(const FieldSet& other) const;
  FieldSet Intersect(const FieldSet& other) const;
  // Without the whole subtree of the member.
  void RemoveTree(const Path& path);
  // With every named field on the way to a member added as a member.
  FieldSet WithNamedFields(const TypeRef& type) const;
  // Members of a level first, then what lies below them.
  void ForEach(const std::function<void(const Path&)>& visit) const;

 private:
  void Visit(Path& prefix, const std::function<void(const Path&)>& visit) const;

  struct Node;
  std::map<std::string, Node> nodes_;
};

struct FieldSet::Node {
  bool member = false;
  FieldSet below;
};

// `.spec.containers[name="c"].image`, as conflicts are reported.
std::string PathText(const FieldSet::Path& path);

}  // namespace hekla::apiserver::apply
