#include "pkg/apis/ray/go_form.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apis/ray/go_shapes.h"

namespace hekla::apis::ray {
namespace {

using json::Value;

bool IsZero(const Value& v) {
  switch (v.kind()) {
    case Value::Kind::kNull:
      return true;
    case Value::Kind::kBool:
      return !v.as_bool();
    case Value::Kind::kInt:
      return v.as_int() == 0;
    case Value::Kind::kDouble:
      return v.as_double() == 0;
    case Value::Kind::kString:
      return v.as_string().empty();
    default:
      return v.size() == 0;
  }
}

Value Canonical(const Value& quantity) {
  const std::string text = quantity.is_string() ? quantity.as_string() : json::Dump(quantity);
  const absl::StatusOr<meta::Quantity> parsed = meta::Quantity::Parse(text);
  return parsed.ok() ? Value(parsed->ToString()) : quantity;
}

Value SortedMap(const Value& map, bool quantities) {
  Value out = Value::MakeObject();
  if (!map.is_object()) return out;
  std::vector<const json::Member*> members;
  for (const json::Member& m : map.as_object()) members.push_back(&m);
  std::sort(members.begin(), members.end(),
            [](const json::Member* a, const json::Member* b) { return a->key < b->key; });
  for (const json::Member* m : members) {
    out.Set(m->key, quantities ? Canonical(m->value) : m->value);
  }
  return out;
}

Value Shape(const GoStruct& shape, const Value& in);

Value ShapeList(const GoStruct& shape, const Value& in) {
  if (!in.is_array()) return in;
  Value out = Value::MakeArray();
  for (const Value& item : in.as_array()) out.Append(Shape(shape, item));
  return out;
}

void ShapeField(const GoField& field, const Value& in, Value& out) {
  switch (field.kind) {
    case GoField::Kind::kScalar:
      if (!IsZero(in)) out.Set(field.name, in);
      break;
    case GoField::Kind::kPointer:
      if (!in.is_null() || field.always) out.Set(field.name, in);
      break;
    case GoField::Kind::kText:
      out.Set(field.name, in.is_null() ? Value("") : in);
      break;
    case GoField::Kind::kNumber:
      out.Set(field.name, in.is_null() ? Value(0) : in);
      break;
    case GoField::Kind::kQuantity:
      if (!in.is_null()) {
        out.Set(field.name, Canonical(in));
      } else if (field.always) {
        out.Set(field.name, "0");
      }
      break;
    case GoField::Kind::kMap:
    case GoField::Kind::kResources:
      if (in.size() > 0 || field.always) {
        out.Set(field.name, SortedMap(in, field.kind == GoField::Kind::kResources));
      }
      break;
    case GoField::Kind::kScalars:
      if (in.size() > 0 || field.always) out.Set(field.name, in);
      break;
    case GoField::Kind::kStructs:
      if (in.size() > 0 || field.always) out.Set(field.name, ShapeList(*field.type, in));
      break;
    case GoField::Kind::kStruct:
      out.Set(field.name, Shape(*field.type, in));
      break;
    case GoField::Kind::kStructPointer:
      if (!in.is_null()) out.Set(field.name, Shape(*field.type, in));
      break;
  }
}

Value Shape(const GoStruct& shape, const Value& in) {
  Value out = Value::MakeObject();
  for (const GoField& field : shape.fields) ShapeField(field, in.At(field.name), out);
  return out;
}

void AppendQuoted(absl::string_view text, std::string& out) {
  out.push_back('"');
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '<':
      case '>':
      case '&':
        absl::StrAppendFormat(&out, "\\u%04x", c);
        break;
      default:
        if (c < 0x20) {
          absl::StrAppendFormat(&out, "\\u%04x", c);
        } else if (text.substr(i, 3) == "\xe2\x80\xa8" || text.substr(i, 3) == "\xe2\x80\xa9") {
          out += text[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
          i += 2;
        } else {
          out.push_back(text[i]);
        }
    }
  }
  out.push_back('"');
}

void AppendValue(const Value& v, std::string& out) {
  if (v.is_string()) {
    AppendQuoted(v.as_string(), out);
  } else if (v.is_array()) {
    out.push_back('[');
    bool first = true;
    for (const Value& item : v.as_array()) {
      if (!first) out.push_back(',');
      first = false;
      AppendValue(item, out);
    }
    out.push_back(']');
  } else if (v.is_object()) {
    out.push_back('{');
    bool first = true;
    for (const json::Member& m : v.as_object()) {
      if (!first) out.push_back(',');
      first = false;
      AppendQuoted(m.key, out);
      out.push_back(':');
      AppendValue(m.value, out);
    }
    out.push_back('}');
  } else {
    json::DumpTo(v, out);
  }
}

using Digest = std::array<uint8_t, SHA_DIGEST_LENGTH>;

Digest Sha1(const std::string& text) {
  Digest out;
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), out.data());
  return out;
}

// 20 bytes are 32 digits of five bits exactly: no padding.
std::string Base32Hex(const Digest& digest) {
  constexpr absl::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUV";
  std::string out;
  uint32_t pending = 0;
  int bits = 0;
  for (uint8_t byte : digest) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      out.push_back(kDigits[(pending >> bits) & 31]);
    }
  }
  return out;
}

// What may change without a restart.
void DropMutablePodFields(Value& group) {
  if (Value* spec = group.FindPath({"template", "spec"})) {
    spec->Remove("tolerations");
    spec->Remove("schedulingGates");
  }
}

}  // namespace

Value GoSpec(const Value& spec) { return Shape(*GoShapes::Get().Find("RayClusterSpec"), spec); }

Value GoObject(const Value& cluster) {
  Value out = cluster;
  out.Set("spec", GoSpec(cluster.At("spec")));
  return out;
}

Value GoTemplates(const RayCluster& cluster) {
  const GoStruct& shape = *GoShapes::Get().Find("PodTemplateSpec");
  Value out = Value::MakeArray({Shape(shape, cluster.spec.head.pod_template)});
  for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
    out.Append(Shape(shape, group.pod_template));
  }
  return out;
}

std::string GoDump(const Value& value) {
  std::string out;
  AppendValue(value, out);
  return out;
}

std::string UpgradeHash(const Value& spec) {
  Value form = GoSpec(spec);
  form.Remove("upgradeStrategy");
  if (Value* head = form.Find("headGroupSpec")) DropMutablePodFields(*head);
  Value* groups = form.Find("workerGroupSpecs");
  if (groups != nullptr && groups->is_array()) {
    for (Value& group : groups->as_array()) {
      DropMutablePodFields(group);
      group.Remove("replicas");
      group.Set("minReplicas", nullptr);
      group.Set("maxReplicas", nullptr);
      if (Value* strategy = group.Find("scaleStrategy")) strategy->Remove("workersToDelete");
    }
  }
  return Base32Hex(Sha1(GoDump(form)));
}

}  // namespace hekla::apis::ray
