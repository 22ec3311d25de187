#pragma once

#include <utility>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"

namespace hekla::apiserver::kinds {

// Fills in a member that is not there.
inline void Default(apis::json::Value& object, absl::string_view name, apis::json::Value value) {
  if (!object.Has(name)) object.Set(name, std::move(value));
}

}  // namespace hekla::apiserver::kinds
