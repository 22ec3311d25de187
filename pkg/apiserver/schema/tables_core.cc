#include "pkg/apiserver/schema/tables.h"

// The rest of the core group.
// See tables.h for the notation.
namespace hekla::apiserver::schema::internal {

const char kCoreTable[] = R"(
message PodTemplate
1 metadata ObjectMeta!
2 template PodTemplateSpec!
message ReplicationController
1 metadata ObjectMeta!
2 spec ReplicationControllerSpec!
3 status ReplicationControllerStatus!
message Node
1 metadata ObjectMeta!
2 spec NodeSpec!
3 status NodeStatus!
message Namespace
1 metadata ObjectMeta!
2 spec NamespaceSpec!
3 status NamespaceStatus!
message Event
1 metadata ObjectMeta!
2 involvedObject ObjectReference!
3 reason string
4 message string
5 source EventSource!
6 firstTimestamp time!
7 lastTimestamp time!
8 count int32
9 type string
10 eventTime microtime!
11 series EventSeries?
12 action string
13 related ObjectReference?
14 reportingComponent string!
15 reportingInstance string!
message ConfigMap
1 metadata ObjectMeta!
4 immutable bool?
2 data {}string
3 binaryData {}bytes
message Secret
1 metadata ObjectMeta!
5 immutable bool?
2 data {}bytes
4 stringData {}string
3 type string/SecretType
message Service
1 metadata ObjectMeta!
2 spec ServiceSpec!
3 status ServiceStatus!
message ServiceAccount
1 metadata ObjectMeta!
2 secrets []ObjectReference merge=name map=name
3 imagePullSecrets []LocalObjectReference
4 automountServiceAccountToken bool?
message PersistentVolume
1 metadata ObjectMeta!
2 spec PersistentVolumeSpec!
3 status PersistentVolumeStatus!
message PersistentVolumeClaim
1 metadata ObjectMeta!
2 spec PersistentVolumeClaimSpec!
3 status PersistentVolumeClaimStatus!
message Endpoints
1 metadata ObjectMeta!
2 subsets []EndpointSubset
message LimitRange
1 metadata ObjectMeta!
2 spec LimitRangeSpec!
message ResourceQuota
1 metadata ObjectMeta!
2 spec ResourceQuotaSpec!
3 status ResourceQuotaStatus!
message PodTemplateSpec
1 metadata ObjectMeta!
2 spec PodSpec!
message ReplicationControllerSpec
1 replicas int32?
4 minReadySeconds int32
2 selector {}string atomic
3 template PodTemplateSpec?
message ReplicationControllerStatus
1 replicas int32!
2 fullyLabeledReplicas int32
4 readyReplicas int32
5 availableReplicas int32
3 observedGeneration int64
6 conditions []ReplicationControllerCondition merge=type map=type
message NodeSpec
1 podCIDR string
7 podCIDRs []string merge set
3 providerID string
4 unschedulable bool
5 taints []Taint
6 configSource NodeConfigSource?
2 externalID string
message NodeStatus
1 capacity {}quantity/ResourceList
2 allocatable {}quantity/ResourceList
3 phase string/NodePhase
4 conditions []NodeCondition merge=type map=type
5 addresses []NodeAddress merge=type map=type
6 daemonEndpoints NodeDaemonEndpoints!
7 nodeInfo NodeSystemInfo!
8 images []ContainerImage
9 volumesInUse []string/UniqueVolumeName
10 volumesAttached []AttachedVolume
11 config NodeConfigStatus?
12 runtimeHandlers []NodeRuntimeHandler
13 features NodeFeatures?
14 declaredFeatures []string
message NamespaceSpec
1 finalizers []string/FinalizerName
message NamespaceStatus
1 phase string/NamespacePhase
2 conditions []NamespaceCondition merge=type map=type
message EventSource
1 component string
2 host string
message EventSeries
1 count int32
2 lastObservedTime microtime!
message ServiceSpec
1 ports []ServicePort merge=port map=port,protocol
2 selector {}string atomic
3 clusterIP string
18 clusterIPs []string
4 type string/ServiceType
5 externalIPs []string
7 sessionAffinity string/ServiceAffinity
8 loadBalancerIP string
9 loadBalancerSourceRanges []string
10 externalName string
11 externalTrafficPolicy string/ServiceExternalTrafficPolicy
12 healthCheckNodePort int32
13 publishNotReadyAddresses bool
14 sessionAffinityConfig SessionAffinityConfig?
19 ipFamilies []string/IPFamily
17 ipFamilyPolicy string/IPFamilyPolicy?
20 allocateLoadBalancerNodePorts bool?
21 loadBalancerClass string?
22 internalTrafficPolicy string/ServiceInternalTrafficPolicy?
23 trafficDistribution string?
message ServiceStatus
1 loadBalancer LoadBalancerStatus!
2 conditions []Condition merge=type map=type
message PersistentVolumeStatus
1 phase string/PersistentVolumePhase
2 message string
3 reason string
4 lastPhaseTransitionTime time?
message PersistentVolumeClaimStatus
1 phase string/PersistentVolumeClaimPhase
2 accessModes []string/PersistentVolumeAccessMode
3 capacity {}quantity/ResourceList
4 conditions []PersistentVolumeClaimCondition merge=type map=type
5 allocatedResources {}quantity/ResourceList
7 allocatedResourceStatuses {}string/ClaimResourceStatus
8 currentVolumeAttributesClassName string?
9 modifyVolumeStatus ModifyVolumeStatus?
message EndpointSubset
1 addresses []EndpointAddress
2 notReadyAddresses []EndpointAddress
3 ports []EndpointPort
message LimitRangeSpec
1 limits []LimitRangeItem!
message ResourceQuotaSpec
1 hard {}quantity/ResourceList
2 scopes []string/ResourceQuotaScope
3 scopeSelector ScopeSelector?
message ResourceQuotaStatus
1 hard {}quantity/ResourceList
2 used {}quantity/ResourceList
message TopologySelectorTerm atomic
1 matchLabelExpressions []TopologySelectorLabelRequirement
message ReplicationControllerCondition
1 type string/ReplicationControllerConditionType!
2 status string/ConditionStatus!
3 lastTransitionTime time!
4 reason string
5 message string
message Taint
1 key string!
2 value string
3 effect string/TaintEffect!
4 timeAdded time?
message NodeConfigSource
2 configMap ConfigMapNodeConfigSource?
message NodeCondition
1 type string/NodeConditionType!
2 status string/ConditionStatus!
3 lastHeartbeatTime time!
4 lastTransitionTime time!
5 reason string
6 message string
message NodeAddress
1 type string/NodeAddressType!
2 address string!
message NodeDaemonEndpoints
1 kubeletEndpoint DaemonEndpoint!
message NodeSystemInfo
1 machineID string!
2 systemUUID string!
3 bootID string!
4 kernelVersion string!
5 osImage string!
6 containerRuntimeVersion string!
7 kubeletVersion string!
8 kubeProxyVersion string!
9 operatingSystem string!
10 architecture string!
11 swap NodeSwapStatus?
message ContainerImage
1 names []string!
2 sizeBytes int64
message AttachedVolume
1 name string/UniqueVolumeName!
2 devicePath string!
message NodeConfigStatus
1 assigned NodeConfigSource?
2 active NodeConfigSource?
3 lastKnownGood NodeConfigSource?
4 error string
message NodeRuntimeHandler
1 name string!
2 features NodeRuntimeHandlerFeatures?
message NodeFeatures
1 supplementalGroupsPolicy bool?
message NamespaceCondition
1 type string/NamespaceConditionType!
2 status string/ConditionStatus!
4 lastTransitionTime time!
5 reason string
6 message string
message ServicePort
1 name string
2 protocol string/Protocol default=TCP
6 appProtocol string?
3 port int32!
4 targetPort intstr!
5 nodePort int32
message SessionAffinityConfig
1 clientIP ClientIPConfig?
message LoadBalancerStatus
1 ingress []LoadBalancerIngress
message PersistentVolumeClaimCondition
1 type string/PersistentVolumeClaimConditionType!
2 status string/ConditionStatus!
3 lastProbeTime time!
4 lastTransitionTime time!
5 reason string
6 message string
message ModifyVolumeStatus
1 targetVolumeAttributesClassName string
2 status string/PersistentVolumeClaimModifyVolumeStatus!
message EndpointAddress atomic
1 ip string!
3 hostname string
4 nodeName string?
2 targetRef ObjectReference?
message EndpointPort atomic
1 name string
2 port int32!
3 protocol string/Protocol
4 appProtocol string?
message LimitRangeItem
1 type string/LimitType!
2 max {}quantity/ResourceList
3 min {}quantity/ResourceList
4 default {}quantity/ResourceList
5 defaultRequest {}quantity/ResourceList
6 maxLimitRequestRatio {}quantity/ResourceList
message ScopeSelector atomic
1 matchExpressions []ScopedResourceSelectorRequirement
message TopologySelectorLabelRequirement
1 key string!
2 values []string!
message ShardInfo
1 selector string!
message ConfigMapNodeConfigSource
1 namespace string!
2 name string!
3 uid string/types.UID
4 resourceVersion string
5 kubeletConfigKey string!
message DaemonEndpoint
1 Port int32!
message NodeSwapStatus
1 capacity int64?
message NodeRuntimeHandlerFeatures
1 recursiveReadOnlyMounts bool?
2 userNamespaces bool?
message ClientIPConfig
1 timeoutSeconds int32?
message LoadBalancerIngress
1 ip string
2 hostname string
3 ipMode string/LoadBalancerIPMode?
4 ports []PortStatus
message ScopedResourceSelectorRequirement
1 scopeName string/ResourceQuotaScope!
2 operator string/ScopeSelectorOperator!
3 values []string
message PortStatus
1 port int32!
2 protocol string/Protocol!
3 error string?
)";

}  // namespace hekla::apiserver::schema::internal
