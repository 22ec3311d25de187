#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/selector.h"

// apps/v1 workloads, as far as pod owners and their selectors matter.
namespace hekla::apis::apps {

struct ReplicaSet {
  static constexpr absl::string_view kKind = "ReplicaSet";
  static constexpr absl::string_view kApiVersion = "apps/v1";
  meta::ObjectMeta metadata;
  std::optional<meta::LabelSelector> selector;
  int32_t replicas = 1;
};

struct StatefulSet {
  static constexpr absl::string_view kKind = "StatefulSet";
  static constexpr absl::string_view kApiVersion = "apps/v1";
  meta::ObjectMeta metadata;
  std::optional<meta::LabelSelector> selector;
  int32_t replicas = 1;
};

// Errors of both: kInvalidArgument with the path of the first wrong field.
absl::StatusOr<ReplicaSet> DecodeReplicaSet(const json::Value& value);
absl::StatusOr<StatefulSet> DecodeStatefulSet(const json::Value& value);

}  // namespace hekla::apis::apps
