#include "pkg/framework/explain/cause.h"

#include <iterator>

#include "absl/strings/match.h"
#include "glog/logging.h"

namespace hekla::framework::explain {
namespace {

// In the order of the enumerators.
constexpr absl::string_view kNames[] = {
    "Scheduled",
    "BindInFlight",
    "Finished",
    "Terminating",
    "PodGroupMissing",
    "QueueNotFound",
    "QueueNotOpen",
    "QueueNotUsable",
    "ClusterOvercommitted",
    "QueueCapacityExceeded",
    "EnqueueRefused",
    "NotAdmittedYet",
    "ActionMissing",
    "NotEnoughPods",
    "NotEnoughPodsOfRole",
    "NotEnoughSubGroups",
    "JobInvalid",
    "SchedulingGated",
    "QueueGate",
    "HyperNodesNotReady",
    "QueueOverused",
    "QueueShareExceeded",
    "QueueLimitExceeded",
    "QueueRefused",
    "NoNodes",
    "Unsupported",
    "ClaimNotFound",
    "ClaimNotBound",
    "ClaimLost",
    "ClaimDeleted",
    "ClaimOfAnother",
    "VolumeNotFound",
    "StorageClassInvalid",
    "AffinityConflict",
    "PreFilterRefused",
    "NodeAffinityMismatch",
    "RequestTooLarge",
    "NodeUnschedulable",
    "UntoleratedTaint",
    "PodNumberExceeded",
    "HostPortsTaken",
    "PodAffinityUnmatched",
    "PodAntiAffinity",
    "ExistingPodsAntiAffinity",
    "VolumeCountExceeded",
    "VolumeZoneMismatch",
    "TopologySpread",
    "TopologySpreadLabelMissing",
    "NoVolumeToBind",
    "VolumeNodeAffinity",
    "NotEnoughStorage",
    "VolumeGone",
    "ResourceClaims",
    "EquivalenceCache",
    "NodeNotInShard",
    "NodeGone",
    "ProportionalResource",
    "NodeGroup",
    "Numa",
    "TimeDivision",
    "NodeUsage",
    "Devices",
    "NodeRefused",
    "InsufficientPods",
    "InsufficientResource",
    "RoomReserved",
    "WaitsForRelease",
    "WaitsForGang",
    "RoleFailed",
    "BindFailed",
    "NotTriedYet",
};
static_assert(std::size(kNames) == static_cast<size_t>(Cause::kNotTriedYet) + 1);

// How a text is recognised: its beginning, or a part of it.
struct Pattern {
  absl::string_view text;
  Cause cause;
  bool anywhere = false;
};

// What a filter says before it looks at nodes: "plugin <name> pre-predicates failed <message>".
constexpr Pattern kPreFilter[] = {
    {"bound to non-existent persistentvolume", Cause::kClaimLost, true},
    {"persistentvolume \"", Cause::kVolumeNotFound},
    {"pod has unbound immediate PersistentVolumeClaims", Cause::kClaimNotBound},
    {"PersistentVolume had no name", Cause::kClaimNotBound},
    {"waiting for ephemeral volume controller", Cause::kClaimNotFound},
    {"is being deleted", Cause::kClaimDeleted, true},
    {"(pod is not owner)", Cause::kClaimOfAnother, true},
    {"VolumeBindingMode not set", Cause::kStorageClassInvalid},
    {"storageclass", Cause::kStorageClassInvalid},
    {"PersistentVolumeClaim had no pv name and storageClass name", Cause::kStorageClassInvalid},
    {"persistentvolumeclaim", Cause::kClaimNotFound, true},
    {"pod affinity terms conflict", Cause::kAffinityConflict},
    {"resource claims are not supported", Cause::kUnsupported},
};

// One node's reasons. A longer beginning stands before a shorter one.
constexpr Pattern kNode[] = {
    {"Insufficient pods", Cause::kInsufficientPods},
    {"Insufficient ", Cause::kInsufficientResource},
    {"node(s) pod number exceeded", Cause::kPodNumberExceeded},
    {"node info not found", Cause::kNodeGone},
    {"plugin equivalence cache predicates failed", Cause::kEquivalenceCache},
    {"node isn't in scheduler node shard", Cause::kNodeNotInShard},
    {"node(s) were unschedulable", Cause::kNodeUnschedulable},
    {"node(s) didn't match Pod's node affinity/selector", Cause::kNodeAffinityMismatch},
    {"node(s) had untolerated taint(s)", Cause::kUntoleratedTaint},
    {"node(s) didn't have free ports", Cause::kHostPortsTaken},
    {"node(s) didn't match pod affinity rules", Cause::kPodAffinityUnmatched},
    {"node(s) didn't match pod anti-affinity rules", Cause::kPodAntiAffinity},
    {"node(s) didn't satisfy existing pods anti-affinity", Cause::kExistingPodsAntiAffinity},
    {"node(s) exceed max volume count", Cause::kVolumeCountExceeded},
    {"node(s) had no available volume zone", Cause::kVolumeZoneMismatch},
    {"node(s) didn't match pod topology spread constraints (missing required label)",
     Cause::kTopologySpreadLabelMissing},
    {"node(s) didn't match pod topology spread constraints", Cause::kTopologySpread},
    {"node(s) didn't find available persistent volumes", Cause::kNoVolumeToBind},
    {"node(s) didn't match PersistentVolume's node affinity", Cause::kVolumeNodeAffinity},
    {"node(s) did not have enough free storage", Cause::kNotEnoughStorage},
    {"node(s) unavailable due to one or more pvc(s) bound to non-existent", Cause::kVolumeGone},
    {"failed to find storage class", Cause::kStorageClassInvalid},
    {"cannot allocate all claims", Cause::kResourceClaims},
    {"resourceclaim not available on the node", Cause::kResourceClaims},
    {"timed out trying to allocate devices", Cause::kResourceClaims},
    {"proportional of resource ", Cause::kProportionalResource},
    {"node group ", Cause::kNodeGroup},
    {"node does not satisfy the node group affinity", Cause::kNodeGroup},
    {"numa info is empty", Cause::kNuma},
    {"cpu manager policy isn't static", Cause::kNuma},
    {"task topology policy[", Cause::kNuma},
    {"no topo information", Cause::kNuma},
    {"cpu allocatable map is empty", Cause::kNuma},
    {"cannot be assigned by numa", Cause::kNuma, true},
    {"revocable zone ", Cause::kTimeDivision},
    {"current time beyond revocable zone", Cause::kTimeDivision},
    {"not allow to dispatch to revocable node", Cause::kTimeDivision},
    {"the CPU load of the node exceeds", Cause::kNodeUsage},
    {"the memory load of the node exceeds", Cause::kNodeUsage},
    {"GpuShare no enough gpu memory", Cause::kDevices},
    {"GpuNumber no enough gpu number", Cause::kDevices},
    {"hami-vgpuDeviceSharing error", Cause::kDevices},
    {"no ascend device available", Cause::kDevices},
};

bool Says(absl::string_view text, const Pattern& pattern) {
  return pattern.anywhere ? absl::StrContains(text, pattern.text)
                          : absl::StartsWith(text, pattern.text);
}

}  // namespace

absl::string_view CauseName(Cause cause) { return kNames[static_cast<size_t>(cause)]; }

Cause CauseOfReason(absl::string_view text) {
  constexpr absl::string_view kFailed = " pre-predicates failed ";
  const size_t at = text.find(kFailed);
  if (absl::StartsWith(text, "plugin ") && at != absl::string_view::npos) {
    const absl::string_view message = text.substr(at + kFailed.size());
    for (const Pattern& pattern : kPreFilter) {
      if (Says(message, pattern)) return pattern.cause;
    }
    return Cause::kPreFilterRefused;
  }
  if (absl::StartsWith(text, "resource claims")) return Cause::kUnsupported;
  for (const Pattern& pattern : kNode) {
    if (Says(text, pattern)) return pattern.cause;
  }
  return Cause::kNodeRefused;
}

}  // namespace hekla::framework::explain
