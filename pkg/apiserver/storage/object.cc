#include "pkg/apiserver/storage/object.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace hekla::apiserver::storage {
namespace {

using apis::json::Member;
using apis::json::Value;

constexpr absl::string_view kMetadataOpen = "\"metadata\":{\"resourceVersion\":\"";

// Packed lists: each text followed by a zero byte.
void Pack(std::string& out, absl::string_view text) {
  out.append(text.data(), text.size());
  out.push_back('\0');
}

absl::string_view Unpack(absl::string_view& rest) {
  const size_t end = rest.find('\0');
  absl::string_view item = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  return item;
}

std::string FieldText(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kString:
      return value.as_string();
    case Value::Kind::kBool:
      return value.as_bool() ? "true" : "false";
    case Value::Kind::kInt:
      return absl::StrCat(value.as_int());
    default:
      return "";
  }
}

std::string SelectedField(const Value& object, const SelectableField& field) {
  const Value* at = &object;
  for (const std::string& step : field.path) {
    at = at->Find(step);
    if (at == nullptr) return field.fallback;
  }
  return at->is_null() ? field.fallback : FieldText(*at);
}

void WriteMember(const Member& m, std::string& out) {
  out += ',';
  out += apis::json::Quote(m.key);
  out += ':';
  apis::json::DumpTo(m.value, out);
}

}  // namespace

absl::string_view EventTypeName(EventType type) {
  switch (type) {
    case EventType::kAdded:
      return "ADDED";
    case EventType::kModified:
      return "MODIFIED";
    case EventType::kDeleted:
      return "DELETED";
  }
  return "";
}

EncodedObject Encode(const Value& object, const std::vector<SelectableField>& fields) {
  const Value& metadata = object.At("metadata");
  const absl::string_view ns = metadata.GetString("namespace");
  EncodedObject out;
  out.key = ns.empty() ? std::string(metadata.GetString("name"))
                       : absl::StrCat(ns, "/", metadata.GetString("name"));
  out.uid = std::string(metadata.GetString("uid"));
  out.head =
      absl::StrCat("{\"kind\":", apis::json::Quote(object.GetString("kind")),
                   ",\"apiVersion\":", apis::json::Quote(object.GetString("apiVersion")), ",");
  out.tail = "\"";
  if (metadata.is_object()) {
    for (const Member& m : metadata.as_object()) {
      if (m.key != "resourceVersion") WriteMember(m, out.tail);
    }
  }
  out.tail += '}';
  for (const Member& m : object.as_object()) {
    if (m.key != "kind" && m.key != "apiVersion" && m.key != "metadata") WriteMember(m, out.tail);
  }
  out.tail += '}';
  if (const Value& labels = metadata.At("labels"); labels.is_object()) {
    for (const Member& m : labels.as_object()) {
      Pack(out.labels, m.key);
      Pack(out.labels, m.value.is_string() ? m.value.as_string() : "");
    }
  }
  for (const SelectableField& field : fields) Pack(out.fields, SelectedField(object, field));
  if (const Value& owners = metadata.At("ownerReferences"); owners.is_array()) {
    for (const Value& owner : owners.as_array()) {
      out.owner_uids.emplace_back(owner.GetString("uid"));
    }
  }
  return out;
}

StoredObject::StoredObject(EncodedObject encoded, int64_t resource_version, EventType type,
                           int64_t write_time_seconds)
    : key_(std::move(encoded.key)),
      uid_(std::move(encoded.uid)),
      labels_(std::move(encoded.labels)),
      fields_(std::move(encoded.fields)),
      owner_uids_(std::move(encoded.owner_uids)),
      resource_version_(resource_version),
      write_time_seconds_(write_time_seconds),
      type_(type) {
  labels_.shrink_to_fit();
  fields_.shrink_to_fit();
  BuildFrame(encoded.head, encoded.tail);
}

StoredObject::StoredObject(const StoredObject& other, int64_t resource_version, EventType type)
    : key_(other.key_),
      uid_(other.uid_),
      labels_(other.labels_),
      fields_(other.fields_),
      owner_uids_(other.owner_uids_),
      resource_version_(resource_version),
      write_time_seconds_(other.write_time_seconds_),
      type_(type) {
  const absl::string_view old = other.frame_;
  const absl::string_view head = old.substr(other.json_begin_, other.head_end_ - other.json_begin_);
  absl::string_view tail = old.substr(other.head_end_ + kMetadataOpen.size());
  tail.remove_prefix(tail.find('"'));
  tail.remove_suffix(2);
  BuildFrame(head, tail);
}

void StoredObject::BuildFrame(absl::string_view head, absl::string_view tail) {
  const absl::string_view type = EventTypeName(type_);
  const absl::AlphaNum version(resource_version_);
  frame_ = absl::StrCat("{\"type\":\"", type, "\",\"object\":", head,
                        absl::StrCat(kMetadataOpen, version, tail, "}\n"));
  json_begin_ = static_cast<uint32_t>(type.size() + 20);
  head_end_ = static_cast<uint32_t>(json_begin_ + head.size());
}

absl::string_view StoredObject::ns() const {
  const size_t slash = key_.find('/');
  return slash == std::string::npos ? absl::string_view()
                                    : absl::string_view(key_).substr(0, slash);
}

absl::string_view StoredObject::name() const {
  const size_t slash = key_.find('/');
  return slash == std::string::npos ? absl::string_view(key_)
                                    : absl::string_view(key_).substr(slash + 1);
}

absl::string_view StoredObject::json() const {
  return absl::string_view(frame_).substr(json_begin_, frame_.size() - json_begin_ - 2);
}

absl::string_view StoredObject::json_without_kind() const {
  return absl::string_view(frame_).substr(head_end_, frame_.size() - head_end_ - 2);
}

Value StoredObject::Parse() const {
  auto value = apis::json::Parse(json());
  CHECK(value.ok()) << value.status();
  return *std::move(value);
}

std::optional<absl::string_view> StoredObject::Label(absl::string_view key) const {
  absl::string_view rest = labels_;
  while (!rest.empty()) {
    const absl::string_view k = Unpack(rest);
    const absl::string_view v = Unpack(rest);
    if (k == key) return v;
  }
  return std::nullopt;
}

absl::string_view StoredObject::Field(size_t index) const {
  absl::string_view rest = fields_;
  while (!rest.empty()) {
    const absl::string_view value = Unpack(rest);
    if (index-- == 0) return value;
  }
  return {};
}

std::string MakeFrame(absl::string_view type, absl::string_view json) {
  return absl::StrCat("{\"type\":\"", type, "\",\"object\":", json, "}\n");
}

std::string MakeFrame(EventType type, absl::string_view json) {
  return MakeFrame(EventTypeName(type), json);
}

bool Filter::Matches(const StoredObject& object) const {
  if (!ns.empty() && object.ns() != ns) return false;
  if (!name.empty() && object.name() != name) return false;
  for (const FieldTest& test : fields) {
    if ((object.Field(test.field) == test.value) != test.equal) return false;
  }
  for (const FieldSelector::Requirement& r : meta) {
    const absl::string_view have = r.field == "metadata.name" ? object.name() : object.ns();
    if ((have == r.value) != r.equal) return false;
  }
  return labels.empty() ||
         labels.Matches([&object](absl::string_view key) { return object.Label(key); });
}

}  // namespace hekla::apiserver::storage
