#pragma once

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

// Items of the lists of Kubernetes JSON that have a name or a type.
namespace hekla::apis::meta {

// The item with that member `name`; nullptr where there is none or `list` is no array.
const json::Value* FindNamed(const json::Value& list, absl::string_view name);
json::Value* FindNamed(json::Value& list, absl::string_view name);

// The first of `status.conditions` of that type; null where there is none.
const json::Value& ConditionOf(const json::Value& object, absl::string_view type);
bool ConditionIsTrue(const json::Value& object, absl::string_view type);

}  // namespace hekla::apis::meta
