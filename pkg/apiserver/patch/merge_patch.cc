#include "pkg/apiserver/patch/patch.h"

namespace hekla::apiserver::patch {
namespace {

using apis::json::Member;
using apis::json::Value;

// Values that are new to the document lose the null members at any depth, also inside of lists.
Value WithoutNulls(const Value& value) {
  if (value.is_array()) {
    Value out = Value::MakeArray();
    for (const Value& item : value.as_array()) out.Append(WithoutNulls(item));
    return out;
  }
  if (!value.is_object()) return value;
  Value out = Value::MakeObject();
  for (const Member& member : value.as_object()) {
    if (!member.value.is_null()) {
      out.as_object().push_back({member.key, WithoutNulls(member.value)});
    }
  }
  return out;
}

void MergeInto(Value& target, const Value& patch) {
  if (!target.is_object()) target = Value::MakeObject();
  for (const Member& member : patch.as_object()) {
    if (member.value.is_null()) {
      target.Remove(member.key);
      continue;
    }
    Value* existing = target.Find(member.key);
    if (existing != nullptr && existing->is_object()) {
      // Quirk: a list that replaces an object keeps its nulls.
      if (member.value.is_object()) {
        MergeInto(*existing, member.value);
      } else {
        *existing = member.value;
      }
    } else if (existing != nullptr) {
      *existing = WithoutNulls(member.value);
    } else {
      target.as_object().push_back({member.key, WithoutNulls(member.value)});
    }
  }
}

}  // namespace

Value ApplyMergePatch(const Value& document, const Value& patch) {
  if (!patch.is_object()) return patch;
  Value out = document;
  MergeInto(out, patch);
  return out;
}

}  // namespace hekla::apiserver::patch
