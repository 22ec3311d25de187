#include "pkg/apiserver/schema/decode.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "pkg/util/status_macros.h"

namespace hekla::apiserver::schema {
namespace {

using apis::json::Member;
using apis::json::Value;

// Go's decoder gives up on deeper values.
constexpr int kMaxDepth = 200;

// A time as "2026-01-02T03:04:05Z". Errors: as Go's time.Parse words the commonest of them.
absl::StatusOr<std::string> CanonicalTime(const std::string& text, bool micro) {
  absl::Time time;
  std::string error;
  const char* layout = micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
  const bool has_fraction = text.size() > 19 && text[19] == '.';
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error) || text.empty() ||
      !absl::ascii_isdigit(text[0])) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "parsing time \"%s\" as \"%s\": cannot parse \"%s\" as \"2006\"", text, layout, text));
  }
  if (micro && !has_fraction) {
    return absl::InvalidArgumentError(
        absl::StrFormat("parsing time \"%s\" as \"%s\": cannot parse \"%s\" as \".000000\"", text,
                        layout, text.size() > 19 ? text.substr(19) : ""));
  }
  return absl::FormatTime(micro ? "%E4Y-%m-%dT%H:%M:%E6SZ" : "%E4Y-%m-%dT%H:%M:%SZ", time,
                          absl::UTCTimeZone());
}

absl::Status CheckBase64(const std::string& text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n' || c == '\r') continue;
    const bool good = absl::ascii_isalnum(c) || c == '+' || c == '/' ||
                      (c == '=' && i + 2 >= text.size() && count % 4 >= 2);
    if (!good) {
      return absl::InvalidArgumentError(absl::StrCat("illegal base64 data at input byte ", i));
    }
    ++count;
  }
  if (count % 4 != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("illegal base64 data at input byte ", text.size() / 4 * 4));
  }
  return absl::OkStatus();
}

// Where in the object the decoder is: for error texts and the paths of unknown fields.
struct Place {
  const Place* up = nullptr;
  absl::string_view name;  // member; empty for a list item
  int64_t index = -1;
  int depth = 0;
  absl::string_view inlined_from = "";  // errors name the inlined message, too

  std::string Path(bool with_index) const {
    std::vector<const Place*> chain;
    for (const Place* p = this; p != nullptr && p->up != nullptr; p = p->up) chain.push_back(p);
    std::string out;
    for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
      if ((*it)->index >= 0) {
        if (with_index) absl::StrAppend(&out, "[", (*it)->index, "]");
        continue;
      }
      const absl::string_view from = with_index ? "" : (*it)->inlined_from;
      absl::StrAppend(&out, out.empty() ? "" : ".", from, from.empty() ? "" : ".", (*it)->name);
    }
    return out;
  }
};

class Decoder {
 public:
  explicit Decoder(std::vector<std::string>* unknown) : unknown_(unknown) {}

  // What was found wrong without ending the walk, the first in the order of the text; OK if
  // nothing.
  const absl::Status& soft() const { return soft_; }

  absl::StatusOr<Value> Object(const Message& message, const Value& value, const Place& place) {
    if (place.depth > kMaxDepth) return absl::InvalidArgumentError("exceeded max depth");
    struct Slot {
      bool given = false;
      Value value;
    };
    absl::InlinedVector<Slot, 32> slots(message.fields.size());
    Value out = Value::MakeObject();
    for (const Member& member : value.as_object()) {
      const Field* field = message.Find(member.key);
      if (field == nullptr) {
        Unplaced(message, member, place, out);
        continue;
      }
      Slot& slot = slots[field - message.fields.data()];
      slot.given = !member.value.is_null();
      if (!slot.given) continue;
      const Place here{&place, field->name, -1, place.depth + 1, field->inlined_from};
      HEKLA_ASSIGN_OR_RETURN(slot.value, Whole(message, *field, member.value, here));
    }
    if (!soft_.ok()) return out;  // the result does not matter any more
    out.as_object().reserve(out.size() + value.size() + 1);
    for (size_t i = 0; i < slots.size(); ++i) {
      const Field& field = message.fields[i];
      Slot& slot = slots[i];
      if (!slot.given) {
        if (field.presence == Presence::kAlways) out.Set(field.name, Zero(field));
        if (field.presence == Presence::kNullable) out.Set(field.name, Value());
        continue;
      }
      if (field.presence == Presence::kOmitEmpty && IsZero(field, slot.value)) continue;
      out.as_object().push_back({field.name, std::move(slot.value)});
    }
    return out;
  }

  static Value Zero(const Field& field) {
    if (field.shape != Shape::kSingle) return Value();
    switch (field.type) {
      case Type::kString:
      case Type::kDuration:
        return Value("");
      case Type::kBool:
        return Value(false);
      case Type::kInt32:
      case Type::kInt64:
      case Type::kIntOrString:
      case Type::kDouble:
        return Value(0);
      case Type::kQuantity:
        return Value("0");
      case Type::kBytes:
      case Type::kTime:
      case Type::kMicroTime:
      case Type::kAny:
        return Value();
      case Type::kMessage:
        return ZeroMessage(*field.message);
    }
    return Value();
  }

 private:
  static Value ZeroMessage(const Message& message) {
    Value out = Value::MakeObject();
    for (const Field& field : message.fields) {
      if (field.presence == Presence::kAlways) out.Set(field.name, Zero(field));
      if (field.presence == Presence::kNullable) out.Set(field.name, Value());
    }
    return out;
  }

  // A member that the message has no field for: apiVersion and kind of kinds, else unknown.
  void Unplaced(const Message& message, const Member& member, const Place& place, Value& out) {
    const Place here{&place, member.key, -1, 0};
    if (message.is_kind && (member.key == "apiVersion" || member.key == "kind")) {
      if (member.value.is_null()) return;
      if (!member.value.is_string()) {
        Soft(Mismatch(message, member.value, here, "string"));
      } else if (!member.value.as_string().empty()) {
        out.Set(member.key, member.value);
      }
      return;
    }
    if (unknown_ != nullptr) unknown_->push_back(here.Path(true));
  }

  // Go's decoder remembers the first of these and goes on.
  Value Soft(absl::Status error) {
    if (soft_.ok()) soft_ = std::move(error);
    return Value();
  }

  static bool IsZero(const Field& field, const Value& decoded) {
    if (field.shape != Shape::kSingle) return decoded.size() == 0;
    switch (field.type) {
      case Type::kString:
      case Type::kDuration:
      case Type::kBytes:
        return decoded.as_string().empty();
      case Type::kBool:
        return !decoded.as_bool();
      case Type::kInt32:
      case Type::kInt64:
      case Type::kDouble:
        return decoded.as_double() == 0;
      case Type::kMessage:
        return decoded == ZeroMessage(*field.message);
      default:
        return decoded.is_null();
    }
  }

  absl::Status Mismatch(const Message& message, const Value& value, const Place& place,
                        absl::string_view type, absl::string_view literal = "") const {
    const std::string what = literal.empty() ? GoKind(value) : absl::StrCat("number ", literal);
    return absl::InvalidArgumentError(absl::StrCat("json: cannot unmarshal ", what,
                                                   " into Go struct field ", message.go_name(), ".",
                                                   place.Path(false), " of type ", type));
  }

  static absl::string_view ItemType(const Field& field) {
    absl::string_view type = field.go_type;
    const absl::string_view prefix = field.shape == Shape::kList ? "[]" : "map[string]";
    if (absl::StartsWith(type, prefix)) return type.substr(prefix.size());
    return type;
  }

  // The whole member: one value, a list or a map of them.
  absl::StatusOr<Value> Whole(const Message& message, const Field& field, const Value& value,
                              const Place& place) {
    if (field.shape == Shape::kSingle) {
      return One(message, field, value, place, field.go_type);
    }
    if (field.shape == Shape::kList) {
      if (!value.is_array()) return Soft(Mismatch(message, value, place, field.go_type));
      Value out = Value::MakeArray();
      out.as_array().reserve(value.as_array().size());
      int64_t index = 0;
      for (const Value& item : value.as_array()) {
        const Place here{&place, "", index++, place.depth + 1};
        if (item.is_null()) {
          out.Append(ItemZero(field));
          continue;
        }
        HEKLA_ASSIGN_OR_RETURN(Value decoded, One(message, field, item, here, ItemType(field)));
        out.as_array().push_back(std::move(decoded));
      }
      return out;
    }
    if (!value.is_object()) return Soft(Mismatch(message, value, place, field.go_type));
    Value out = Value::MakeObject();
    out.as_object().reserve(value.as_object().size());
    for (const Member& member : value.as_object()) {
      const Place here{&place, member.key, -1, place.depth + 1};
      Value decoded;
      if (member.value.is_null()) {
        decoded = ItemZero(field);
      } else {
        HEKLA_ASSIGN_OR_RETURN(decoded, One(message, field, member.value, here, ItemType(field)));
      }
      out.as_object().push_back({member.key, std::move(decoded)});
    }
    std::sort(out.as_object().begin(), out.as_object().end(),
              [](const Member& a, const Member& b) { return a.key < b.key; });
    return out;
  }

  static Value ItemZero(const Field& field) {
    Field item = field;
    item.shape = Shape::kSingle;
    return Zero(item);
  }

  // One value. In maps the error names the field, not the key, as Go does.
  absl::StatusOr<Value> One(const Message& message, const Field& field, const Value& value,
                            const Place& place, absl::string_view type) {
    const Place& named = field.shape == Shape::kMap ? *place.up : place;
    switch (field.type) {
      case Type::kString:
        if (!value.is_string()) return Soft(Mismatch(message, value, named, type));
        return value;
      case Type::kBool:
        if (!value.is_bool()) return Soft(Mismatch(message, value, named, type));
        return value;
      case Type::kInt32:
      case Type::kInt64:
        if (auto number = Integer(message, field, value, named, type); number.ok()) {
          return number;
        } else {
          return Soft(number.status());
        }
      case Type::kDouble:
        if (!value.is_number()) return Soft(Mismatch(message, value, named, type));
        return value;
      case Type::kBytes:
        if (!value.is_string()) return Soft(Mismatch(message, value, named, type));
        if (absl::Status status = CheckBase64(value.as_string()); !status.ok()) {
          return Soft(std::move(status));
        }
        return value;
      case Type::kTime:
      case Type::kMicroTime: {
        if (!value.is_string()) return Mismatch(message, value, named, "string");
        HEKLA_ASSIGN_OR_RETURN(std::string text,
                               CanonicalTime(value.as_string(), field.type == Type::kMicroTime));
        return Value(std::move(text));
      }
      case Type::kDuration:
        if (!value.is_string()) return Soft(Mismatch(message, value, named, "string"));
        return value;
      case Type::kQuantity: {
        HEKLA_ASSIGN_OR_RETURN(
            std::string text,
            CanonicalQuantity(value.is_string() ? absl::StripAsciiWhitespace(value.as_string())
                                                : absl::string_view(apis::json::Dump(value))));
        return Value(std::move(text));
      }
      case Type::kIntOrString:
        if (value.is_string()) return value;
        return Integer(message, field, value, named, "int32");
      case Type::kAny:
        return value;
      case Type::kMessage:
        if (!value.is_object()) return Soft(Mismatch(message, value, named, type));
        return Object(*field.message, value, place);
    }
    return value;
  }

  // Errors are for the caller to take as soft or hard.
  absl::StatusOr<Value> Integer(const Message& message, const Field& field, const Value& value,
                                const Place& place, absl::string_view type) {
    if (!value.is_number()) return Mismatch(message, value, place, type);
    int64_t number = 0;
    if (value.is_int()) {
      number = value.as_int();
    } else {
      const double d = value.as_double();
      if (d != std::floor(d) || std::fabs(d) > 9e18) {
        return Mismatch(message, value, place, type, apis::json::Dump(value));
      }
      number = static_cast<int64_t>(d);
    }
    if (field.type != Type::kInt64 && (number > std::numeric_limits<int32_t>::max() ||
                                       number < std::numeric_limits<int32_t>::min())) {
      return Mismatch(message, value, place, type, apis::json::Dump(value));
    }
    return Value(number);
  }

  absl::Status soft_;
  std::vector<std::string>* unknown_;
};

absl::StatusOr<Value> Finish(std::vector<std::string>* unknown, const Message& message,
                             const Value& value, const Place& place) {
  Decoder decoder(unknown);
  absl::StatusOr<Value> out = decoder.Object(message, value, place);
  if (out.ok() && !decoder.soft().ok()) return decoder.soft();
  return out;
}

}  // namespace

std::string GoKind(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return "bool";
    case Value::Kind::kInt:
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

absl::StatusOr<Value> Decode(const Message& message, const Value& object,
                             std::vector<std::string>* unknown_fields) {
  if (!object.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat("json: cannot unmarshal ", GoKind(object),
                                                   " into Go value of type v1.",
                                                   message.go_name()));
  }
  return Finish(unknown_fields, message, object, Place());
}

absl::StatusOr<Value> DecodeObjectMeta(const Value& metadata,
                                       std::vector<std::string>* unknown_fields) {
  static const Message& message = *FindMessage("ObjectMeta");
  if (metadata.is_null()) return Value::MakeObject();
  if (!metadata.is_object()) {
    return absl::InvalidArgumentError(
        absl::StrCat("json: cannot unmarshal ", GoKind(metadata),
                     " into Go struct field .metadata of type v1.ObjectMeta"));
  }
  return Finish(unknown_fields, message, metadata, Place());
}

std::vector<std::string> StrictWarnings(const std::vector<std::string>& unknown_fields,
                                        const std::vector<std::string>& duplicate_fields) {
  std::vector<std::string> out;
  for (const std::string& path : duplicate_fields) {
    out.push_back(absl::StrCat("duplicate field \"", path, "\""));
  }
  for (const std::string& path : unknown_fields) {
    out.push_back(absl::StrCat("unknown field \"", path, "\""));
  }
  return out;
}

std::string StrictDecodingError(const std::vector<std::string>& unknown_fields,
                                const std::vector<std::string>& duplicate_fields) {
  return absl::StrCat("strict decoding error: ",
                      absl::StrJoin(StrictWarnings(unknown_fields, duplicate_fields), ", "));
}

}  // namespace hekla::apiserver::schema
