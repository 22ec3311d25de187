#include "pkg/apiserver/crd/structural.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/crd/schema_node.h"

namespace hekla::apiserver::crd {
namespace {

using apis::json::Member;
using apis::json::Value;

constexpr int kMaxDepth = 200;

bool IsTypeMeta(absl::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata";
}

std::vector<std::string> Strings(const Value& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return out;
  for (const Value& item : list.as_array()) {
    if (item.is_string()) out.push_back(item.as_string());
  }
  return out;
}

std::optional<double> Number(const Value& value) {
  if (!value.is_number()) return std::nullopt;
  return value.as_double();
}

NodePtr CompileNode(const Value& schema, int depth);

std::vector<NodePtr> CompileList(const Value& list, int depth) {
  std::vector<NodePtr> out;
  if (!list.is_array()) return out;
  for (const Value& item : list.as_array()) out.push_back(CompileNode(item, depth));
  return out;
}

void CompileRules(const Value& list, SchemaNode& node) {
  if (!list.is_array()) return;
  for (const Value& item : list.as_array()) {
    SchemaRule out;
    out.text = std::string(item.GetString("rule"));
    absl::StatusOr<CelRule> rule = CelRule::Compile(out.text);
    if (!rule.ok()) continue;
    out.rule = *std::move(rule);
    out.message = std::string(item.GetString("message"));
    if (item.Has("messageExpression")) {
      absl::StatusOr<CelRule> text = CelRule::Compile(item.GetString("messageExpression"));
      if (text.ok()) out.message_expression = *std::move(text);
    }
    out.reason = std::string(item.GetString("reason", "FieldValueInvalid"));
    out.field_path = std::string(item.GetString("fieldPath"));
    node.rules.push_back(std::move(out));
  }
}

void CompileBounds(const Value& schema, SchemaNode& node) {
  node.minimum = Number(schema.At("minimum"));
  node.maximum = Number(schema.At("maximum"));
  node.multiple_of = Number(schema.At("multipleOf"));
  node.exclusive_minimum = schema.GetBool("exclusiveMinimum");
  node.exclusive_maximum = schema.GetBool("exclusiveMaximum");
  node.min_length = schema.GetInt("minLength", -1);
  node.max_length = schema.GetInt("maxLength", -1);
  node.min_items = schema.GetInt("minItems", -1);
  node.max_items = schema.GetInt("maxItems", -1);
  node.min_properties = schema.GetInt("minProperties", -1);
  node.max_properties = schema.GetInt("maxProperties", -1);
  node.unique_items = schema.GetBool("uniqueItems");
  node.pattern_text = std::string(schema.GetString("pattern"));
  if (!node.pattern_text.empty()) {
    Regex regex(node.pattern_text);
    if (regex.valid()) node.pattern = std::move(regex);
  }
  if (schema.At("enum").is_array()) node.enumeration = schema.At("enum");
}

NodePtr CompileNode(const Value& schema, int depth) {
  auto node = std::make_shared<SchemaNode>();
  if (!schema.is_object() || depth > kMaxDepth) {
    node->preserve = true;
    return node;
  }
  node->type = std::string(schema.GetString("type"));
  node->format = std::string(schema.GetString("format"));
  node->nullable = schema.GetBool("nullable");
  node->preserve = schema.GetBool("x-kubernetes-preserve-unknown-fields");
  node->int_or_string = schema.GetBool("x-kubernetes-int-or-string");
  node->embedded = schema.GetBool("x-kubernetes-embedded-resource");
  node->list_type = std::string(schema.GetString("x-kubernetes-list-type"));
  node->list_keys = Strings(schema.At("x-kubernetes-list-map-keys"));
  node->required = Strings(schema.At("required"));
  if (const Value* value = schema.Find("default")) node->default_value = *value;
  CompileBounds(schema, *node);
  CompileRules(schema.At("x-kubernetes-validations"), *node);
  node->has_rules = !node->rules.empty();
  node->has_defaults = node->default_value.has_value();
  const auto absorb = [&node](const NodePtr& child) {
    node->has_rules |= child->has_rules;
    node->has_defaults |= child->has_defaults;
  };
  if (const Value& properties = schema.At("properties"); properties.is_object()) {
    for (const Member& m : properties.as_object()) {
      node->properties.emplace_back(m.key, CompileNode(m.value, depth + 1));
      absorb(node->properties.back().second);
    }
    std::sort(node->properties.begin(), node->properties.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  const Value& additional = schema.At("additionalProperties");
  if (additional.is_object()) {
    node->additional = CompileNode(additional, depth + 1);
    absorb(node->additional);
  }
  node->additional_allowed = additional.is_object() || additional == Value(true);
  if (schema.At("items").is_object()) {
    node->items = CompileNode(schema.At("items"), depth + 1);
    absorb(node->items);
  }
  node->all_of = CompileList(schema.At("allOf"), depth + 1);
  node->any_of = CompileList(schema.At("anyOf"), depth + 1);
  node->one_of = CompileList(schema.At("oneOf"), depth + 1);
  if (schema.At("not").is_object()) node->negated = CompileNode(schema.At("not"), depth + 1);
  return node;
}

void PruneNode(const SchemaNode& node, Value& value, const std::string& path, bool keeps_meta,
               std::vector<std::string>* dropped) {
  if (value.is_array()) {
    if (node.items == nullptr) return;
    for (size_t i = 0; i < value.as_array().size(); ++i) {
      PruneNode(*node.items, value.as_array()[i], Index(path, i), node.items->embedded, dropped);
    }
    return;
  }
  if (!value.is_object()) return;
  Value::Object& members = value.as_object();
  for (size_t i = 0; i < members.size();) {
    Member& m = members[i];
    if (keeps_meta && IsTypeMeta(m.key)) {
      ++i;
      continue;
    }
    const std::string child = Child(path, m.key);
    if (const SchemaNode* property = node.Property(m.key)) {
      PruneNode(*property, m.value, child, property->embedded, dropped);
    } else if (node.additional != nullptr) {
      PruneNode(*node.additional, m.value, child, node.additional->embedded, dropped);
    } else if (!node.preserve && !node.additional_allowed) {
      if (dropped != nullptr) dropped->push_back(child);
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    ++i;
  }
}

void DefaultNode(const SchemaNode& node, Value& value) {
  if (value.is_array()) {
    if (node.items == nullptr) return;
    for (Value& item : value.as_array()) DefaultNode(*node.items, item);
    return;
  }
  if (!value.is_object()) return;
  for (const auto& [name, property] : node.properties) {
    Value* member = value.Find(name);
    const bool is_null = member != nullptr && member->is_null() && !property->nullable;
    if (is_null && !property->default_value.has_value()) {
      if (!property->preserve || !property->type.empty()) value.Remove(name);
      continue;
    }
    if ((member == nullptr || is_null) && property->default_value.has_value()) {
      if (member == nullptr && !property->default_value.has_value()) continue;
      value.Set(name, *property->default_value);
      member = value.Find(name);
    }
    if (member != nullptr) DefaultNode(*property, *member);
  }
  if (node.additional == nullptr) return;
  for (size_t i = 0; i < value.as_object().size();) {
    Member& m = value.as_object()[i];
    if (node.Property(m.key) == nullptr) {
      if (m.value.is_null() && !node.additional->nullable) {
        if (node.additional->default_value.has_value()) {
          m.value = *node.additional->default_value;
        } else {
          value.as_object().erase(value.as_object().begin() + static_cast<std::ptrdiff_t>(i));
          continue;
        }
      }
      DefaultNode(*node.additional, m.value);
    }
    ++i;
  }
}

}  // namespace

const SchemaNode* SchemaNode::Property(absl::string_view name) const {
  auto it = std::lower_bound(properties.begin(), properties.end(), name,
                             [](const auto& p, absl::string_view n) { return p.first < n; });
  return it != properties.end() && it->first == name ? it->second.get() : nullptr;
}

Structural Structural::Compile(const Value& openapi_schema) {
  Structural out;
  out.root_ = CompileNode(openapi_schema, 0);
  return out;
}

void Structural::Prune(Value& object, std::vector<std::string>* dropped) const {
  if (root_ != nullptr) PruneNode(*root_, object, "", true, dropped);
}

void Structural::Default(Value& object) const {
  if (root_ != nullptr) DefaultNode(*root_, object);
}

}  // namespace hekla::apiserver::crd
