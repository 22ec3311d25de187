#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/plugins/common/testing/node_world.h"
#include "pkg/plugins/predicates/predicates_plugin.h"

namespace hekla::plugins {
namespace {

using model::ClaimSpec;
using model::NodeId;
using model::PodTemplate;
using model::StorageClassSpec;
using model::TaskId;
using model::TaskStatus;
using model::VolumeSpec;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kZone[] = "topology.kubernetes.io/zone";
constexpr char kNoVolume[] = "node(s) didn't find available persistent volumes to bind";
constexpr char kWrongNode[] = "node(s) didn't match PersistentVolume's node affinity";
constexpr int64_t kGi = int64_t{1} << 30;

class VolumeFiltersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    n1_ = world_.Node("n1", {{kZone, "z1"}});
    n2_ = world_.Node("n2", {{kZone, "z2"}});
    StorageClassSpec local;
    local.name = "local";
    local.provisioner = "kubernetes.io/no-provisioner";
    local.wait_for_first_consumer = true;
    world_.Put(local);
    StorageClassSpec csi;
    csi.name = "csi";
    csi.provisioner = "csi.example.com";
    csi.wait_for_first_consumer = true;
    world_.Put(csi);
    StorageClassSpec immediate;
    immediate.name = "now";
    immediate.provisioner = "csi.example.com";
    world_.Put(immediate);
  }
  void Open(apis::json::Value arguments = {}) {
    auto plugin = std::make_unique<PredicatesPlugin>(framework::Arguments(std::move(arguments)),
                                                     framework::PluginDeps());
    plugin_ = plugin.get();
    world_.Use(std::move(plugin));
  }
  ClaimSpec Claim(const std::string& name, const std::string& storage, int64_t bytes = kGi) {
    ClaimSpec claim;
    claim.namespace_name = "default";
    claim.name = name;
    claim.uid = "uid-" + name;
    claim.storage_class = storage;
    claim.phase = "Pending";
    claim.request_bytes = bytes;
    claim.access_modes = {"ReadWriteOnce"};
    return claim;
  }
  ClaimSpec Bound(const std::string& name, const std::string& volume) {
    ClaimSpec claim = Claim(name, "local");
    claim.volume_name = volume;
    claim.bind_completed = true;
    claim.phase = "Bound";
    return claim;
  }
  VolumeSpec Volume(const std::string& name, const std::string& zone, int64_t bytes) {
    VolumeSpec volume;
    volume.name = name;
    volume.capacity_bytes = bytes;
    volume.storage_class = "local";
    volume.phase = "Available";
    volume.access_modes = {"ReadWriteOnce"};
    if (!zone.empty()) {
      volume.has_node_affinity = true;
      volume.node_affinity = {{{world_.Req(kZone, model::SelectorOp::kIn, {zone})}, {}, false, 0}};
    }
    return volume;
  }
  TaskId Pod(const std::vector<std::string>& claims, const std::string& node = "") {
    return world_.Pod(
        {.name = absl::StrCat("p", ++pods_), .node = node, .pod = [&](PodTemplate& pod) {
           for (const std::string& claim : claims) {
             pod.volumes.push_back({world_.S(claim), false});
           }
         }});
  }
  ports::VolumeWrites WritesOf(TaskId task) {
    ports::BindRequest request;
    plugin_->AddVolumeWrites(task, request);
    return request.volumes;
  }

  plugins::testing::NodeWorld world_;
  PredicatesPlugin* plugin_ = nullptr;
  NodeId n1_, n2_;
  int pods_ = 0;
};

TEST_F(VolumeFiltersTest, ClaimsThatCannotBeUsedRefuseThePodEverywhere) {
  ClaimSpec lost = Claim("lost", "local");
  lost.phase = "Lost";
  lost.volume_name = "gone";
  world_.Put(lost);
  ClaimSpec deleting = Claim("deleting", "local");
  deleting.deleting = true;
  world_.Put(deleting);
  world_.Put(Claim("immediate", "now"));
  const auto text = [&](const std::string& claim) {
    const TaskId pod = Pod({claim});
    const std::vector<std::string> verdict = world_.Verdict(pod, n1_);
    return verdict.empty() ? "" : verdict.front();
  };
  Open();
  const std::string head = "plugin VolumeBinding pre-predicates failed ";
  EXPECT_EQ(text("absent"), head + "persistentvolumeclaim \"absent\" not found");
  EXPECT_EQ(
      text("lost"),
      head + "persistentvolumeclaim \"lost\" bound to non-existent persistentvolume \"gone\"");
  EXPECT_EQ(text("deleting"), head + "persistentvolumeclaim \"deleting\" is being deleted");
  EXPECT_EQ(text("immediate"), head + "pod has unbound immediate PersistentVolumeClaims");
}

TEST_F(VolumeFiltersTest, EphemeralClaimsMustBelongToThePod) {
  const TaskId pod = world_.Pod({.name = "e", .pod = [&](PodTemplate& pod) {
                                   pod.volumes = {{world_.S("e-scratch"), true}};
                                 }});
  Open();
  EXPECT_THAT(world_.Verdict(pod, n1_),
              ElementsAre("plugin VolumeBinding pre-predicates failed waiting for ephemeral volume "
                          "controller to create the persistentvolumeclaim \"e-scratch\""));
  ClaimSpec claim = Claim("e-scratch", "csi");
  world_.Put(claim);
  world_.NextCycle();
  EXPECT_THAT(world_.Verdict(pod, n1_),
              ElementsAre("plugin VolumeBinding pre-predicates failed PVC default/e-scratch was "
                          "not created for pod default/e (pod is not owner)"));
  claim.owner_pod_uid = "default/e";
  world_.Put(claim);
  world_.NextCycle();
  EXPECT_THAT(world_.Verdict(pod, n1_), IsEmpty());
}

TEST_F(VolumeFiltersTest, BoundVolumesTieThePodToTheirNodes) {
  VolumeSpec volume = Volume("v1", "z1", kGi);
  volume.phase = "Bound";
  world_.Put(volume);
  world_.Put(Bound("c1", "v1"));
  world_.Put(Bound("c2", "missing"));
  const TaskId pod = Pod({"c1"});
  const TaskId broken = Pod({"c2"});
  Open();
  EXPECT_THAT(world_.Verdict(pod, n1_), IsEmpty());
  EXPECT_THAT(world_.Verdict(pod, n2_), ElementsAre(kWrongNode));
  EXPECT_THAT(
      world_.Verdict(broken, n1_),
      ElementsAre("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"));
}

TEST_F(VolumeFiltersTest, TheSmallestFittingVolumeIsReservedUntilThePodLeaves) {
  world_.Put(Volume("big", "z1", 10 * kGi));
  world_.Put(Volume("small", "z1", 2 * kGi));
  world_.Put(Volume("tiny", "z1", kGi / 2));
  world_.Put(Claim("c1", "local"));
  world_.Put(Claim("c2", "local"));
  world_.Put(Claim("c3", "local"));
  const TaskId p1 = Pod({"c1"});
  const TaskId p2 = Pod({"c2"});
  const TaskId p3 = Pod({"c3"});
  Open();
  EXPECT_THAT(world_.Verdict(p1, n1_), IsEmpty());
  EXPECT_THAT(world_.Verdict(p1, n2_), ElementsAre(kNoVolume));
  world_.Move(p1, TaskStatus::kAllocated, n1_);
  ASSERT_EQ(WritesOf(p1).bind_volumes.size(), 1u);
  EXPECT_EQ(WritesOf(p1).bind_volumes[0].volume, "small");
  EXPECT_EQ(WritesOf(p1).bind_volumes[0].claim_uid, "uid-c1");
  world_.Move(p2, TaskStatus::kAllocated, n1_);
  EXPECT_EQ(WritesOf(p2).bind_volumes[0].volume, "big");
  EXPECT_THAT(world_.Verdict(p3, n1_), ElementsAre(kNoVolume));
  world_.Move(p1, TaskStatus::kPending, NodeId());
  EXPECT_TRUE(WritesOf(p1).empty());
  EXPECT_THAT(world_.Verdict(p3, n1_), IsEmpty());
}

TEST_F(VolumeFiltersTest, OnePodCannotUseAVolumeTwice) {
  world_.Put(Volume("v1", "z1", 2 * kGi));
  world_.Put(Claim("c1", "local"));
  world_.Put(Claim("c2", "local"));
  const TaskId pod = Pod({"c1", "c2"});
  Open();
  EXPECT_THAT(world_.Verdict(pod, n1_), ElementsAre(kNoVolume));
  world_.Put(Volume("v2", "z1", 2 * kGi));
  world_.NextCycle();
  EXPECT_THAT(world_.Verdict(pod, n1_), IsEmpty());
}

TEST_F(VolumeFiltersTest, UnmatchedClaimsAreProvisionedOnTheirNode) {
  StorageClassSpec zonal;
  zonal.name = "zonal";
  zonal.provisioner = "csi.example.com";
  zonal.wait_for_first_consumer = true;
  zonal.allowed_topologies = {{{world_.Req(kZone, model::SelectorOp::kIn, {"z2"})}, {}, false, 0}};
  world_.Put(zonal);
  world_.Put(Claim("c1", "zonal"));
  const TaskId first = Pod({"c1"});
  const TaskId second = Pod({"c1"});
  Open(apis::json::Value::MakeObject({{"volumebinding.bindTimeoutSeconds", 30}}));
  EXPECT_THAT(world_.Verdict(first, n1_), ElementsAre(kNoVolume));
  EXPECT_THAT(world_.Verdict(first, n2_), IsEmpty());
  world_.Move(first, TaskStatus::kAllocated, n2_);
  const ports::VolumeWrites writes = WritesOf(first);
  ASSERT_EQ(writes.select_nodes.size(), 1u);
  EXPECT_EQ(writes.select_nodes[0].claim_name, "c1");
  EXPECT_EQ(writes.timeout, absl::Seconds(30));
  // The claim has a node now; the other pod that shares it must follow.
  world_.Node("n3", {{kZone, "z2"}});
  world_.NextCycle();
  EXPECT_THAT(world_.Verdict(second, n2_), IsEmpty());
  EXPECT_THAT(world_.Verdict(second, world_.cluster().FindNode("n3")), ElementsAre(kNoVolume));
}

TEST_F(VolumeFiltersTest, DriversThatTrackCapacityNeedRoomOnTheNode) {
  model::CsiDriverSpec driver;
  driver.name = "csi.example.com";
  driver.storage_capacity = true;
  world_.Put(driver);
  model::CsiCapacitySpec capacity;
  capacity.namespace_name = "kube-system";
  capacity.name = "cap";
  capacity.storage_class = "csi";
  capacity.has_topology = true;
  capacity.node_topology = world_.Sel({{kZone, "z1"}});
  capacity.capacity_bytes = 5 * kGi;
  world_.Put(capacity);
  world_.Put(Claim("c1", "csi", 4 * kGi));
  world_.Put(Claim("c2", "csi", 6 * kGi));
  const TaskId fits = Pod({"c1"});
  const TaskId too_big = Pod({"c2"});
  Open();
  EXPECT_THAT(world_.Verdict(fits, n1_), IsEmpty());
  EXPECT_THAT(world_.Verdict(fits, n2_), ElementsAre("node(s) did not have enough free storage"));
  EXPECT_THAT(world_.Verdict(too_big, n1_),
              ElementsAre("node(s) did not have enough free storage"));
}

TEST_F(VolumeFiltersTest, ANewInstanceReservesForPodsOnTheirWay) {
  world_.Put(Volume("v1", "z1", 2 * kGi));
  world_.Put(Claim("c1", "local"));
  world_.Put(Claim("c2", "local"));
  const TaskId p1 = Pod({"c1"});
  const TaskId p2 = Pod({"c2"});
  Open();
  world_.Move(p1, TaskStatus::kBinding, n1_);
  Open();
  EXPECT_EQ(WritesOf(p1).bind_volumes.size(), 1u);
  EXPECT_THAT(world_.Verdict(p2, n1_), ElementsAre(kNoVolume));
}

TEST_F(VolumeFiltersTest, ZonesOfBoundVolumesMustContainTheNodes) {
  VolumeSpec volume = Volume("v1", "", kGi);
  volume.labels = world_.L({{"failure-domain.beta.kubernetes.io/zone", "z1__z3"}});
  world_.S("z3");
  world_.S("z1");
  world_.Put(volume);
  world_.Put(Bound("c1", "v1"));
  const NodeId bare = world_.Node("bare");
  const TaskId pod = Pod({"c1"});
  Open();
  EXPECT_THAT(world_.Verdict(pod, n1_), IsEmpty());  // beta key falls back to the GA label
  EXPECT_THAT(world_.Verdict(pod, n2_), ElementsAre("node(s) had no available volume zone"));
  EXPECT_THAT(world_.Verdict(pod, bare), IsEmpty());
}

TEST_F(VolumeFiltersTest, VolumeZoneSpeaksOfClaimsWhereVolumeBindingIsOff) {
  world_.Put(Claim("c1", "now"));
  const TaskId pod = Pod({"c1"});
  Open(apis::json::Value::MakeObject({{"predicate.VolumeBindingEnable", false}}));
  EXPECT_THAT(world_.Verdict(pod, n1_),
              ElementsAre("plugin VolumeZone pre-predicates failed PersistentVolume had no name"));
}

// Spec 16.20: limit 3, pods use v1 and v2, attached are v2 and v3, the pod brings v3.
TEST_F(VolumeFiltersTest, AttachedButUnusedVolumesCountTwiceQuirk) {
  for (const char* name : {"v1", "v2", "v3", "v4"}) {
    VolumeSpec volume = Volume(name, "", kGi);
    volume.csi_driver = "csi.example.com";
    volume.csi_handle = absl::StrCat("h-", name);
    world_.Put(volume);
    world_.Put(Bound(absl::StrCat("c-", name), name));
  }
  model::CsiNodeSpec limits;
  limits.name = "n1";
  limits.drivers = {{"csi.example.com", 3}, {"other.example.com", std::nullopt}};
  world_.Put(limits);
  for (const char* name : {"v2", "v3"}) {
    world_.Put(
        model::VolumeAttachmentSpec{absl::StrCat("a-", name), "csi.example.com", "n1", name});
  }
  Pod({"c-v1"}, "n1");
  Pod({"c-v2"}, "n1");
  const TaskId pod = Pod({"c-v3"});
  const TaskId shares = Pod({"c-v1"});
  Open();
  EXPECT_THAT(world_.Verdict(pod, n1_), ElementsAre("node(s) exceed max volume count"));
  EXPECT_THAT(world_.Verdict(pod, n2_), IsEmpty());
  EXPECT_THAT(world_.Verdict(shares, n1_), IsEmpty());
}

}  // namespace
}  // namespace hekla::plugins
