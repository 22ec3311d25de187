#include "pkg/apiserver/protobuf/protobuf.h"

#include <cstring>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "pkg/apiserver/protobuf/wire.h"
#include "pkg/apiserver/schema/schema.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver::protobuf {
namespace {

using apis::json::Value;
using schema::Field;
using schema::Message;
using schema::Shape;
using schema::Type;

constexpr absl::string_view kMagic("k8s\0", 4);
constexpr int kMaxDepth = 100;

absl::Status Broken(absl::string_view where) {
  return absl::InvalidArgumentError(absl::StrCat("malformed protobuf body: ", where));
}

const Message* FindKind(absl::string_view api_version, absl::string_view kind) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(api_version, absl::MaxSplits('/', 1));
  return parts.second.empty() ? schema::FindKind("", parts.first, kind)
                              : schema::FindKind(parts.first, parts.second, kind);
}

// The first field `number` of a small message; nullopt-like empty view where there is none.
struct Small {
  uint64_t varint = 0;
  absl::string_view bytes;
  bool found = false;
};
absl::StatusOr<Small> Pick(absl::string_view raw, uint32_t number) {
  Small out;
  WireReader reader(raw);
  while (reader.Next()) {
    if (reader.number() != number) continue;
    out = {reader.varint(), reader.bytes(), true};
  }
  if (!reader.ok()) return Broken("nested value");
  return out;
}

absl::StatusOr<Value> DecodeTime(absl::string_view raw, bool micro) {
  if (raw.empty()) return Value();
  HEKLA_ASSIGN_OR_RETURN(const Small seconds, Pick(raw, 1));
  HEKLA_ASSIGN_OR_RETURN(const Small nanos, Pick(raw, 2));
  const absl::Time time = absl::FromUnixSeconds(static_cast<int64_t>(seconds.varint)) +
                          absl::Nanoseconds(static_cast<int64_t>(nanos.varint));
  return Value(absl::FormatTime(micro ? "%E4Y-%m-%dT%H:%M:%E6SZ" : "%E4Y-%m-%dT%H:%M:%SZ", time,
                                absl::UTCTimeZone()));
}

absl::StatusOr<Value> DecodeIntOrString(absl::string_view raw) {
  HEKLA_ASSIGN_OR_RETURN(const Small type, Pick(raw, 1));
  HEKLA_ASSIGN_OR_RETURN(const Small number, Pick(raw, 2));
  HEKLA_ASSIGN_OR_RETURN(const Small text, Pick(raw, 3));
  if (type.varint == 1) return Value(text.bytes);
  return Value(static_cast<int64_t>(static_cast<int32_t>(number.varint)));
}

class Decoder {
 public:
  absl::Status Into(const Message& message, absl::string_view raw, int depth, Value& out) {
    if (depth > kMaxDepth) return Broken("nested too deeply");
    WireReader reader(raw);
    while (reader.Next()) {
      const Field* field = message.FindNumber(reader.number());
      if (field == nullptr) continue;
      if (field->inlined) {
        HEKLA_RETURN_IF_ERROR(Into(*field->message, reader.bytes(), depth + 1, out));
        continue;
      }
      if (field->shape == Shape::kMap) {
        HEKLA_RETURN_IF_ERROR(MapEntry(*field, reader.bytes(), depth, out[field->name]));
        continue;
      }
      HEKLA_ASSIGN_OR_RETURN(Value value, One(message, *field, reader, depth));
      if (field->shape == Shape::kList) {
        out[field->name].Append(std::move(value));
      } else if (Value* had = out.Find(field->name);
                 had != nullptr && field->type == Type::kMessage && had->is_object()) {
        // A message field that is repeated continues the one before it.
        for (auto& member : value.as_object()) had->Set(member.key, std::move(member.value));
      } else {
        out.Set(field->name, std::move(value));
      }
    }
    return reader.ok() ? absl::OkStatus() : Broken(message.name);
  }

 private:
  absl::Status MapEntry(const Field& field, absl::string_view raw, int depth, Value& map) {
    if (map.is_null()) map = Value::MakeObject();
    WireReader reader(raw);
    std::string key;
    Value value = field.type == Type::kString ? Value("") : Value();
    while (reader.Next()) {
      if (reader.number() == 1) key = std::string(reader.bytes());
      if (reader.number() != 2) continue;
      if (field.type == Type::kAny) {
        HEKLA_ASSIGN_OR_RETURN(value, Strings(reader.bytes()));
      } else {
        static const Message none;
        HEKLA_ASSIGN_OR_RETURN(value, One(none, field, reader, depth));
      }
    }
    if (!reader.ok()) return Broken(field.name);
    map.Set(key, std::move(value));
    return absl::OkStatus();
  }

  // A named list of strings: a message of its own on the wire.
  static absl::StatusOr<Value> Strings(absl::string_view raw) {
    Value out = Value::MakeArray();
    WireReader reader(raw);
    while (reader.Next()) {
      if (reader.number() == 1) out.Append(Value(reader.bytes()));
    }
    if (!reader.ok()) return Broken("list of strings");
    return out;
  }

  absl::StatusOr<Value> One(const Message& message, const Field& field, const WireReader& reader,
                            int depth) {
    switch (field.type) {
      case Type::kString:
        return Value(reader.bytes());
      case Type::kBool:
        return Value(reader.varint() != 0);
      case Type::kInt32:
        return Value(static_cast<int64_t>(static_cast<int32_t>(reader.varint())));
      case Type::kInt64:
        return Value(static_cast<int64_t>(reader.varint()));
      case Type::kDouble: {
        double number = 0;
        const uint64_t bits = reader.varint();
        std::memcpy(&number, &bits, sizeof(number));
        return Value(number);
      }
      case Type::kBytes:
        return Value(absl::Base64Escape(reader.bytes()));
      case Type::kTime:
      case Type::kMicroTime:
        return DecodeTime(reader.bytes(), field.type == Type::kMicroTime);
      case Type::kDuration: {
        HEKLA_ASSIGN_OR_RETURN(const Small nanos, Pick(reader.bytes(), 1));
        return Value(absl::FormatDuration(absl::Nanoseconds(static_cast<int64_t>(nanos.varint))));
      }
      case Type::kQuantity: {
        HEKLA_ASSIGN_OR_RETURN(const Small text, Pick(reader.bytes(), 1));
        return Value(text.bytes.empty() ? "0" : text.bytes);
      }
      case Type::kIntOrString:
        return DecodeIntOrString(reader.bytes());
      case Type::kAny:
        return Any(message, field, reader.bytes(), depth);
      case Type::kMessage: {
        Value out = Value::MakeObject();
        HEKLA_RETURN_IF_ERROR(Into(*field.message, reader.bytes(), depth + 1, out));
        return out;
      }
    }
    return Value();
  }

  // Raw JSON in field 1, except for the choices inside a CRD's schema.
  absl::StatusOr<Value> Any(const Message& message, const Field& field, absl::string_view raw,
                            int depth) {
    const bool in_schema = message.name == "apiextensions.JSONSchemaProps";
    if (in_schema && field.name == "items") return SchemaChoice(message, raw, 1, depth);
    if (in_schema && (field.name == "additionalProperties" || field.name == "additionalItems")) {
      HEKLA_ASSIGN_OR_RETURN(const Small below, Pick(raw, 2));
      if (below.found) return SchemaChoice(message, raw, 2, depth);
      HEKLA_ASSIGN_OR_RETURN(const Small allows, Pick(raw, 1));
      return Value(allows.varint != 0);
    }
    HEKLA_ASSIGN_OR_RETURN(const Small json, Pick(raw, 1));
    if (json.bytes.empty()) return Value();
    auto value = apis::json::Parse(json.bytes);
    if (!value.ok()) return Broken(field.name);
    return value;
  }

  absl::StatusOr<Value> SchemaChoice(const Message& message, absl::string_view raw, uint32_t number,
                                     int depth) {
    HEKLA_ASSIGN_OR_RETURN(const Small below, Pick(raw, number));
    Value out = Value::MakeObject();
    HEKLA_RETURN_IF_ERROR(Into(message, below.bytes, depth + 1, out));
    return out;
  }
};

class Encoder {
 public:
  absl::Status Object(const Message& message, const Value& value, std::string& out) {
    for (const Field& field : message.fields) {
      if (field.number == 0) continue;  // part of an inlined message
      const Value* member = value.Find(field.name);
      if (member == nullptr || member->is_null()) continue;
      HEKLA_RETURN_IF_ERROR(Whole(field, *member, out));
    }
    for (const Field& field : message.inlined) {
      std::string inner;
      HEKLA_RETURN_IF_ERROR(Object(*field.message, value, inner));
      PutBytesField(field.number, inner, out);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Whole(const Field& field, const Value& value, std::string& out) {
    if (field.shape == Shape::kSingle) return One(field, field.number, value, out);
    if (field.shape == Shape::kList) {
      if (!value.is_array()) return Broken(field.name);
      for (const Value& item : value.as_array()) {
        HEKLA_RETURN_IF_ERROR(One(field, field.number, item, out));
      }
      return absl::OkStatus();
    }
    if (!value.is_object()) return Broken(field.name);
    for (const auto& member : value.as_object()) {
      std::string entry;
      PutBytesField(1, member.key, entry);
      HEKLA_RETURN_IF_ERROR(One(field, 2, member.value, entry));
      PutBytesField(field.number, entry, out);
    }
    return absl::OkStatus();
  }

  absl::Status One(const Field& field, uint32_t number, const Value& value, std::string& out) {
    switch (field.type) {
      case Type::kString:
        if (!value.is_string()) return Broken(field.name);
        PutBytesField(number, value.as_string(), out);
        return absl::OkStatus();
      case Type::kBool:
        if (!value.is_bool()) return Broken(field.name);
        PutVarintField(number, value.as_bool() ? 1 : 0, out);
        return absl::OkStatus();
      case Type::kInt32:
      case Type::kInt64:
        if (!value.is_int()) return Broken(field.name);
        PutVarintField(number, static_cast<uint64_t>(value.as_int()), out);
        return absl::OkStatus();
      case Type::kDouble: {
        if (!value.is_number()) return Broken(field.name);
        const double d = value.as_double();
        uint64_t bits = 0;
        std::memcpy(&bits, &d, sizeof(bits));
        PutFixed64Field(number, bits, out);
        return absl::OkStatus();
      }
      case Type::kBytes: {
        std::string bytes;
        if (!value.is_string() || !absl::Base64Unescape(value.as_string(), &bytes)) {
          return Broken(field.name);
        }
        PutBytesField(number, bytes, out);
        return absl::OkStatus();
      }
      default:
        return Nested(field, number, value, out);
    }
  }

  // Types that are messages on the wire.
  absl::Status Nested(const Field& field, uint32_t number, const Value& value, std::string& out) {
    std::string inner;
    switch (field.type) {
      case Type::kTime:
      case Type::kMicroTime:
        HEKLA_RETURN_IF_ERROR(Time(field, value, inner));
        break;
      case Type::kQuantity:
        if (!value.is_string()) return Broken(field.name);
        PutBytesField(1, value.as_string(), inner);
        break;
      case Type::kIntOrString:
        PutVarintField(1, value.is_string() ? 1 : 0, inner);
        PutVarintField(2, value.is_int() ? static_cast<uint64_t>(value.as_int()) : 0, inner);
        PutBytesField(3, value.is_string() ? value.as_string() : "", inner);
        break;
      case Type::kDuration: {
        absl::Duration duration;
        if (!value.is_string() || !absl::ParseDuration(value.as_string(), &duration)) {
          return Broken(field.name);
        }
        PutVarintField(1, static_cast<uint64_t>(absl::ToInt64Nanoseconds(duration)), inner);
        break;
      }
      case Type::kAny:
        PutBytesField(1, apis::json::Dump(value), inner);
        break;
      default:
        if (!value.is_object()) return Broken(field.name);
        HEKLA_RETURN_IF_ERROR(Object(*field.message, value, inner));
    }
    PutBytesField(number, inner, out);
    return absl::OkStatus();
  }

  static absl::Status Time(const Field& field, const Value& value, std::string& inner) {
    absl::Time time;
    if (!value.is_string() ||
        !absl::ParseTime(absl::RFC3339_full, value.as_string(), &time, nullptr)) {
      return Broken(field.name);
    }
    const int64_t seconds = absl::ToUnixSeconds(time);
    const int64_t nanos = absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds));
    PutVarintField(1, static_cast<uint64_t>(seconds), inner);
    PutVarintField(2, static_cast<uint64_t>(nanos), inner);
    return absl::OkStatus();
  }
};

}  // namespace

bool HasMagic(absl::string_view body) { return body.substr(0, kMagic.size()) == kMagic; }

absl::StatusOr<Value> Decode(absl::string_view body, absl::string_view default_api_version,
                             absl::string_view default_kind) {
  if (!HasMagic(body)) return Broken("it does not start with the magic number");
  std::string api_version(default_api_version), kind(default_kind);
  absl::string_view raw;
  WireReader reader(body.substr(kMagic.size()));
  while (reader.Next()) {
    if (reader.number() == 1) {
      HEKLA_ASSIGN_OR_RETURN(const Small given_version, Pick(reader.bytes(), 1));
      HEKLA_ASSIGN_OR_RETURN(const Small given_kind, Pick(reader.bytes(), 2));
      if (!given_version.bytes.empty()) api_version = std::string(given_version.bytes);
      if (!given_kind.bytes.empty()) kind = std::string(given_kind.bytes);
    } else if (reader.number() == 2) {
      raw = reader.bytes();
    } else if (reader.number() == 3 && !reader.bytes().empty()) {
      return Broken("content encodings are not supported");
    }
  }
  if (!reader.ok()) return Broken("envelope");
  const Message* message = FindKind(api_version, kind);
  if (message == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("no kind \"", kind, "\" is registered for version \"", api_version, "\""));
  }
  Value out = Value::MakeObject({{"kind", kind}, {"apiVersion", api_version}});
  HEKLA_RETURN_IF_ERROR(Decoder().Into(*message, raw, 0, out));
  return out;
}

absl::StatusOr<std::string> Encode(const Value& object) {
  const absl::string_view api_version = object.GetString("apiVersion");
  const absl::string_view kind = object.GetString("kind");
  const Message* message = FindKind(api_version, kind);
  if (message == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat("no kind \"", kind, "\" is registered for version \"", api_version, "\""));
  }
  std::string raw, meta, out(kMagic);
  HEKLA_RETURN_IF_ERROR(Encoder().Object(*message, object, raw));
  PutBytesField(1, api_version, meta);
  PutBytesField(2, kind, meta);
  PutBytesField(1, meta, out);
  PutBytesField(2, raw, out);
  PutBytesField(3, "", out);
  PutBytesField(4, "", out);
  return out;
}

}  // namespace hekla::apiserver::protobuf
