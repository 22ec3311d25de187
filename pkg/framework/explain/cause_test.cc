#include "pkg/framework/explain/cause.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace hekla::framework::explain {
namespace {

struct ReasonCase {
  const char* text;
  Cause cause;
};

// Every text of spec scheduler-node-plugins 15, also of plugins that are not built yet.
const ReasonCase kReasons[] = {
    {"Insufficient cpu", Cause::kInsufficientResource},
    {"Insufficient memory", Cause::kInsufficientResource},
    {"Insufficient nvidia.com/gpu", Cause::kInsufficientResource},
    {"Insufficient pods", Cause::kInsufficientPods},
    {"node(s) pod number exceeded", Cause::kPodNumberExceeded},
    {"node info not found", Cause::kNodeGone},
    {"plugin equivalence cache predicates failed", Cause::kEquivalenceCache},
    {"node isn't in scheduler node shard", Cause::kNodeNotInShard},
    {"node(s) were unschedulable", Cause::kNodeUnschedulable},
    {"node(s) didn't match Pod's node affinity/selector", Cause::kNodeAffinityMismatch},
    {"node(s) had untolerated taint(s)", Cause::kUntoleratedTaint},
    {"node(s) didn't have free ports for the requested pod ports", Cause::kHostPortsTaken},
    {"node(s) didn't match pod affinity rules", Cause::kPodAffinityUnmatched},
    {"node(s) didn't match pod anti-affinity rules", Cause::kPodAntiAffinity},
    {"node(s) didn't satisfy existing pods anti-affinity rules", Cause::kExistingPodsAntiAffinity},
    {"node(s) exceed max volume count", Cause::kVolumeCountExceeded},
    {"node(s) had no available volume zone", Cause::kVolumeZoneMismatch},
    {"node(s) didn't match pod topology spread constraints", Cause::kTopologySpread},
    {"node(s) didn't match pod topology spread constraints (missing required label)",
     Cause::kTopologySpreadLabelMissing},
    {"node(s) didn't find available persistent volumes to bind", Cause::kNoVolumeToBind},
    {"node(s) didn't match PersistentVolume's node affinity", Cause::kVolumeNodeAffinity},
    {"node(s) did not have enough free storage", Cause::kNotEnoughStorage},
    {"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
     Cause::kVolumeGone},
    {"cannot allocate all claims", Cause::kResourceClaims},
    {"resourceclaim not available on the node", Cause::kResourceClaims},
    {"timed out trying to allocate devices", Cause::kResourceClaims},
    {"plugin NodeAffinity pre-predicates failed something new", Cause::kPreFilterRefused},
    {"proportional of resource nvidia.com/gpu check failed", Cause::kProportionalResource},
    {"node group label not found", Cause::kNodeGroup},
    {"node group affinity not specified", Cause::kNodeGroup},
    {"node does not satisfy the node group affinity", Cause::kNodeGroup},
    {"node group resource limit annotation invalid", Cause::kNodeGroup},
    {"node group resource limit exceeded", Cause::kNodeGroup},
    {"numa info is empty", Cause::kNuma},
    {"cpu manager policy isn't static", Cause::kNuma},
    {"task topology policy[restricted] is different with node[none]", Cause::kNuma},
    {"no topo information", Cause::kNuma},
    {"cpu allocatable map is empty", Cause::kNuma},
    {"container main cannot be assigned by numa", Cause::kNuma},
    {"revocable zone rz1 not support", Cause::kTimeDivision},
    {"current time beyond revocable zone rz1:10:00-12:00", Cause::kTimeDivision},
    {"not allow to dispatch to revocable node", Cause::kTimeDivision},
    {"the CPU load of the node exceeds the upper limit.", Cause::kNodeUsage},
    {"the memory load of the node exceeds the upper limit.", Cause::kNodeUsage},
    {"GpuShare no enough gpu memory on node n1", Cause::kDevices},
    {"GpuNumber no enough gpu number on node n1", Cause::kDevices},
    {"hami-vgpuDeviceSharing error", Cause::kDevices},
    {"no ascend device available", Cause::kDevices},
    {"something of a plugin of one's own", Cause::kNodeRefused},
    {"resource claims are not supported yet", Cause::kUnsupported},
};

TEST(CauseTest, EveryReasonOfTheCatalogueHasItsCause) {
  for (const ReasonCase& c : kReasons) {
    EXPECT_EQ(CauseName(CauseOfReason(c.text)), CauseName(c.cause)) << c.text;
  }
}

TEST(CauseTest, PreFilterMessagesAreToldApart) {
  const ReasonCase kMessages[] = {
      {"persistentvolumeclaim \"data\" not found", Cause::kClaimNotFound},
      {"looking up PVC default/data: persistentvolumeclaim \"data\" not found",
       Cause::kClaimNotFound},
      {"waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-v\"",
       Cause::kClaimNotFound},
      {"persistentvolumeclaim \"data\" bound to non-existent persistentvolume \"pv\"",
       Cause::kClaimLost},
      {"persistentvolumeclaim \"data\" is being deleted", Cause::kClaimDeleted},
      {"PVC default/p-v was not created for pod default/p (pod is not owner)",
       Cause::kClaimOfAnother},
      {"pod has unbound immediate PersistentVolumeClaims", Cause::kClaimNotBound},
      {"VolumeBindingMode not set for StorageClass \"now\"", Cause::kStorageClassInvalid},
      {"storageclass.storage.k8s.io \"fast\" not found", Cause::kStorageClassInvalid},
      {"persistentvolume \"pv\" not found", Cause::kVolumeNotFound},
      {"pod affinity terms conflict", Cause::kAffinityConflict},
      {"resource claims are not supported yet", Cause::kUnsupported},
  };
  for (const ReasonCase& c : kMessages) {
    const std::string text = std::string("plugin X pre-predicates failed ") + c.text;
    EXPECT_EQ(CauseName(CauseOfReason(text)), CauseName(c.cause)) << c.text;
  }
}

TEST(CauseTest, NamesAreDifferent) {
  std::set<std::string> names;
  for (int c = 0; c <= static_cast<int>(Cause::kNotTriedYet); ++c) {
    names.insert(std::string(CauseName(static_cast<Cause>(c))));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(Cause::kNotTriedYet) + 1);
}

}  // namespace
}  // namespace hekla::framework::explain
