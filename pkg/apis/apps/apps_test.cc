#include <gtest/gtest.h>

#include "pkg/apis/apps/workloads.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::apis::apps {
namespace {

TEST(WorkloadCodecTest, ReadsSelectors) {
  const json::Value object = *json::Parse(
      R"({"metadata":{"name":"rs"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"1"}}}})");
  absl::StatusOr<ReplicaSet> rs = DecodeReplicaSet(object);
  HEKLA_ASSERT_OK(rs);
  EXPECT_TRUE(rs->selector->Matches({{"a", "1"}}));
  EXPECT_EQ(rs->replicas, 2);
  EXPECT_TRUE(DecodeStatefulSet(object)->selector.has_value());
  EXPECT_FALSE(DecodeStatefulSet(*json::Parse("{}"))->selector.has_value());
}

}  // namespace
}  // namespace hekla::apis::apps
