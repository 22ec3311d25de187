#include "pkg/apiserver/openapi/v2_wire.h"

#include <cstring>

#include "absl/strings/match.h"
#include "pkg/apiserver/protobuf/wire.h"

namespace hekla::apiserver::openapi {
namespace {

using apis::json::Member;
using apis::json::Value;
using protobuf::PutBytesField;
using protobuf::PutFixed64Field;
using protobuf::PutVarintField;

// Field numbers of openapi.v2.
namespace document_field {
constexpr uint32_t kSwagger = 1, kInfo = 2, kPaths = 8, kDefinitions = 9;
}
namespace schema_field {
constexpr uint32_t kRef = 1, kFormat = 2, kDescription = 4, kMaximum = 7, kMinimum = 9,
                   kMaxLength = 11, kMinLength = 12, kPattern = 13, kMaxItems = 14, kMinItems = 15,
                   kRequired = 19, kEnum = 20, kAdditional = 21, kType = 22, kItems = 23,
                   kProperties = 25, kVendor = 31;
}

// A value as `Any`: its YAML, of which JSON is a part.
std::string AnyValue(const Value& value) {
  std::string out;
  PutBytesField(2, apis::json::Dump(value) + "\n", out);
  return out;
}

std::string Schema(const Value& schema);

std::string Named(absl::string_view name, const std::string& value) {
  std::string out;
  PutBytesField(1, name, out);
  PutBytesField(2, value, out);
  return out;
}

void PutText(const Value& schema, absl::string_view key, uint32_t number, std::string& out) {
  const absl::string_view text = schema.GetString(key);
  if (!text.empty()) PutBytesField(number, text, out);
}

void PutCount(const Value& schema, absl::string_view key, uint32_t number, std::string& out) {
  const int64_t count = schema.GetInt(key);
  if (count != 0) PutVarintField(number, static_cast<uint64_t>(count), out);
}

void PutNumber(const Value& schema, absl::string_view key, uint32_t number, std::string& out) {
  const Value* value = schema.Find(key);
  if (value == nullptr || !value->is_number()) return;
  const double d = value->as_double();
  uint64_t bits = 0;
  std::memcpy(&bits, &d, sizeof(bits));
  PutFixed64Field(number, bits, out);
}

void PutAdditional(const Value& schema, std::string& out) {
  const Value* rest = schema.Find("additionalProperties");
  if (rest == nullptr) return;
  std::string item;
  if (rest->is_object()) {
    PutBytesField(1, Schema(*rest), item);
  } else if (rest->is_bool()) {
    PutVarintField(2, rest->as_bool() ? 1 : 0, item);
  }
  PutBytesField(schema_field::kAdditional, item, out);
}

void PutType(const Value& schema, std::string& out) {
  // A value of either kind has one type only in v2.
  const absl::string_view type = schema.GetBool("x-kubernetes-int-or-string")
                                     ? absl::string_view("string")
                                     : schema.GetString("type");
  if (type.empty()) return;
  std::string item;
  PutBytesField(1, type, item);
  PutBytesField(schema_field::kType, item, out);
}

std::string Schema(const Value& schema) {
  std::string out;
  if (schema.Has("$ref")) {
    PutText(schema, "$ref", schema_field::kRef, out);
    return out;
  }
  PutText(schema, "format", schema_field::kFormat, out);
  PutText(schema, "description", schema_field::kDescription, out);
  PutNumber(schema, "maximum", schema_field::kMaximum, out);
  PutNumber(schema, "minimum", schema_field::kMinimum, out);
  PutCount(schema, "maxLength", schema_field::kMaxLength, out);
  PutCount(schema, "minLength", schema_field::kMinLength, out);
  PutText(schema, "pattern", schema_field::kPattern, out);
  PutCount(schema, "maxItems", schema_field::kMaxItems, out);
  PutCount(schema, "minItems", schema_field::kMinItems, out);
  if (const Value& required = schema.At("required"); required.is_array()) {
    for (const Value& name : required.as_array()) {
      if (name.is_string()) PutBytesField(schema_field::kRequired, name.as_string(), out);
    }
  }
  if (const Value& values = schema.At("enum"); values.is_array()) {
    for (const Value& value : values.as_array()) {
      PutBytesField(schema_field::kEnum, AnyValue(value), out);
    }
  }
  PutAdditional(schema, out);
  PutType(schema, out);
  if (const Value& items = schema.At("items"); items.is_object()) {
    std::string item;
    PutBytesField(1, Schema(items), item);
    PutBytesField(schema_field::kItems, item, out);
  }
  if (const Value& properties = schema.At("properties"); properties.is_object()) {
    std::string all;
    for (const Member& member : properties.as_object()) {
      PutBytesField(1, Named(member.key, Schema(member.value)), all);
    }
    PutBytesField(schema_field::kProperties, all, out);
  }
  for (const Member& member : schema.as_object()) {
    if (!absl::StartsWith(member.key, "x-")) continue;
    PutBytesField(schema_field::kVendor, Named(member.key, AnyValue(member.value)), out);
  }
  return out;
}

}  // namespace

std::string EncodeV2(const Value& document) {
  std::string info, definitions, out;
  PutBytesField(document_field::kSwagger, document.GetString("swagger"), out);
  PutBytesField(1, document.At("info").GetString("title"), info);
  PutBytesField(2, document.At("info").GetString("version"), info);
  PutBytesField(document_field::kInfo, info, out);
  PutBytesField(document_field::kPaths, "", out);
  if (const Value& all = document.At("definitions"); all.is_object()) {
    for (const Member& member : all.as_object()) {
      PutBytesField(1, Named(member.key, Schema(member.value)), definitions);
    }
  }
  PutBytesField(document_field::kDefinitions, definitions, out);
  return out;
}

}  // namespace hekla::apiserver::openapi
