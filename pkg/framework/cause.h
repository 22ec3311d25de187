#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace hekla::framework {

// Why a pod or a PodGroup is where it is. An explanation names exactly one: the first that holds,
// in the order of the questions the scheduler asks. Who refuses something says which of these it
// is, beside the text (ReasonTable, ValidResult, LimitCheck, Session::SetJobFitError). The names
// (CauseName) are part of the interface: scripts compare them. Source: spec scheduler-node-plugins
// 15, scheduler-actions 2 and 3.
enum class Cause : uint8_t {
  // Nothing is wrong.
  kScheduled,     // it has its node
  kBindInFlight,  // decided; the API server has not confirmed it
  kFinished,
  kTerminating,
  // Its objects.
  kPodGroupMissing,
  kQueueNotFound,
  kQueueNotOpen,
  kQueueNotUsable,  // a parent that does not exist, no root, queues below it
  // Admission: its PodGroup is Pending.
  kClusterOvercommitted,   // plugin overcommit
  kQueueCapacityExceeded,  // plugins proportion, capacity: minResources against the capability
  kEnqueueRefused,         // another plugin
  kNotAdmittedYet,         // nobody refuses: the next cycle admits it
  kActionMissing,          // the configuration lacks the action that would place it
  // Gang.
  kNotEnoughPods,
  kNotEnoughPodsOfRole,
  kNotEnoughSubGroups,
  kJobInvalid,  // another plugin's word
  kSchedulingGated,
  kQueueGate,           // held back by Volcano's queue gate alone
  kHyperNodesNotReady,  // it asks for a network topology
  // The queue's share.
  kQueueOverused,
  kQueueShareExceeded,  // the request does not fit into what the queue deserves
  kQueueLimitExceeded,  // nor into its capability
  kQueueRefused,        // another plugin
  // Nodes: every node is refused before anything is compared.
  kNoNodes,
  kUnsupported,    // resource claims
  kClaimNotFound,  // PersistentVolumeClaim
  kClaimNotBound,  // waits for its volume to be bound at once
  kClaimLost,      // its volume is gone
  kClaimDeleted,
  kClaimOfAnother,  // an ephemeral volume's claim that belongs to another pod
  kVolumeNotFound,
  kStorageClassInvalid,
  kAffinityConflict,  // its affinity names no node that could exist
  kPreFilterRefused,  // something that is in no list
  // Nodes, one by one.
  kNodeAffinityMismatch,
  kRequestTooLarge,  // no matching node could ever hold it
  kNodeUnschedulable,
  kUntoleratedTaint,
  kPodNumberExceeded,
  kHostPortsTaken,
  kPodAffinityUnmatched,
  kPodAntiAffinity,
  kExistingPodsAntiAffinity,
  kVolumeCountExceeded,
  kVolumeZoneMismatch,
  kTopologySpread,
  kTopologySpreadLabelMissing,
  kNoVolumeToBind,
  kVolumeNodeAffinity,
  kNotEnoughStorage,
  kVolumeGone,
  kNodeRefused,  // something that is in no list
  kInsufficientPods,
  kInsufficientResource,
  // Room there is, or will be.
  kRoomReserved,     // held for others until pods there have gone
  kWaitsForRelease,  // its own place gets free once pods there have gone
  kWaitsForGang,     // it fits; other members do not
  kRoleFailed,       // a pod of the same role was refused
  kBindFailed,       // the API server refused the last try
  kNotTriedYet,
};

// "UntoleratedTaint".
absl::string_view CauseName(Cause cause);

}  // namespace hekla::framework
