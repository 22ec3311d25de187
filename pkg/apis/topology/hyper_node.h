#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/selector.h"

// topology.volcano.sh/v1alpha1 HyperNode.
namespace hekla::apis::topology {

struct HyperNodeMember {
  bool is_hyper_node = false;  // type: HyperNode, else Node
  std::string exact_name;      // selector.exactMatch.name
  std::string pattern;         // selector.regexMatch.pattern
  std::optional<meta::LabelSelector> label_match;
};

struct HyperNode {
  static constexpr absl::string_view kKind = "HyperNode";
  static constexpr absl::string_view kApiVersion = "topology.volcano.sh/v1alpha1";
  meta::ObjectMeta metadata;
  int32_t tier = 0;
  std::string tier_name;
  std::vector<HyperNodeMember> members;
  int64_t node_count = 0;  // status.nodeCount
};

// Errors: kInvalidArgument with the path of the first wrong field.
absl::StatusOr<HyperNode> DecodeHyperNode(const json::Value& value);

}  // namespace hekla::apis::topology
