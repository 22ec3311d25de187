#include <gtest/gtest.h>

#include "pkg/apis/topology/hyper_node.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::apis::topology {
namespace {

TEST(HyperNodeCodecTest, ReadsEveryKindOfMember) {
  absl::StatusOr<HyperNode> node = DecodeHyperNode(*json::Parse(
      R"({"metadata":{"name":"s0"},"spec":{"tier":1,"tierName":"rack","members":[
          {"type":"Node","selector":{"exactMatch":{"name":"n1"}}},
          {"type":"Node","selector":{"regexMatch":{"pattern":"n[0-9]"}}},
          {"type":"Node","selector":{"labelMatch":{"matchLabels":{"rack":"r1"}}}},
          {"type":"HyperNode","selector":{"exactMatch":{"name":"s1"}}}]},
          "status":{"nodeCount":7}})"));
  HEKLA_ASSERT_OK(node);
  ASSERT_EQ(node->members.size(), 4u);
  EXPECT_EQ(node->members[0].exact_name, "n1");
  EXPECT_EQ(node->members[1].pattern, "n[0-9]");
  EXPECT_TRUE(node->members[2].label_match->Matches({{"rack", "r1"}}));
  EXPECT_TRUE(node->members[3].is_hyper_node);
  EXPECT_EQ(node->node_count, 7);
}

}  // namespace
}  // namespace hekla::apis::topology
