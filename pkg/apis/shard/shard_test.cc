#include <gtest/gtest.h>

#include "pkg/apis/shard/node_shard.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::apis::shard {
namespace {

TEST(NodeShardCodecTest, StatusIsWrittenBackIntoTheObject) {
  const json::Value object = *json::Parse(
      R"({"metadata":{"name":"volcano"},"spec":{"nodesDesired":["a","b"]},
          "status":{"lastUpdateTime":"2026-01-02T15:04:05Z","nodesInUse":["a"],"more":1}})");
  absl::StatusOr<NodeShard> shard = DecodeNodeShard(object);
  HEKLA_ASSERT_OK(shard);
  EXPECT_EQ(shard->nodes_desired.size(), 2u);
  json::Value same = object;
  WriteNodeShardStatus(*shard, same);
  EXPECT_EQ(same, object);
  shard->nodes_to_add = {"b"};
  shard->nodes_in_use.clear();
  WriteNodeShardStatus(*shard, same);
  EXPECT_EQ(json::Dump(same.At("status")),
            R"({"lastUpdateTime":"2026-01-02T15:04:05Z","more":1,"nodesToAdd":["b"]})");
}

}  // namespace
}  // namespace hekla::apis::shard
