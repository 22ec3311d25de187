#include "pkg/apiserver/schema/tables.h"

// The kinds, and the forms that all of them share.
// See tables.h for the notation.
namespace hekla::apiserver::schema::internal {

const char kMetaTable[] = R"(
kind v1 Pod Pod
kind v1 PodTemplate PodTemplate
kind v1 ReplicationController ReplicationController
kind v1 Node Node
kind v1 Namespace Namespace
kind v1 Event Event
kind v1 ConfigMap ConfigMap
kind v1 Secret Secret
kind v1 Service Service
kind v1 ServiceAccount ServiceAccount
kind v1 PersistentVolume PersistentVolume
kind v1 PersistentVolumeClaim PersistentVolumeClaim
kind v1 Endpoints Endpoints
kind v1 LimitRange LimitRange
kind v1 ResourceQuota ResourceQuota
kind v1 Binding Binding
kind apps/v1 Deployment apps.Deployment
kind apps/v1 StatefulSet apps.StatefulSet
kind apps/v1 DaemonSet apps.DaemonSet
kind apps/v1 ReplicaSet apps.ReplicaSet
kind apps/v1 ControllerRevision apps.ControllerRevision
kind batch/v1 Job batch.Job
kind batch/v1 CronJob batch.CronJob
kind scheduling.k8s.io/v1 PriorityClass scheduling.PriorityClass
kind policy/v1 PodDisruptionBudget policy.PodDisruptionBudget
kind policy/v1 Eviction policy.Eviction
kind storage.k8s.io/v1 StorageClass storage.StorageClass
kind storage.k8s.io/v1 CSINode storage.CSINode
kind storage.k8s.io/v1 CSIDriver storage.CSIDriver
kind storage.k8s.io/v1 CSIStorageCapacity storage.CSIStorageCapacity
kind storage.k8s.io/v1 VolumeAttachment storage.VolumeAttachment
kind coordination.k8s.io/v1 Lease coordination.Lease
kind events.k8s.io/v1 Event events.Event
kind discovery.k8s.io/v1 EndpointSlice discovery.EndpointSlice
kind rbac.authorization.k8s.io/v1 Role rbac.Role
kind rbac.authorization.k8s.io/v1 RoleBinding rbac.RoleBinding
kind rbac.authorization.k8s.io/v1 ClusterRole rbac.ClusterRole
kind rbac.authorization.k8s.io/v1 ClusterRoleBinding rbac.ClusterRoleBinding
kind networking.k8s.io/v1 Ingress networking.Ingress
kind networking.k8s.io/v1 IngressClass networking.IngressClass
kind networking.k8s.io/v1 NetworkPolicy networking.NetworkPolicy
kind resource.k8s.io/v1 ResourceClaim resource.ResourceClaim
kind resource.k8s.io/v1 ResourceClaimTemplate resource.ResourceClaimTemplate
kind resource.k8s.io/v1 ResourceSlice resource.ResourceSlice
kind resource.k8s.io/v1 DeviceClass resource.DeviceClass
kind authorization.k8s.io/v1 SelfSubjectAccessReview authorization.SelfSubjectAccessReview
kind authorization.k8s.io/v1 SubjectAccessReview authorization.SubjectAccessReview
kind authorization.k8s.io/v1 LocalSubjectAccessReview authorization.LocalSubjectAccessReview
kind authorization.k8s.io/v1 SelfSubjectRulesReview authorization.SelfSubjectRulesReview
kind authentication.k8s.io/v1 TokenReview authentication.TokenReview
kind authentication.k8s.io/v1 TokenRequest authentication.TokenRequest
kind authentication.k8s.io/v1 SelfSubjectReview authentication.SelfSubjectReview
kind autoscaling/v1 Scale autoscaling.Scale
kind apiextensions.k8s.io/v1 CustomResourceDefinition apiextensions.CustomResourceDefinition
kind meta.k8s.io/v1 DeleteOptions DeleteOptions
kind meta.k8s.io/v1 Status Status
message DeleteOptions
1 gracePeriodSeconds int64?
2 preconditions Preconditions?
3 orphanDependents bool?
4 propagationPolicy string/DeletionPropagation?
5 dryRun []string
6 ignoreStoreReadErrorWithClusterBreakingPotential bool?
message Status
1 metadata ListMeta!
2 status string
3 message string
4 reason string/StatusReason
5 details StatusDetails?
6 code int32
message ObjectMeta
1 name string
2 generateName string
3 namespace string
4 selfLink string
5 uid string/types.UID
6 resourceVersion string
7 generation int64
8 creationTimestamp time
9 deletionTimestamp time?
10 deletionGracePeriodSeconds int64?
11 labels {}string
12 annotations {}string
13 ownerReferences []OwnerReference merge=uid map=uid
14 finalizers []string merge set
17 managedFields []ManagedFieldsEntry
message LabelSelector atomic
1 matchLabels {}string
2 matchExpressions []LabelSelectorRequirement
message Preconditions
1 uid string/types.UID?
2 resourceVersion string?
message ListMeta
1 selfLink string
2 resourceVersion string
3 continue string
4 remainingItemCount int64?
5 shardInfo ShardInfo?
message StatusDetails
1 name string
2 group string
3 kind string
6 uid string/types.UID
4 causes []StatusCause
5 retryAfterSeconds int32
message OwnerReference atomic
5 apiVersion string!
1 kind string!
3 name string!
4 uid string/types.UID!
6 controller bool?
7 blockOwnerDeletion bool?
message ManagedFieldsEntry
1 manager string
2 operation string/ManagedFieldsOperationType
3 apiVersion string
4 time time?
6 fieldsType string
7 fieldsV1 fields?
8 subresource string
message Condition
1 type string!
2 status string/ConditionStatus!
3 observedGeneration int64
4 lastTransitionTime time!
5 reason string!
6 message string!
message LabelSelectorRequirement
1 key string!
2 operator string/LabelSelectorOperator!
3 values []string
message StatusCause
1 reason string/CauseType
2 message string
3 field string
message FieldSelectorRequirement
1 key string!
2 operator string/FieldSelectorOperator!
3 values []string
)";

}  // namespace hekla::apiserver::schema::internal
