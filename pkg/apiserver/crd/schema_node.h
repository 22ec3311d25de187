#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/crd/cel.h"
#include "pkg/apiserver/crd/regex.h"

namespace hekla::apiserver::crd {

struct SchemaNode;
using NodePtr = std::shared_ptr<const SchemaNode>;

struct SchemaRule {
  CelRule rule;
  std::string text;
  std::string message;
  std::optional<CelRule> message_expression;
  std::string reason;  // "FieldValueInvalid" where nothing is said
  std::string field_path;
};

// One place of a structural schema, compiled.
struct SchemaNode {
  std::string type;  // "" = any
  std::string format;
  bool nullable = false;
  bool preserve = false;                                    // x-kubernetes-preserve-unknown-fields
  bool int_or_string = false;                               // x-kubernetes-int-or-string
  bool embedded = false;                                    // x-kubernetes-embedded-resource
  std::vector<std::pair<std::string, NodePtr>> properties;  // by name
  NodePtr additional;
  bool additional_allowed = false;
  NodePtr items;
  std::vector<std::string> required;
  std::optional<apis::json::Value> default_value;
  std::optional<apis::json::Value> enumeration;  // array
  std::optional<double> minimum, maximum, multiple_of;
  bool exclusive_minimum = false, exclusive_maximum = false;
  int64_t min_length = -1, max_length = -1, min_items = -1, max_items = -1;
  int64_t min_properties = -1, max_properties = -1;
  bool unique_items = false;
  std::string pattern_text;
  std::optional<Regex> pattern;
  std::string list_type;  // "atomic", "set", "map"
  std::vector<std::string> list_keys;
  std::vector<NodePtr> all_of, any_of, one_of;
  NodePtr negated;
  std::vector<SchemaRule> rules;
  bool has_rules = false;     // here or below
  bool has_defaults = false;  // here or below

  const SchemaNode* Property(absl::string_view name) const;
};

}  // namespace hekla::apiserver::crd
