#include "pkg/apiserver/patch/patch.h"

namespace hekla::apiserver::patch {
namespace {

using apis::json::Member;
using apis::json::Value;

void MergeInto(Value& target, const Value& patch) {
  if (!target.is_object()) target = Value::MakeObject();
  for (const Member& member : patch.as_object()) {
    if (member.value.is_null()) {
      target.Remove(member.key);
      continue;
    }
    Value* existing = target.Find(member.key);
    if (!member.value.is_object()) {
      if (existing != nullptr) {
        *existing = member.value;
      } else {
        target.as_object().push_back(member);
      }
      continue;
    }
    if (existing == nullptr) existing = &target[member.key];
    MergeInto(*existing, member.value);
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
