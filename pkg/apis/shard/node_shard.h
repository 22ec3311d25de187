#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"

// shard.volcano.sh/v1alpha1 NodeShard.
namespace hekla::apis::shard {

struct NodeShard {
  static constexpr absl::string_view kKind = "NodeShard";
  static constexpr absl::string_view kApiVersion = "shard.volcano.sh/v1alpha1";
  meta::ObjectMeta metadata;
  std::vector<std::string> nodes_desired;
  absl::Time last_update_time = meta::NoTime();
  std::vector<std::string> nodes_in_use;
  std::vector<std::string> nodes_to_remove;
  std::vector<std::string> nodes_to_add;
};

// Errors: kInvalidArgument with the path of the first wrong field.
absl::StatusOr<NodeShard> DecodeNodeShard(const json::Value& value);
// Writes the three node lists of the status into an object as the server sent it.
void WriteNodeShardStatus(const NodeShard& shard, json::Value& object);

}  // namespace hekla::apis::shard
