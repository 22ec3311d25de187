#include "pkg/apis/shard/node_shard.h"

namespace hekla::apis::shard {
namespace {

void SetList(json::Value& status, absl::string_view key, const std::vector<std::string>& list) {
  if (list.empty()) {
    status.Remove(key);
  } else {
    status.Set(key, meta::EncodeStrings(list));
  }
}

}  // namespace

absl::StatusOr<NodeShard> DecodeNodeShard(const json::Value& value) {
  NodeShard out;
  const meta::Reader root(value);
  meta::ReadObjectMeta(root, out.metadata);
  root.Object("spec", [&](meta::Reader& spec) { spec.Strings("nodesDesired", out.nodes_desired); });
  root.Object("status", [&](meta::Reader& status) {
    status.Time("lastUpdateTime", out.last_update_time);
    status.Strings("nodesInUse", out.nodes_in_use);
    status.Strings("nodesToRemove", out.nodes_to_remove);
    status.Strings("nodesToAdd", out.nodes_to_add);
  });
  if (!root.status().ok()) return root.status();
  return out;
}

void WriteNodeShardStatus(const NodeShard& shard, json::Value& object) {
  json::Value& status = object.Ensure({"status"});
  SetList(status, "nodesInUse", shard.nodes_in_use);
  SetList(status, "nodesToRemove", shard.nodes_to_remove);
  SetList(status, "nodesToAdd", shard.nodes_to_add);
}

}  // namespace hekla::apis::shard
