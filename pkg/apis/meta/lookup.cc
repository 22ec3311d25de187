#include "pkg/apis/meta/lookup.h"

#include <utility>

namespace hekla::apis::meta {
namespace {

const json::Value* Find(const json::Value& list, absl::string_view key, absl::string_view text) {
  if (!list.is_array()) return nullptr;
  for (const json::Value& item : list.as_array()) {
    if (item.GetString(key) == text) return &item;
  }
  return nullptr;
}

}  // namespace

const json::Value* FindNamed(const json::Value& list, absl::string_view name) {
  return Find(list, "name", name);
}

json::Value* FindNamed(json::Value& list, absl::string_view name) {
  return const_cast<json::Value*>(FindNamed(std::as_const(list), name));
}

const json::Value& ConditionOf(const json::Value& object, absl::string_view type) {
  static const json::Value none;
  const json::Value* condition = Find(object.At("status").At("conditions"), "type", type);
  return condition == nullptr ? none : *condition;
}

bool ConditionIsTrue(const json::Value& object, absl::string_view type) {
  return ConditionOf(object, type).GetString("status") == "True";
}

}  // namespace hekla::apis::meta
