#include "pkg/apiserver/schema/tables.h"

// apps, autoscaling, batch, coordination, discovery, events, policy, rbac, scheduling, storage.
// See tables.h for the notation.
namespace hekla::apiserver::schema::internal {

const char kWorkloadTable[] = R"(
message apps.Deployment
1 metadata ObjectMeta!
2 spec apps.DeploymentSpec!
3 status apps.DeploymentStatus!
message apps.StatefulSet
1 metadata ObjectMeta!
2 spec apps.StatefulSetSpec!
3 status apps.StatefulSetStatus!
message apps.DaemonSet
1 metadata ObjectMeta!
2 spec apps.DaemonSetSpec!
3 status apps.DaemonSetStatus!
message apps.ReplicaSet
1 metadata ObjectMeta!
2 spec apps.ReplicaSetSpec!
3 status apps.ReplicaSetStatus!
message apps.ControllerRevision
1 metadata ObjectMeta!
2 data any!
3 revision int64!
message batch.Job
1 metadata ObjectMeta!
2 spec batch.JobSpec!
3 status batch.JobStatus!
message batch.CronJob
1 metadata ObjectMeta!
2 spec batch.CronJobSpec!
3 status batch.CronJobStatus!
message scheduling.PriorityClass
1 metadata ObjectMeta!
2 value int32!
3 globalDefault bool
4 description string
5 preemptionPolicy string/PreemptionPolicy?
message policy.PodDisruptionBudget
1 metadata ObjectMeta!
2 spec policy.PodDisruptionBudgetSpec!
3 status policy.PodDisruptionBudgetStatus!
message policy.Eviction
1 metadata ObjectMeta!
2 deleteOptions DeleteOptions?
message storage.StorageClass
1 metadata ObjectMeta!
2 provisioner string!
3 parameters {}string
4 reclaimPolicy string/PersistentVolumeReclaimPolicy?
5 mountOptions []string
6 allowVolumeExpansion bool?
7 volumeBindingMode string/VolumeBindingMode?
8 allowedTopologies []TopologySelectorTerm
message storage.CSINode
1 metadata ObjectMeta!
2 spec storage.CSINodeSpec!
message storage.CSIDriver
1 metadata ObjectMeta!
2 spec storage.CSIDriverSpec!
message storage.CSIStorageCapacity
1 metadata ObjectMeta!
2 nodeTopology LabelSelector?
3 storageClassName string!
4 capacity quantity?
5 maximumVolumeSize quantity?
message storage.VolumeAttachment
1 metadata ObjectMeta!
2 spec storage.VolumeAttachmentSpec!
3 status storage.VolumeAttachmentStatus!
message coordination.Lease
1 metadata ObjectMeta!
2 spec coordination.LeaseSpec!
message events.Event
1 metadata ObjectMeta!
2 eventTime microtime!
3 series events.EventSeries?
4 reportingController string
5 reportingInstance string
6 action string
7 reason string
8 regarding ObjectReference!
9 related ObjectReference?
10 note string
11 type string
12 deprecatedSource EventSource!
13 deprecatedFirstTimestamp time!
14 deprecatedLastTimestamp time!
15 deprecatedCount int32
message discovery.EndpointSlice
1 metadata ObjectMeta!
4 addressType string/AddressType!
2 endpoints []discovery.Endpoint!
3 ports []discovery.EndpointPort!
message rbac.Role
1 metadata ObjectMeta!
2 rules []rbac.PolicyRule!
message rbac.RoleBinding
1 metadata ObjectMeta!
2 subjects []rbac.Subject
3 roleRef rbac.RoleRef!
message rbac.ClusterRole
1 metadata ObjectMeta!
2 rules []rbac.PolicyRule!
3 aggregationRule rbac.AggregationRule?
message rbac.ClusterRoleBinding
1 metadata ObjectMeta!
2 subjects []rbac.Subject
3 roleRef rbac.RoleRef!
message autoscaling.Scale
1 metadata ObjectMeta!
2 spec autoscaling.ScaleSpec!
3 status autoscaling.ScaleStatus!
message apps.DeploymentSpec
1 replicas int32?
2 selector LabelSelector~
3 template PodTemplateSpec!
4 strategy apps.DeploymentStrategy! retain
5 minReadySeconds int32
6 revisionHistoryLimit int32?
7 paused bool
9 progressDeadlineSeconds int32?
message apps.DeploymentStatus
1 observedGeneration int64
2 replicas int32
3 updatedReplicas int32
7 readyReplicas int32
4 availableReplicas int32
5 unavailableReplicas int32
9 terminatingReplicas int32?
6 conditions []apps.DeploymentCondition merge=type map=type
8 collisionCount int32?
message apps.StatefulSetSpec
1 replicas int32?
2 selector LabelSelector~
3 template PodTemplateSpec!
4 volumeClaimTemplates []PersistentVolumeClaim
5 serviceName string!
6 podManagementPolicy string/PodManagementPolicyType
7 updateStrategy apps.StatefulSetUpdateStrategy!
8 revisionHistoryLimit int32?
9 minReadySeconds int32
10 persistentVolumeClaimRetentionPolicy apps.StatefulSetPersistentVolumeClaimRetentionPolicy?
11 ordinals apps.StatefulSetOrdinals?
message apps.StatefulSetStatus
1 observedGeneration int64
2 replicas int32!
3 readyReplicas int32
4 currentReplicas int32
5 updatedReplicas int32
6 currentRevision string
7 updateRevision string
9 collisionCount int32?
10 conditions []apps.StatefulSetCondition merge=type map=type
11 availableReplicas int32!
message apps.DaemonSetSpec
1 selector LabelSelector~
2 template PodTemplateSpec!
3 updateStrategy apps.DaemonSetUpdateStrategy!
4 minReadySeconds int32
6 revisionHistoryLimit int32?
message apps.DaemonSetStatus
1 currentNumberScheduled int32!
2 numberMisscheduled int32!
3 desiredNumberScheduled int32!
4 numberReady int32!
5 observedGeneration int64
6 updatedNumberScheduled int32
7 numberAvailable int32
8 numberUnavailable int32
9 collisionCount int32?
10 conditions []apps.DaemonSetCondition merge=type map=type
message apps.ReplicaSetSpec
1 replicas int32?
4 minReadySeconds int32
2 selector LabelSelector~
3 template PodTemplateSpec!
message apps.ReplicaSetStatus
1 replicas int32!
2 fullyLabeledReplicas int32
4 readyReplicas int32
5 availableReplicas int32
7 terminatingReplicas int32?
3 observedGeneration int64
6 conditions []apps.ReplicaSetCondition merge=type map=type
message batch.JobSpec
1 parallelism int32?
2 completions int32?
3 activeDeadlineSeconds int64?
11 podFailurePolicy batch.PodFailurePolicy?
16 successPolicy batch.SuccessPolicy?
7 backoffLimit int32?
12 backoffLimitPerIndex int32?
13 maxFailedIndexes int32?
4 selector LabelSelector?
5 manualSelector bool?
6 template PodTemplateSpec!
8 ttlSecondsAfterFinished int32?
9 completionMode string/CompletionMode?
10 suspend bool?
14 podReplacementPolicy string/PodReplacementPolicy?
15 managedBy string?
message batch.JobStatus
1 conditions []batch.JobCondition merge=type
2 startTime time?
3 completionTime time?
4 active int32
5 succeeded int32
6 failed int32
11 terminating int32?
7 completedIndexes string
10 failedIndexes string?
8 uncountedTerminatedPods batch.UncountedTerminatedPods?
9 ready int32?
message batch.CronJobSpec
1 schedule string!
8 timeZone string?
2 startingDeadlineSeconds int64?
3 concurrencyPolicy string/ConcurrencyPolicy
4 suspend bool?
5 jobTemplate batch.JobTemplateSpec!
6 successfulJobsHistoryLimit int32?
7 failedJobsHistoryLimit int32?
message batch.CronJobStatus
1 active []ObjectReference
4 lastScheduleTime time?
5 lastSuccessfulTime time?
message policy.PodDisruptionBudgetSpec
1 minAvailable intstr?
2 selector LabelSelector? replace
3 maxUnavailable intstr?
4 unhealthyPodEvictionPolicy string/UnhealthyPodEvictionPolicyType?
message policy.PodDisruptionBudgetStatus
1 observedGeneration int64
2 disruptedPods {}time
3 disruptionsAllowed int32!
4 currentHealthy int32!
5 desiredHealthy int32!
6 expectedPods int32!
7 conditions []Condition merge=type map=type
message storage.CSINodeSpec
1 drivers []storage.CSINodeDriver! merge=name map=name
message storage.CSIDriverSpec
1 attachRequired bool?
2 podInfoOnMount bool?
3 volumeLifecycleModes []string/VolumeLifecycleMode set
4 storageCapacity bool?
5 fsGroupPolicy string/FSGroupPolicy?
6 tokenRequests []storage.TokenRequest
7 requiresRepublish bool?
8 seLinuxMount bool?
9 nodeAllocatableUpdatePeriodSeconds int64?
10 serviceAccountTokenInSecrets bool?
11 preventPodSchedulingIfMissing bool?
message storage.VolumeAttachmentSpec
1 attacher string!
2 source storage.VolumeAttachmentSource!
3 nodeName string!
message storage.VolumeAttachmentStatus
1 attached bool!
2 attachmentMetadata {}string
3 attachError storage.VolumeError?
4 detachError storage.VolumeError?
message coordination.LeaseSpec
1 holderIdentity string?
2 leaseDurationSeconds int32?
3 acquireTime microtime?
4 renewTime microtime?
5 leaseTransitions int32?
6 strategy string/CoordinatedLeaseStrategy?
7 preferredHolder string?
message events.EventSeries
1 count int32!
2 lastObservedTime microtime!
message discovery.Endpoint
1 addresses []string! set
2 conditions discovery.EndpointConditions!
3 hostname string?
4 targetRef ObjectReference?
5 deprecatedTopology {}string
6 nodeName string?
7 zone string?
8 hints discovery.EndpointHints?
message discovery.EndpointPort atomic
1 name string?
2 protocol string/Protocol?
3 port int32?
4 appProtocol string?
message rbac.PolicyRule
1 verbs []string!
2 apiGroups []string
3 resources []string
4 resourceNames []string
5 nonResourceURLs []string
message rbac.Subject atomic
1 kind string!
2 apiGroup string
3 name string!
4 namespace string
message rbac.RoleRef atomic
1 apiGroup string!
2 kind string!
3 name string!
message rbac.AggregationRule
1 clusterRoleSelectors []LabelSelector
message autoscaling.ScaleSpec
1 replicas int32
message autoscaling.ScaleStatus
1 replicas int32!
2 selector string
message apps.DeploymentStrategy
1 type string/DeploymentStrategyType
2 rollingUpdate apps.RollingUpdateDeployment?
message apps.DeploymentCondition
1 type string/DeploymentConditionType!
2 status string/ConditionStatus!
6 lastUpdateTime time!
7 lastTransitionTime time!
4 reason string
5 message string
message apps.StatefulSetUpdateStrategy
1 type string/StatefulSetUpdateStrategyType
2 rollingUpdate apps.RollingUpdateStatefulSetStrategy?
message apps.StatefulSetPersistentVolumeClaimRetentionPolicy
1 whenDeleted string/PersistentVolumeClaimRetentionPolicyType
2 whenScaled string/PersistentVolumeClaimRetentionPolicyType
message apps.StatefulSetOrdinals
1 start int32!
message apps.StatefulSetCondition
1 type string/StatefulSetConditionType!
2 status string/ConditionStatus!
3 lastTransitionTime time!
4 reason string
5 message string
message apps.DaemonSetUpdateStrategy
1 type string/DaemonSetUpdateStrategyType
2 rollingUpdate apps.RollingUpdateDaemonSet?
message apps.DaemonSetCondition
1 type string/DaemonSetConditionType!
2 status string/ConditionStatus!
3 lastTransitionTime time!
4 reason string
5 message string
message apps.ReplicaSetCondition
1 type string/ReplicaSetConditionType!
2 status string/ConditionStatus!
3 lastTransitionTime time!
4 reason string
5 message string
message batch.PodFailurePolicy
1 rules []batch.PodFailurePolicyRule!
message batch.SuccessPolicy
1 rules []batch.SuccessPolicyRule!
message batch.JobCondition
1 type string/JobConditionType!
2 status string/ConditionStatus!
3 lastProbeTime time!
4 lastTransitionTime time!
5 reason string
6 message string
message batch.UncountedTerminatedPods
1 succeeded []string/types.UID set
2 failed []string/types.UID set
message batch.JobTemplateSpec
1 metadata ObjectMeta!
2 spec batch.JobSpec!
message storage.CSINodeDriver
1 name string!
2 nodeID string!
3 topologyKeys []string!
4 allocatable storage.VolumeNodeResources?
message storage.TokenRequest
1 audience string!
2 expirationSeconds int64?
message storage.VolumeAttachmentSource
1 persistentVolumeName string?
2 inlineVolumeSpec PersistentVolumeSpec?
message storage.VolumeError
1 time time!
2 message string
3 errorCode int32?
message discovery.EndpointConditions
1 ready bool?
2 serving bool?
3 terminating bool?
message discovery.EndpointHints
1 forZones []discovery.ForZone
2 forNodes []discovery.ForNode
message apps.RollingUpdateDeployment
1 maxUnavailable intstr?
2 maxSurge intstr?
message apps.RollingUpdateStatefulSetStrategy
1 partition int32?
2 maxUnavailable intstr?
message apps.RollingUpdateDaemonSet
1 maxUnavailable intstr?
2 maxSurge intstr?
message batch.PodFailurePolicyRule
1 action string/PodFailurePolicyAction!
2 onExitCodes batch.PodFailurePolicyOnExitCodesRequirement?
3 onPodConditions []batch.PodFailurePolicyOnPodConditionsPattern
message batch.SuccessPolicyRule
1 succeededIndexes string?
2 succeededCount int32?
message storage.VolumeNodeResources
1 count int32?
message discovery.ForZone
1 name string!
message discovery.ForNode
1 name string!
message batch.PodFailurePolicyOnExitCodesRequirement
1 containerName string?
2 operator string/PodFailurePolicyOnExitCodesOperator!
3 values []int32! set
message batch.PodFailurePolicyOnPodConditionsPattern
1 type string/PodConditionType!
2 status string/ConditionStatus!
)";

}  // namespace hekla::apiserver::schema::internal
