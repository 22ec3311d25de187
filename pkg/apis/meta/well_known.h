#pragma once

#include "absl/strings/string_view.h"

// Labels, annotations and other names that several parts look at. A name only one part needs
// stands beside that part.
namespace hekla::apis::meta {

// Pods and PodGroups: which group, queue and role.
inline constexpr absl::string_view kGroupNameAnnotation = "scheduling.k8s.io/group-name";
inline constexpr absl::string_view kVolcanoGroupNameAnnotation = "scheduling.volcano.sh/group-name";
inline constexpr absl::string_view kQueueNameAnnotation = "scheduling.volcano.sh/queue-name";
inline constexpr absl::string_view kGroupMinMemberAnnotation =
    "scheduling.volcano.sh/group-min-member";
inline constexpr absl::string_view kTaskSpecKey = "volcano.sh/task-spec";
inline constexpr absl::string_view kTaskPriorityAnnotation = "volcano.sh/task-priority";
inline constexpr absl::string_view kQueueAllocationGate =
    "scheduling.volcano.sh/queue-allocation-gate";

// Who may be evicted, and when.
inline constexpr absl::string_view kPreemptableKey = "volcano.sh/preemptable";
inline constexpr absl::string_view kRevocableZoneKey = "volcano.sh/revocable-zone";
inline constexpr absl::string_view kJdbMinAvailable = "volcano.sh/jdb-min-available";
inline constexpr absl::string_view kJdbMaxUnavailable = "volcano.sh/jdb-max-unavailable";
inline constexpr absl::string_view kSlaWaitingTime = "sla-waiting-time";
inline constexpr absl::string_view kVolcanoSlaWaitingTime = "volcano.sh/sla-waiting-time";

// Placement across nodes and inside a node.
inline constexpr absl::string_view kNumaPolicyAnnotation = "volcano.sh/numa-topology-policy";
inline constexpr absl::string_view kTopologyDecisionAnnotation = "volcano.sh/topology-decision";
inline constexpr absl::string_view kAllocatedHyperNodeAnnotation =
    "volcano.sh/job-allocated-hypernode";
inline constexpr absl::string_view kForwardClusterAnnotation = "volcano.sh/forward-cluster";

// Queues.
inline constexpr absl::string_view kHierarchyAnnotation = "volcano.sh/hierarchy";
inline constexpr absl::string_view kHierarchyWeightsAnnotation = "volcano.sh/hierarchy-weights";

// Nodes.
inline constexpr absl::string_view kOversubscriptionLabel = "volcano.sh/oversubscription";
inline constexpr absl::string_view kOversubscriptionCpu = "volcano.sh/oversubscription-cpu";
inline constexpr absl::string_view kOversubscriptionMemory = "volcano.sh/oversubscription-memory";
inline constexpr absl::string_view kOfflineJobEvicting = "volcano.sh/offline-job-evicting";
inline constexpr absl::string_view kHostnameLabel = "kubernetes.io/hostname";
inline constexpr absl::string_view kZoneLabel = "topology.kubernetes.io/zone";
inline constexpr absl::string_view kRegionLabel = "topology.kubernetes.io/region";

// Volumes.
inline constexpr absl::string_view kBindCompletedAnnotation = "pv.kubernetes.io/bind-completed";
inline constexpr absl::string_view kSelectedNodeAnnotation = "volume.kubernetes.io/selected-node";

}  // namespace hekla::apis::meta
