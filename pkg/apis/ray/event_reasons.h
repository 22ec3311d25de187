#pragma once

#include "absl/strings/string_view.h"

// Reasons, actions and reporters of the operator's events, and the markers of ReplicaFailure.
// Source: spec ray-cluster 5.1, 9.
namespace hekla::apis::ray {

inline constexpr absl::string_view kEventNormal = "Normal";
inline constexpr absl::string_view kEventWarning = "Warning";

inline constexpr absl::string_view kRayClusterReporter = "raycluster-controller";
inline constexpr absl::string_view kMtlsReporter = "raycluster-mtls-controller";
inline constexpr absl::string_view kNetworkPolicyReporter = "networkpolicy-controller";

inline constexpr absl::string_view kActionCreate = "Create";
inline constexpr absl::string_view kActionDelete = "Delete";
inline constexpr absl::string_view kActionUpdate = "Update";
inline constexpr absl::string_view kActionValidate = "Validate";
inline constexpr absl::string_view kActionReconcile = "Reconcile";
inline constexpr absl::string_view kActionCleanup = "Cleanup";

inline constexpr absl::string_view kCreatedHeadPod = "CreatedHeadPod";
inline constexpr absl::string_view kFailedToCreateHeadPod = "FailedToCreateHeadPod";
inline constexpr absl::string_view kDeletedHeadPod = "DeletedHeadPod";
inline constexpr absl::string_view kFailedToDeleteHeadPod = "FailedToDeleteHeadPod";
inline constexpr absl::string_view kCreatedWorkerPod = "CreatedWorkerPod";
inline constexpr absl::string_view kFailedToCreateWorkerPod = "FailedToCreateWorkerPod";
inline constexpr absl::string_view kDeletedWorkerPod = "DeletedWorkerPod";
inline constexpr absl::string_view kFailedToDeleteWorkerPod = "FailedToDeleteWorkerPod";
inline constexpr absl::string_view kFailedToDeleteWorkerPodCollection =
    "FailedToDeleteWorkerPodCollection";
inline constexpr absl::string_view kDeletedPod = "DeletedPod";
inline constexpr absl::string_view kFailedToDeletePodCollection = "FailedToDeletePodCollection";
inline constexpr absl::string_view kCreatedRedisCleanupJob = "CreatedRedisCleanupJob";
inline constexpr absl::string_view kFailedToCreateRedisCleanupJob = "FailedToCreateRedisCleanupJob";
inline constexpr absl::string_view kForceDeletedStuckCluster = "ForceDeletedStuckCluster";
inline constexpr absl::string_view kCreatedService = "CreatedService";
inline constexpr absl::string_view kFailedToCreateService = "FailedToCreateService";
inline constexpr absl::string_view kCreatedServiceAccount = "CreatedServiceAccount";
inline constexpr absl::string_view kFailedToCreateServiceAccount = "FailedToCreateServiceAccount";
inline constexpr absl::string_view kAutoscalerServiceAccountNotFound =
    "AutoscalerServiceAccountNotFound";
inline constexpr absl::string_view kCreatedRole = "CreatedRole";
inline constexpr absl::string_view kFailedToCreateRole = "FailedToCreateRole";
inline constexpr absl::string_view kCreatedRoleBinding = "CreatedRoleBinding";
inline constexpr absl::string_view kFailedToCreateRoleBinding = "FailedToCreateRoleBinding";
inline constexpr absl::string_view kCreatedIngress = "CreatedIngress";
inline constexpr absl::string_view kUpdatedIngress = "UpdatedIngress";
inline constexpr absl::string_view kFailedToCreateIngress = "FailedToCreateIngress";
inline constexpr absl::string_view kFailedToUpdateIngress = "FailedToUpdateIngress";
inline constexpr absl::string_view kCreatedRoute = "CreatedRoute";
inline constexpr absl::string_view kFailedToCreateRoute = "FailedToCreateRoute";
inline constexpr absl::string_view kCreatedPvc = "CreatedPVC";
inline constexpr absl::string_view kFailedToCreatePvc = "FailedToCreatePVC";
inline constexpr absl::string_view kCreatedNetworkPolicy = "CreatedNetworkPolicy";
inline constexpr absl::string_view kUpdatedNetworkPolicy = "UpdatedNetworkPolicy";
inline constexpr absl::string_view kDeletedNetworkPolicy = "DeletedNetworkPolicy";
inline constexpr absl::string_view kFailedToCreateNetworkPolicy = "FailedToCreateNetworkPolicy";
inline constexpr absl::string_view kFailedToUpdateNetworkPolicy = "FailedToUpdateNetworkPolicy";
inline constexpr absl::string_view kFailedToDeleteNetworkPolicy = "FailedToDeleteNetworkPolicy";
inline constexpr absl::string_view kNetworkPolicyNameCollision = "NetworkPolicyNameCollision";
inline constexpr absl::string_view kMtlsPkiReady = "MTLSPKIReady";
inline constexpr absl::string_view kMtlsCertsNotReady = "MTLSCertsNotReady";
inline constexpr absl::string_view kMtlsCertificatesUpdated = "MTLSCertificatesUpdated";
inline constexpr absl::string_view kMtlsFailedToReconcile = "MTLSFailedToReconcile";
inline constexpr absl::string_view kMtlsCertificateExpiringSoon = "MTLSCertificateExpiringSoon";

// Step errors that ReplicaFailure carries as its reason.
inline constexpr absl::string_view kFailedDeleteAllPods = "FailedDeleteAllPods";
inline constexpr absl::string_view kFailedDeleteHeadPod = "FailedDeleteHeadPod";
inline constexpr absl::string_view kFailedCreateHeadPod = "FailedCreateHeadPod";
inline constexpr absl::string_view kFailedDeleteWorkerPod = "FailedDeleteWorkerPod";
inline constexpr absl::string_view kFailedCreateWorkerPod = "FailedCreateWorkerPod";

}  // namespace hekla::apis::ray
