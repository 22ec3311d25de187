#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"

// coordination.k8s.io/v1 Lease.
namespace hekla::apis::coordination {

struct Lease {
  static constexpr absl::string_view kKind = "Lease";
  static constexpr absl::string_view kApiVersion = "coordination.k8s.io/v1";
  meta::ObjectMeta metadata;
  std::string holder_identity;
  std::optional<int32_t> lease_duration_seconds;
  absl::Time acquire_time = meta::NoTime();  // microseconds
  absl::Time renew_time = meta::NoTime();    // microseconds
  std::optional<int32_t> lease_transitions;
};

// Errors: kInvalidArgument with the path of the first wrong field.
absl::StatusOr<Lease> DecodeLease(const json::Value& value);
// Writes into `base` (null for a new object), keeping members this struct does not know.
json::Value EncodeLease(const Lease& lease, json::Value base = json::Value());

}  // namespace hekla::apis::coordination
