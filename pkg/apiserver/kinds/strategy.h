#pragma once

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/status/field_errors.h"

// What is particular to a kind when its objects are written. Objects are in decoded form (unknown
// members gone, canonical); metadata rules that hold for every kind are applied by the caller.
namespace hekla::apiserver::kinds {

struct WriteContext {
  absl::Time now;
};

// Each function may be null: nothing particular. All are pure.
struct Strategy {
  using Object = apis::json::Value;
  // Fills in defaults; after decoding, on create and on update alike.
  void (*set_defaults)(Object& object) = nullptr;
  // Clears and sets what clients do not decide; uid and creationTimestamp are there already.
  void (*prepare_create)(Object& object, const WriteContext& context) = nullptr;
  void (*validate)(const Object& object, FieldErrors& errors) = nullptr;
  void (*prepare_update)(Object& object, const Object& old) = nullptr;
  void (*validate_update)(const Object& object, const Object& old, FieldErrors& errors) = nullptr;
  // The status sub-resource: `object` has been given the old spec already.
  void (*prepare_status)(Object& object, const Object& old, const WriteContext& context) = nullptr;
  void (*validate_status)(const Object& object, const Object& old, FieldErrors& errors) = nullptr;
};

// The strategy of a built-in kind, by group and plural; one without functions for kinds that have
// nothing particular. Lives for ever.
const Strategy& StrategyOf(absl::string_view group, absl::string_view plural);

}  // namespace hekla::apiserver::kinds
