#include "pkg/apis/meta/reader.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/time.h"

namespace hekla::apis::meta {
namespace {

using json::Value;

absl::string_view KindName(Value::Kind kind) {
  switch (kind) {
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
      return "list";
    case Value::Kind::kObject:
      return "object";
  }
  return "";
}

}  // namespace

Reader::Reader(const Value& value) : value_(&value), root_(this) {
  if (!value.is_object()) Expected("object", value);
}

const Value* Reader::Member(absl::string_view key, Value::Kind kind) const {
  const Value* member = value_->Find(key);
  if (member == nullptr || member->is_null()) return nullptr;
  if (member->kind() == kind) return member;
  Expected(KindName(kind), *member, key);
  return nullptr;
}

void Reader::String(absl::string_view key, std::string& out) const {
  if (const Value* v = Member(key, Value::Kind::kString)) out = v->as_string();
}

void Reader::Bool(absl::string_view key, bool& out) const {
  if (const Value* v = Member(key, Value::Kind::kBool)) out = v->as_bool();
}

void Reader::Bool(absl::string_view key, std::optional<bool>& out) const {
  if (const Value* v = Member(key, Value::Kind::kBool)) out = v->as_bool();
}

void Reader::Int(absl::string_view key, int64_t& out) const {
  if (const Value* v = Member(key, Value::Kind::kInt)) out = v->as_int();
}

void Reader::Int(absl::string_view key, int32_t& out) const {
  int64_t wide = out;
  Int(key, wide);
  if (wide < std::numeric_limits<int32_t>::min() || wide > std::numeric_limits<int32_t>::max()) {
    Fail(key, absl::StrCat("number ", wide, " is out of range"));
    return;
  }
  out = static_cast<int32_t>(wide);
}

void Reader::Int(absl::string_view key, std::optional<int64_t>& out) const {
  if (!Has(key)) return;
  int64_t wide = 0;
  Int(key, wide);
  out = wide;
}

void Reader::Int(absl::string_view key, std::optional<int32_t>& out) const {
  if (!Has(key)) return;
  int32_t number = 0;
  Int(key, number);
  out = number;
}

void Reader::Time(absl::string_view key, absl::Time& out) const {
  const Value* v = Member(key, Value::Kind::kString);
  if (v == nullptr) return;
  absl::StatusOr<absl::Time> time = ParseTime(v->as_string());
  if (time.ok()) {
    out = *time;
  } else {
    Fail(key, absl::string_view(time.status().message()));
  }
}

void Reader::Amount(absl::string_view key, Quantity& out) const {
  const Value* v = value_->Find(key);
  if (v == nullptr || v->is_null()) return;
  if (v->is_int()) {
    out = Quantity::FromInt(v->as_int());
    return;
  }
  if (!v->is_string() && !v->is_number()) {
    Expected("quantity", *v, key);
    return;
  }
  absl::StatusOr<Quantity> q = Quantity::Parse(v->is_string() ? v->as_string() : json::Dump(*v));
  if (q.ok()) {
    out = *q;
  } else {
    Fail(key, absl::string_view(q.status().message()));
  }
}

void Reader::Resources(absl::string_view key, ResourceList& out) const {
  Object(key, [&](Reader& list) {
    out.reserve(list.value().size());
    for (const json::Member& m : list.value().as_object()) {
      Quantity q;
      list.Amount(m.key, q);
      out.Set(m.key, q);
    }
  });
}

void Reader::Strings(absl::string_view key, std::vector<std::string>& out) const {
  const Value* list = Member(key, Value::Kind::kArray);
  if (list == nullptr) return;
  const Reader at(*list, this, key, -1);
  out.clear();
  out.reserve(list->size());
  for (const Value& item : list->as_array()) {
    if (item.is_string()) {
      out.push_back(item.as_string());
    } else {
      Reader(item, &at, "", static_cast<int>(out.size())).Expected("string", item);
    }
  }
}

void Reader::Map(absl::string_view key, StringMap& out) const {
  Object(key, [&](Reader& map) {
    out.reserve(map.value().size());
    for (const json::Member& m : map.value().as_object()) {
      if (m.value.is_string()) {
        out.Set(m.key, m.value.as_string());
      } else if (!m.value.is_null()) {
        map.Expected("string", m.value, m.key);
      } else {
        out.Set(m.key, "");
      }
    }
  });
}

bool Reader::Has(absl::string_view key) const {
  const Value* v = value_->Find(key);
  return v != nullptr && !v->is_null();
}

void Reader::Expected(absl::string_view kind, const Value& got, absl::string_view key) const {
  Fail(key, absl::StrCat("expected ", kind, ", got ", KindName(got.kind())));
}

void Reader::AppendPath(std::string& out) const {
  if (parent_ == nullptr) return;
  parent_->AppendPath(out);
  if (index_ >= 0) {
    absl::StrAppend(&out, "[", index_, "]");
  } else {
    absl::StrAppend(&out, out.empty() ? "" : ".", key_);
  }
}

void Reader::Fail(absl::string_view key, absl::string_view problem) const {
  if (!root_->status_.ok()) return;
  std::string path;
  AppendPath(path);
  if (!key.empty()) absl::StrAppend(&path, path.empty() ? "" : ".", key);
  root_->status_ =
      absl::InvalidArgumentError(absl::StrCat(path, path.empty() ? "" : ": ", problem));
}

}  // namespace hekla::apis::meta
