#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/ray/raycluster.h"

// The form in which upstream's typed client writes a RayCluster: members in the order of its
// structs, empty values where these are not omitted, unknown members dropped, quantities in
// canonical form. Two things depend on it: the hash that decides about Recreate upgrades, and what
// is stored after a write of the whole object (the Redis finalizer).
// Source: spec ray-cluster 4.1 step 6, 4.8.
namespace hekla::apis::ray {

// `spec` of a RayCluster in that form; nil `rayStartParams` are `{}`.
json::Value GoSpec(const json::Value& spec);

// A whole RayCluster in that form; status and metadata stay as they are.
json::Value GoObject(const json::Value& cluster);

// The pod templates of head and worker groups in that form, in this order.
json::Value GoTemplates(const RayCluster& cluster);

// encoding/json of Go: compact, with <, >, & and the two line separators escaped.
std::string GoDump(const json::Value& value);

// Hash of the spec without what may change without a restart: 32 characters of base32 (extended
// hex) over SHA-1.
// Cost: builds and walks a copy of the spec; tens of microseconds.
std::string UpgradeHash(const json::Value& spec);

}  // namespace hekla::apis::ray
