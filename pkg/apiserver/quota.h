#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/core.h"

namespace hekla::apiserver {

class Writer;

// The ResourceQuota admission: a new object that would take a quota of its namespace beyond
// `status.hard` is refused, else `status.used` grows. Nothing fills `status.hard` here, that is a
// controller's work: a quota without it limits nothing. Quotas with scopes are not looked at.
// Errors: Forbidden `exceeded quota: NAME, requested: ..., used: ..., limited: ...` and
//         `failed quota: NAME: must specify ...`.
absl::Status ChargeQuotas(Core& core, Writer& writer, const Resource& resource,
                          absl::string_view ns, const apis::json::Value& object);

}  // namespace hekla::apiserver
