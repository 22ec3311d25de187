#include <arpa/inet.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "pkg/apiserver/crd/schema_node.h"
#include "pkg/apiserver/crd/structural.h"

namespace hekla::apiserver::crd {
namespace {

using apis::json::Member;
using apis::json::Value;

absl::string_view TypeName(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return "boolean";
    case Value::Kind::kInt:
      return "integer";
    case Value::Kind::kDouble:
      return "number";
    case Value::Kind::kString:
      return "string";
    case Value::Kind::kArray:
      return "array";
    case Value::Kind::kObject:
      return "object";
  }
  return "";
}

// The formats whose rules are simple enough to be checked; all others pass.
bool HasFormat(absl::string_view format, const std::string& text) {
  absl::Time time;
  if (format == "date-time") return absl::ParseTime(absl::RFC3339_full, text, &time, nullptr);
  if (format == "date") return absl::ParseTime("%E4Y-%m-%d", text, &time, nullptr);
  if (format == "ipv4") {
    in_addr address;
    return inet_pton(AF_INET, text.c_str(), &address) == 1;
  }
  if (format == "byte") {
    std::string bytes;
    return absl::Base64Unescape(text, &bytes);
  }
  return true;
}

bool HasType(const Value& value, absl::string_view type) {
  if (type == "number") return value.is_number();
  return TypeName(value) == type;
}

int64_t Characters(const std::string& s) {
  return std::count_if(s.begin(), s.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

std::string Plain(double d) {
  return apis::json::Dump(
      d == std::floor(d) && std::fabs(d) < 1e15 ? Value(static_cast<long long>(d)) : Value(d));
}

class Validator {
 public:
  explicit Validator(FieldErrors& errors) : errors_(errors) {}

  // `old`: what stood in this place before, null where nothing did. Unchanged values are accepted.
  void Check(const SchemaNode& node, const Value& value, const Value* old,
             const std::string& path) {
    if (old != nullptr && *old == value) return;
    if (value.is_null() && node.nullable) return;
    if (node.int_or_string) {
      if (!value.is_int() && !value.is_string()) {
        Type(path, value, "integer,string");
        return;
      }
    } else if (!node.type.empty() && !HasType(value, node.type)) {
      if (node.type == "integer" && value.is_number() &&
          (node.format == "int32" || node.format == "int64")) {
        NoInteger(path, node.format);
      } else {
        Type(path, value, node.type);
      }
      if (node.enumeration.has_value()) Enumeration(node, value, path);
      return;
    }
    if (value.is_object()) Object(node, value, old, path);
    if (value.is_array()) Array(node, value, old, path);
    if (value.is_string()) String(node, value, path);
    if (value.is_number()) Numeric(node, value, path);
    if (node.enumeration.has_value()) Enumeration(node, value, path);
    Combined(node, value, path);
  }

 private:
  static std::string In(const std::string& path, absl::string_view text) {
    return absl::StrCat(path, " in body ", text);
  }
  void Bad(const std::string& path, const Value& value, absl::string_view text) {
    errors_.Invalid(path, value, In(path, text));
  }
  void Type(const std::string& path, const Value& value, absl::string_view wanted) {
    const Value found(TypeName(value));
    errors_.TypeInvalid(
        path, found,
        In(path, absl::StrCat("must be of type ", wanted, ": ", apis::json::Dump(found))));
    if (wanted == "integer" && value.is_number()) {
      errors_.Invalid(
          "<nil>", Value(""),
          absl::StrCat("Checked value must be of type integer (default format) in ", path));
    }
  }

  // A number with a fraction.
  void NoInteger(const std::string& path, const std::string& format) {
    errors_.TypeInvalid(path, Value("float64"),
                        In(path, absl::StrCat("must be of type ", format, ": \"float64\"")));
    errors_.Invalid(
        "<nil>", Value(""),
        absl::StrCat("Checked value must be of type integer with format ", format, " in ", path));
  }

  void Object(const SchemaNode& node, const Value& value, const Value* old,
              const std::string& path) {
    const int64_t count = static_cast<int64_t>(value.size());
    if (node.max_properties >= 0 && count > node.max_properties) {
      errors_.TooMany(path, static_cast<int>(count), static_cast<int>(node.max_properties));
    }
    if (node.min_properties >= 0 && count < node.min_properties) {
      Bad(path, value, absl::StrCat("should have at least ", node.min_properties, " properties"));
    }
    for (const Member& m : value.as_object()) {
      const SchemaNode* child = node.Property(m.key);
      if (child == nullptr) child = node.additional.get();
      if (child == nullptr) continue;
      if (path.empty() && (m.key == "metadata" || m.key == "apiVersion" || m.key == "kind")) {
        continue;
      }
      Check(*child, m.value, old == nullptr ? nullptr : old->Find(m.key), Child(path, m.key));
    }
    for (const std::string& name : node.required) {
      if (!value.Has(name)) errors_.Required(Child(path, name));
    }
  }

  void Array(const SchemaNode& node, const Value& value, const Value* old,
             const std::string& path) {
    const int64_t count = static_cast<int64_t>(value.size());
    if (node.max_items >= 0 && count > node.max_items) {
      errors_.TooMany(path, static_cast<int>(count), static_cast<int>(node.max_items));
    }
    if (node.min_items >= 0 && count < node.min_items) {
      Bad(path, Value(static_cast<long long>(count)),
          absl::StrCat("should have at least ", node.min_items, " items"));
    }
    if (node.unique_items) {
      for (size_t i = 0; i < value.size(); ++i) {
        const auto& items = value.as_array();
        if (std::find(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(i), items[i]) !=
            items.begin() + static_cast<std::ptrdiff_t>(i)) {
          Bad(path, value, "shouldn't contain duplicates");
          break;
        }
      }
    }
    if (node.items == nullptr) return;
    for (size_t i = 0; i < value.size(); ++i) {
      Check(*node.items, value.as_array()[i], Counterpart(node, value, i, old), Index(path, i));
    }
  }

  // The old item that corresponds to item i: by key in list maps, else by position.
  static const Value* Counterpart(const SchemaNode& node, const Value& value, size_t i,
                                  const Value* old) {
    if (old == nullptr || !old->is_array()) return nullptr;
    if (node.list_type == "map") {
      for (const Value& candidate : old->as_array()) {
        if (std::all_of(node.list_keys.begin(), node.list_keys.end(), [&](const auto& key) {
              return candidate.At(key) == value.as_array()[i].At(key);
            })) {
          return &candidate;
        }
      }
      return nullptr;
    }
    return i < old->size() ? &old->as_array()[i] : nullptr;
  }

  void String(const SchemaNode& node, const Value& value, const std::string& path) {
    const int64_t length = Characters(value.as_string());
    // The first thing wrong is reported alone.
    if (node.max_length >= 0 && length > node.max_length) {
      errors_.TooLong(path, static_cast<int>(node.max_length));
    } else if (node.min_length >= 0 && length < node.min_length) {
      Bad(path, value, absl::StrCat("should be at least ", node.min_length, " chars long"));
    } else if (node.pattern.has_value() && !node.pattern->Matches(value.as_string())) {
      Bad(path, value, absl::StrCat("should match '", node.pattern_text, "'"));
    }
    if (!HasFormat(node.format, value.as_string())) {
      errors_.TypeInvalid(
          path, value,
          In(path, absl::StrCat("must be of type ", node.format, ": ", apis::json::Dump(value))));
    }
  }

  void Numeric(const SchemaNode& node, const Value& value, const std::string& path) {
    const double number = value.as_double();
    if (node.maximum.has_value()) {
      if (node.exclusive_maximum ? number >= *node.maximum : number > *node.maximum) {
        Bad(path, value,
            absl::StrCat("should be less than ", node.exclusive_maximum ? "" : "or equal to ",
                         Plain(*node.maximum)));
      }
    }
    if (node.minimum.has_value()) {
      if (node.exclusive_minimum ? number <= *node.minimum : number < *node.minimum) {
        Bad(path, value,
            absl::StrCat("should be greater than ", node.exclusive_minimum ? "" : "or equal to ",
                         Plain(*node.minimum)));
      }
    }
    if (node.multiple_of.has_value() && *node.multiple_of != 0 &&
        std::fmod(number, *node.multiple_of) != 0) {
      Bad(path, value, absl::StrCat("should be a multiple of ", Plain(*node.multiple_of)));
    }
    if (node.format == "int32" && value.is_int() &&
        (value.as_int() > INT32_MAX || value.as_int() < INT32_MIN)) {
      errors_.Invalid(
          "<nil>", Value(""),
          absl::StrCat("Checked value must be of type integer with format int32 in ", path));
    }
  }

  void Enumeration(const SchemaNode& node, const Value& value, const std::string& path) {
    std::vector<std::string> texts;
    for (const Value& allowed : node.enumeration->as_array()) {
      if (allowed == value) return;
      texts.push_back(allowed.is_string() ? allowed.as_string() : apis::json::Dump(allowed));
    }
    errors_.NotSupported(path, value, texts);
  }

  // What is wrong with a value as a whole belongs to no field.
  void Composite(const std::string& path, absl::string_view text) {
    errors_.Invalid("<nil>", Value(""), absl::StrCat("\"", path, "\" ", text));
  }

  static bool Fits(const SchemaNode& node, const Value& value) {
    FieldErrors scratch;
    Validator(scratch).Check(node, value, nullptr, "x");
    return scratch.empty();
  }

  void Combined(const SchemaNode& node, const Value& value, const std::string& path) {
    const auto fits = [&](const NodePtr& n) { return Fits(*n, value); };
    if (!std::all_of(node.all_of.begin(), node.all_of.end(), fits)) {
      Composite(path, "must validate all the schemas (allOf)");
    }
    if (!node.any_of.empty() && std::none_of(node.any_of.begin(), node.any_of.end(), fits)) {
      Composite(path, "must validate at least one schema (anyOf)");
    }
    if (!node.one_of.empty()) {
      const auto count = std::count_if(node.one_of.begin(), node.one_of.end(), fits);
      constexpr absl::string_view kOneOf = "must validate one and only one schema (oneOf). Found ";
      if (count == 0) {
        Composite(path, absl::StrCat(kOneOf, "none valid"));
        Check(*node.one_of[0], value, nullptr, path);
      } else if (count > 1) {
        Composite(path, absl::StrCat(kOneOf, count, " valid alternatives"));
      }
    }
    if (node.negated != nullptr && fits(node.negated)) {
      Composite(path, "must not validate the schema (not)");
    }
  }

  FieldErrors& errors_;
};

// Sets and maps have no equal items.
void CheckListTypes(const SchemaNode& node, const Value& value, const std::string& path,
                    FieldErrors& errors) {
  if (value.is_object()) {
    for (const Member& m : value.as_object()) {
      const SchemaNode* child = node.Property(m.key);
      if (child == nullptr) child = node.additional.get();
      if (child != nullptr) CheckListTypes(*child, m.value, Child(path, m.key), errors);
    }
    return;
  }
  if (!value.is_array()) return;
  std::vector<Value> seen;
  for (size_t i = 0; i < value.size(); ++i) {
    const Value& item = value.as_array()[i];
    if (node.list_type == "set" || node.list_type == "map") {
      Value key = item;
      if (node.list_type == "map") {
        key = Value::MakeObject();
        for (const std::string& name : node.list_keys) {
          if (const Value* part = item.Find(name)) key.Set(name, *part);
        }
      }
      if (std::find(seen.begin(), seen.end(), key) != seen.end()) {
        errors.Duplicate(Index(path, i), key);
      }
      seen.push_back(std::move(key));
    }
    if (node.items != nullptr) CheckListTypes(*node.items, item, Index(path, i), errors);
  }
}

std::string RuleMessage(const SchemaRule& rule, const Value& value, const Value* old) {
  if (rule.message_expression.has_value()) {
    const absl::StatusOr<Value> text = rule.message_expression->Evaluate(value, old);
    if (text.ok() && text->is_string() && !text->as_string().empty()) return text->as_string();
  }
  return rule.message.empty() ? absl::StrCat("failed rule: ", rule.text) : rule.message;
}

void CheckRules(const SchemaNode& node, const Value& value, const Value* old,
                const std::string& path, FieldErrors& errors) {
  if (!node.has_rules || value.is_null()) return;
  for (const SchemaRule& rule : node.rules) {
    if (rule.rule.is_transition() && old == nullptr) continue;
    if (!rule.rule.is_transition() && old != nullptr && *old == value) continue;
    const absl::StatusOr<Value> result = rule.rule.Evaluate(value, old);
    if (absl::IsUnimplemented(result.status())) continue;
    if (result.ok() && *result == Value(true)) continue;
    const std::string field = absl::StrCat(path, rule.field_path);
    const std::string message =
        result.ok() ? RuleMessage(rule, value, old)
                    : absl::StrCat("rule evaluation error: ", result.status().message());
    if (rule.reason == "FieldValueForbidden") {
      errors.Forbidden(field, message);
    } else if (rule.reason == "FieldValueRequired") {
      errors.Required(field, message);
    } else if (rule.reason == "FieldValueDuplicate") {
      errors.Add({rule.reason, field, absl::StrCat("Duplicate value: ", message)});
    } else if (value.is_object() || value.is_array()) {
      errors.InvalidRaw(field, message, "");  // too long to be repeated
    } else {
      errors.Invalid(field, value, message);
    }
  }
  if (value.is_object()) {
    for (const Member& m : value.as_object()) {
      const SchemaNode* child = node.Property(m.key);
      const bool listed = child != nullptr;
      if (!listed) child = node.additional.get();
      if (child == nullptr) continue;
      CheckRules(*child, m.value, old == nullptr ? nullptr : old->Find(m.key),
                 listed ? Child(path, m.key) : Key(path, m.key), errors);
    }
  }
  if (value.is_array() && node.items != nullptr) {
    for (size_t i = 0; i < value.size(); ++i) {
      const Value& item = value.as_array()[i];
      const Value* before = nullptr;
      if (node.list_type == "map" && old != nullptr && old->is_array()) {
        for (const Value& candidate : old->as_array()) {
          if (std::all_of(node.list_keys.begin(), node.list_keys.end(),
                          [&](const auto& key) { return candidate.At(key) == item.At(key); })) {
            before = &candidate;
          }
        }
      }
      CheckRules(*node.items, item, before, Index(path, i), errors);
    }
  }
}

bool Blocks(const FieldError& error) {
  return error.reason == "FieldValueNotSupported" || error.reason == "FieldValueRequired" ||
         error.reason == "FieldValueTooLong" || error.reason == "FieldValueTooMany" ||
         error.reason == "FieldValueTypeInvalid";
}

}  // namespace

void Structural::Validate(const Value& object, const Value* old, FieldErrors& errors) const {
  if (root_ == nullptr) return;
  FieldErrors found;
  Validator(found).Check(*root_, object, old, "");
  CheckListTypes(*root_, object, "", found);
  if (root_->has_rules) {
    if (std::any_of(found.all().begin(), found.all().end(), Blocks)) {
      found.Invalid("<nil>", Value(),
                    "some validation rules were not checked because the object was invalid; "
                    "correct the existing errors to complete validation");
    } else {
      CheckRules(*root_, object, old, "", found);
    }
  }
  for (const FieldError& error : found.all()) errors.Add(error);
}

}  // namespace hekla::apiserver::crd
