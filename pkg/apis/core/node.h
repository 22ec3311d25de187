#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "pkg/apis/core/scheduling_types.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/quantity.h"

namespace hekla::apis::core {

struct ContainerImage {
  std::vector<std::string> names;
  int64_t size_bytes = 0;
};

struct NodeSpec {
  bool unschedulable = false;
  std::vector<Taint> taints;
  std::string provider_id;
};

struct NodeStatus {
  meta::ResourceList capacity;
  meta::ResourceList allocatable;
  std::vector<meta::Condition> conditions;
  std::vector<ContainerImage> images;
};

struct Node {
  static constexpr absl::string_view kKind = "Node";
  static constexpr absl::string_view kApiVersion = "v1";

  meta::ObjectMeta metadata;
  NodeSpec spec;
  NodeStatus status;
};

// Errors: kInvalidArgument with the path of the first wrong field.
absl::StatusOr<Node> DecodeNode(const json::Value& value);

}  // namespace hekla::apis::core
