#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "pkg/apis/scheduling/pod_group.h"
#include "pkg/apis/scheduling/queue.h"
#include "pkg/util/random.h"
#include "pkg/util/testing/status_matchers.h"

namespace hekla::apis::scheduling {
namespace {

using json::Value;
using util::testing::StatusIs;

constexpr absl::string_view kPodGroupText = R"({
  "apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",
  "metadata":{"name":"pg","namespace":"n","uid":"u","resourceVersion":"5",
    "annotations":{"a":"b"},"managedFields":[{"manager":"x"}]},
  "spec":{"minMember":3,"minTaskMember":{"worker":2,"ps":1},"queue":"q","priorityClassName":"high",
    "minResources":{"cpu":"3","nvidia.com/gpu":"2"},"future":{"deep":[1,2]},
    "networkTopology":{"mode":"soft","highestTierAllowed":2,"extra":true},
    "subGroupPolicy":[{"name":"rack","subGroupSize":2,"minSubGroups":1,
      "labelSelector":{"matchLabels":{"role":"t"}},"matchLabelKeys":["rack"],
      "networkTopology":{"mode":"hard","highestTierName":"spine"}}]},
  "status":{"phase":"Running","running":2,"unknownCount":9,"conditions":[
    {"type":"Scheduled","status":"True","transitionID":"t","reason":"r","mine":1,
     "lastTransitionTime":"2026-01-02T15:04:05Z"}]}})";

TEST(PodGroupCodecTest, ReadsEveryField) {
  absl::StatusOr<PodGroup> group = DecodePodGroup(*json::Parse(kPodGroupText));
  HEKLA_ASSERT_OK(group);
  EXPECT_EQ(group->spec.min_member, 3);
  const std::pair<std::string, int32_t> roles[] = {{"ps", 1}, {"worker", 2}};
  ASSERT_EQ(group->spec.min_task_member.size(), 2u);
  EXPECT_EQ(group->spec.min_task_member[0], roles[0]);
  EXPECT_EQ(group->spec.min_task_member[1], roles[1]);
  EXPECT_EQ(group->spec.min_resources->Get("nvidia.com/gpu").Value(), 2);
  EXPECT_TRUE(group->spec.network_topology->soft);
  EXPECT_EQ(group->spec.network_topology->highest_tier_allowed, 2);
  const SubGroupPolicy& policy = group->spec.sub_group_policy.at(0);
  EXPECT_EQ(policy.sub_group_size, 2);
  EXPECT_EQ(policy.min_sub_groups, 1);
  EXPECT_EQ(policy.network_topology->highest_tier_name, "spine");
  EXPECT_FALSE(policy.network_topology->soft);
  EXPECT_EQ(group->status.conditions.at(0).transition_id, "t");
}

TEST(PodGroupCodecTest, DecodeThenEncodeKeepsUnknownMembers) {
  const Value object = *json::Parse(kPodGroupText);
  absl::StatusOr<PodGroup> group = DecodePodGroup(object);
  HEKLA_ASSERT_OK(group);
  const Value back = EncodePodGroup(*group, object);
  EXPECT_EQ(back, object) << json::Dump(back);
}

TEST(PodGroupCodecTest, NewObjectIsReadBack) {
  PodGroup group;
  group.metadata.name = "g";
  group.metadata.ns = "n";
  group.spec.min_member = 1;
  group.spec.min_resources.emplace().Set("cpu", meta::Quantity::FromMilli(1500));
  group.status.phase = "Pending";
  absl::StatusOr<PodGroup> back = DecodePodGroup(EncodePodGroup(group));
  HEKLA_ASSERT_OK(back);
  EXPECT_EQ(back->metadata.Key(), "n/g");
  EXPECT_EQ(back->spec.min_resources->Get("cpu").MilliValue(), 1500);
  EXPECT_EQ(back->status.phase, "Pending");
  EXPECT_EQ(json::Dump(EncodePodGroup(group).At("status")), R"({"phase":"Pending"})");
}

TEST(PodGroupCodecTest, PropertyStatusWritesTouchNothingElse) {
  util::Random random(17);
  const Value object = *json::Parse(kPodGroupText);
  for (int round = 0; round < 1000; ++round) {
    PodGroupStatus status;
    status.phase = random.Below(2) == 0 ? "Inqueue" : "";
    status.running = static_cast<int32_t>(random.Below(3));
    status.failed = static_cast<int32_t>(random.Below(3));
    for (uint64_t n = random.Below(3); n > 0; --n) {
      PodGroupCondition& c = status.conditions.emplace_back();
      c.type = absl::StrCat("T", n);
      c.status = "True";
      c.last_transition_time = absl::FromUnixSeconds(static_cast<int64_t>(random.Below(1 << 30)));
    }
    Value changed = object;
    WritePodGroupStatus(status, changed);
    EXPECT_EQ(changed.At("spec"), object.At("spec"));
    EXPECT_EQ(changed.At("metadata"), object.At("metadata"));
    EXPECT_EQ(changed.At("status").GetInt("unknownCount"), 9);
    absl::StatusOr<PodGroup> back = DecodePodGroup(changed);
    HEKLA_ASSERT_OK(back);
    EXPECT_EQ(back->status.phase, status.phase);
    EXPECT_EQ(back->status.running, status.running);
    EXPECT_EQ(back->status.succeeded, 0);
    ASSERT_EQ(back->status.conditions.size(), status.conditions.size());
    for (size_t i = 0; i < status.conditions.size(); ++i) {
      EXPECT_EQ(back->status.conditions[i].type, status.conditions[i].type);
      EXPECT_EQ(back->status.conditions[i].last_transition_time,
                status.conditions[i].last_transition_time);
    }
  }
}

TEST(PodGroupCodecTest, ErrorsNameTheField) {
  EXPECT_THAT(DecodePodGroup(*json::Parse(R"({"spec":{"minTaskMember":{"w":"2"}}})")),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "spec.minTaskMember.w: expected integer, got string"));
}

TEST(QueueCodecTest, DecodeThenEncodeKeepsUnknownMembers) {
  const Value object = *json::Parse(R"({
    "apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue",
    "metadata":{"name":"q","annotations":{"volcano.sh/hierarchy":"root/a"}},
    "spec":{"weight":4,"priority":2,"reclaimable":false,"capability":{"cpu":"10"},
      "guarantee":{"resource":{"cpu":"1"},"x":1},"deserved":{"memory":"4Gi"},"parent":"root",
      "type":"t","dequeueStrategy":"fifo","extendClusters":[{"name":"c","weight":1}],
      "affinity":{"nodeGroupAffinity":{
        "requiredDuringSchedulingIgnoredDuringExecution":["g1"]},"other":{}}},
    "status":{"state":"Open","running":3,"allocated":{"cpu":"500m"},
      "reservation":{"nodes":["n"]}}})");
  absl::StatusOr<Queue> queue = DecodeQueue(object);
  HEKLA_ASSERT_OK(queue);
  EXPECT_EQ(queue->spec.weight, 4);
  EXPECT_EQ(queue->spec.reclaimable, false);
  EXPECT_EQ(queue->spec.guarantee.Get("cpu").Value(), 1);
  EXPECT_EQ(queue->spec.node_group_affinity.required, std::vector<std::string>{"g1"});
  EXPECT_TRUE(queue->spec.node_group_anti_affinity.empty());
  EXPECT_EQ(queue->status.allocated.Get("cpu").MilliValue(), 500);
  const Value back = EncodeQueue(*queue, object);
  EXPECT_EQ(back, object) << json::Dump(back);
}

TEST(PriorityClassCodecTest, Reads) {
  absl::StatusOr<PriorityClass> pc = DecodePriorityClass(
      *json::Parse(R"({"metadata":{"name":"high"},"value":1000,"globalDefault":true})"));
  HEKLA_ASSERT_OK(pc);
  EXPECT_EQ(pc->value, 1000);
  EXPECT_TRUE(pc->global_default);
}

}  // namespace
}  // namespace hekla::apis::scheduling
