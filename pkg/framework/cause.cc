#include "pkg/framework/cause.h"

#include <iterator>

namespace hekla::framework {
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

}  // namespace

absl::string_view CauseName(Cause cause) { return kNames[static_cast<size_t>(cause)]; }

}  // namespace hekla::framework
