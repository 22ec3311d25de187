#include "pkg/apiserver/apply/type_ref.h"

#include "pkg/apiserver/schema/decode.h"

namespace hekla::apiserver::apply {
namespace {

using apis::json::Value;
using schema::Field;
using schema::ListKind;
using schema::Message;
using schema::Shape;
using schema::Type;

const Message& ObjectMeta() {
  static const Message& message = *schema::FindMessage("ObjectMeta");
  return message;
}

bool IsTypeMeta(absl::string_view name) { return name == "apiVersion" || name == "kind"; }

}  // namespace

TypeRef TypeRef::OfKind(const Message& message) {
  TypeRef out;
  out.form_ = Form::kMessage;
  out.message_ = &message;
  return out;
}

TypeRef TypeRef::OfCustomResource(const Value& openapi_schema) {
  TypeRef out;
  out.form_ = Form::kCustomRoot;
  out.schema_ = &openapi_schema;
  return out;
}

TypeRef TypeRef::OfElement(const Field& field) {
  TypeRef out;
  out.field_ = &field;
  if (field.type == Type::kMessage) {
    out.form_ = Form::kMessage;
    out.message_ = field.message;
  } else {
    // Raw JSON stays untyped, yet is owned as one value.
    out.form_ = field.type == Type::kAny ? Form::kUntyped : Form::kScalar;
  }
  return out;
}

TypeRef TypeRef::Member(absl::string_view name) const {
  TypeRef out;
  if (form_ == Form::kMessage) {
    const Field* field = message_->Find(name);
    if (field == nullptr) {
      if (message_->is_kind && IsTypeMeta(name)) out.form_ = Form::kScalar;
      return out;
    }
    if (field->shape == Shape::kSingle) return OfElement(*field);
    out.form_ = Form::kField;
    out.field_ = field;
    return out;
  }
  if (form_ == Form::kField) return OfElement(*field_);
  if (form_ == Form::kCustomRoot) {
    if (name == "metadata") return OfKind(ObjectMeta());
    if (IsTypeMeta(name)) {
      out.form_ = Form::kScalar;
      return out;
    }
  }
  if (schema_ == nullptr) return out;
  const Value* below = schema_->At("properties").Find(name);
  if (below == nullptr) {
    const Value* rest = schema_->Find("additionalProperties");
    if (rest != nullptr && rest->is_object()) below = rest;
  }
  if (below == nullptr) return out;
  out.form_ = Form::kSchema;
  out.schema_ = below;
  return out;
}

TypeRef TypeRef::Item() const {
  if (form_ == Form::kField) return OfElement(*field_);
  TypeRef out;
  if (schema_ == nullptr) return out;
  const Value* items = schema_->Find("items");
  if (items == nullptr || !items->is_object()) return out;
  out.form_ = Form::kSchema;
  out.schema_ = items;
  return out;
}

bool TypeRef::Declares(absl::string_view name) const {
  switch (form_) {
    case Form::kMessage:
      return message_->Find(name) != nullptr || (message_->is_kind && IsTypeMeta(name));
    case Form::kCustomRoot:
      if (name == "metadata" || IsTypeMeta(name)) return true;
      return schema_->At("properties").Has(name);
    case Form::kSchema:
      if (Flag("x-kubernetes-embedded-resource") && (name == "metadata" || IsTypeMeta(name))) {
        return true;
      }
      return schema_->At("properties").Has(name);
    default:
      return false;
  }
}

bool TypeRef::Flag(absl::string_view name) const {
  return schema_ != nullptr && schema_->GetBool(name);
}

bool TypeRef::open() const {
  switch (form_) {
    case Form::kMessage:
      return false;
    case Form::kSchema:
    case Form::kCustomRoot: {
      if (Flag("x-kubernetes-preserve-unknown-fields")) return true;
      const Value* rest = schema_->Find("additionalProperties");
      if (rest != nullptr) return rest->is_object() || (rest->is_bool() && rest->as_bool());
      return Flag("x-kubernetes-int-or-string") || schema_->GetString("type").empty();
    }
    default:
      return true;
  }
}

bool TypeRef::atomic_object() const {
  switch (form_) {
    case Form::kMessage:
      return message_->atomic ||
             (field_ != nullptr && field_->shape == Shape::kSingle && field_->atomic);
    case Form::kField:
      return field_->atomic;
    case Form::kSchema:
      return schema_->GetString("x-kubernetes-map-type") == "atomic";
    default:
      // Raw JSON inside a built-in kind.
      return form_ == Form::kUntyped && field_ != nullptr;
  }
}

ListKind TypeRef::list_kind() const {
  if (form_ == Form::kField) return field_->list_kind;
  if (schema_ == nullptr) return ListKind::kAtomic;
  const absl::string_view kind = schema_->GetString("x-kubernetes-list-type");
  if (kind == "map") return ListKind::kMap;
  return kind == "set" ? ListKind::kSet : ListKind::kAtomic;
}

std::vector<std::string> TypeRef::list_keys() const {
  if (form_ == Form::kField) return field_->list_keys;
  std::vector<std::string> keys;
  if (schema_ == nullptr) return keys;
  const Value& list = schema_->At("x-kubernetes-list-map-keys");
  if (!list.is_array()) return keys;
  for (const Value& key : list.as_array()) {
    if (key.is_string()) keys.push_back(key.as_string());
  }
  return keys;
}

Value TypeRef::KeyDefault(absl::string_view name) const {
  if (form_ == Form::kField) {
    const Field* key = field_->message == nullptr ? nullptr : field_->message->Find(name);
    if (key == nullptr || key->key_default.empty()) return Value();
    return Value(key->key_default);
  }
  if (schema_ == nullptr) return Value();
  return schema_->At("items").At("properties").At(name).At("default");
}

Scalar TypeRef::scalar() const {
  if (form_ == Form::kScalar) {
    if (field_ == nullptr) return Scalar::kString;  // apiVersion, kind
    switch (field_->type) {
      case Type::kString:
      case Type::kDuration:
      case Type::kBytes:
        return Scalar::kString;
      case Type::kBool:
        return Scalar::kBoolean;
      case Type::kInt32:
      case Type::kInt64:
      case Type::kDouble:
        return Scalar::kNumeric;
      default:
        return Scalar::kAny;
    }
  }
  if (form_ != Form::kSchema) return Scalar::kNone;
  if (Flag("x-kubernetes-int-or-string")) return Scalar::kAny;
  const absl::string_view type = schema_->GetString("type");
  if (type == "string") return Scalar::kString;
  if (type == "boolean") return Scalar::kBoolean;
  return type == "integer" || type == "number" ? Scalar::kNumeric : Scalar::kNone;
}

bool TypeRef::wants_object() const {
  if (form_ == Form::kMessage || form_ == Form::kCustomRoot) return true;
  if (form_ == Form::kField) return field_->shape == Shape::kMap;
  return form_ == Form::kSchema && schema_->GetString("type") == "object";
}

bool TypeRef::wants_list() const {
  if (form_ == Form::kField) return field_->shape == Shape::kList;
  return form_ == Form::kSchema && schema_->GetString("type") == "array";
}

Value TypeRef::Empty() const {
  if (form_ != Form::kMessage) return Value::MakeObject();
  auto empty = schema::Decode(*message_, Value::MakeObject());
  return empty.ok() ? *std::move(empty) : Value::MakeObject();
}

}  // namespace hekla::apiserver::apply
