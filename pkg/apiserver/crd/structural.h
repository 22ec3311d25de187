#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/status/field_errors.h"

namespace hekla::apiserver::crd {

struct SchemaNode;

// The structural schema of a custom kind: prunes, fills in defaults, validates.
// Order:   findings come in the order of real servers: structural ones by property name, then
//          list types, then CEL rules from the outside in.
// Threads: immutable.
// Source:  spec kube-machinery 3.15.
class Structural {
 public:
  Structural() = default;
  // Never fails: what it does not understand constrains nothing.
  static Structural Compile(const apis::json::Value& openapi_schema);

  // Drops what the schema does not know, and reports it as `spec.colour`. metadata, apiVersion and
  // kind at the root are left alone.
  void Prune(apis::json::Value& object, std::vector<std::string>* dropped) const;
  // Drops nulls of members that may not be null, so that their defaults apply.
  // Then fills in defaults where the parent exists.
  void Default(apis::json::Value& object) const;
  // `old` null on create. Findings at values that did not change are left out on update.
  void Validate(const apis::json::Value& object, const apis::json::Value* old,
                FieldErrors& errors) const;
  // Sorts the members of objects by name as servers answer for custom kinds. Not needed for
  // equality; kept for readers of raw answers.
  const SchemaNode* root() const { return root_.get(); }

 private:
  std::shared_ptr<const SchemaNode> root_;
};

}  // namespace hekla::apiserver::crd
