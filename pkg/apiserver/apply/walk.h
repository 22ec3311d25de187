#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/apply/field_set.h"
#include "pkg/apiserver/apply/type_ref.h"

// The walks over typed values that ownership is made of.
namespace hekla::apiserver::apply {

struct Comparison {
  FieldSet added, removed, modified;
};
// How `after` differs from `before`. Lists by key or as sets are compared item by item, what is
// atomic as one value.
Comparison Compare(const TypeRef& type, const apis::json::Value& before,
                   const apis::json::Value& after);

// The places that a configuration speaks of: leaves, list items, keys of maps, empty maps.
FieldSet PlacesOf(const TypeRef& type, const apis::json::Value& value);

// `live` with everything that `config` says; items of keyed lists keep the order of both where they
// agree, that of the configuration where they do not.
apis::json::Value Merge(const TypeRef& type, const apis::json::Value& live,
                        const apis::json::Value& config);

// `value` without the members of `places` and all below them.
apis::json::Value Without(const TypeRef& type, const apis::json::Value& value,
                          const FieldSet& places);

// Whether a configuration fits its form; the findings as the real server words them:
// `.spec.nodes: field not declared in schema`, `.spec.containers: duplicate entries for key
// [name="c"]`.
std::vector<std::string> Misfits(const TypeRef& type, const apis::json::Value& config);

// The element of a list item. Errors: kInvalidArgument where its keys are missing.
absl::StatusOr<std::string> ElementOf(const TypeRef& list, const apis::json::Value& item);

}  // namespace hekla::apiserver::apply
