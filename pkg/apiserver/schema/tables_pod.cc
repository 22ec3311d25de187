#include "pkg/apiserver/schema/tables.h"

// Pods without their volumes.
// See tables.h for the notation.
namespace hekla::apiserver::schema::internal {

const char kPodTable[] = R"(
message Pod
1 metadata ObjectMeta!
2 spec PodSpec!
3 status PodStatus!
message Binding
1 metadata ObjectMeta!
2 target ObjectReference!
message PodSpec
1 volumes []Volume merge=name retain map=name
20 initContainers []Container merge=name map=name
2 containers []Container! merge=name map=name
34 ephemeralContainers []EphemeralContainer merge=name map=name
3 restartPolicy string/RestartPolicy
4 terminationGracePeriodSeconds int64?
5 activeDeadlineSeconds int64?
6 dnsPolicy string/DNSPolicy
7 nodeSelector {}string atomic
8 serviceAccountName string
9 serviceAccount string
21 automountServiceAccountToken bool?
10 nodeName string
11 hostNetwork bool
12 hostPID bool
13 hostIPC bool
27 shareProcessNamespace bool?
14 securityContext PodSecurityContext?
15 imagePullSecrets []LocalObjectReference merge=name map=name
16 hostname string
17 subdomain string
18 affinity Affinity?
19 schedulerName string
22 tolerations []Toleration
23 hostAliases []HostAlias merge=ip map=ip
24 priorityClassName string
25 priority int32?
26 dnsConfig PodDNSConfig?
28 readinessGates []PodReadinessGate
29 runtimeClassName string?
30 enableServiceLinks bool?
31 preemptionPolicy string/PreemptionPolicy?
32 overhead {}quantity/ResourceList
33 topologySpreadConstraints []TopologySpreadConstraint merge=topologyKey
+ map=topologyKey,whenUnsatisfiable
35 setHostnameAsFQDN bool?
36 os PodOS?
37 hostUsers bool?
38 schedulingGates []PodSchedulingGate merge=name map=name
39 resourceClaims []PodResourceClaim merge=name retain map=name
40 resources ResourceRequirements?
41 hostnameOverride string?
43 schedulingGroup PodSchedulingGroup?
message PodStatus
17 observedGeneration int64
1 phase string/PodPhase
2 conditions []PodCondition merge=type map=type
3 message string
4 reason string
11 nominatedNodeName string
5 hostIP string
16 hostIPs []HostIP merge=ip
6 podIP string
12 podIPs []PodIP merge=ip map=ip
7 startTime time?
10 initContainerStatuses []ContainerStatus
8 containerStatuses []ContainerStatus
9 qosClass string/PodQOSClass
13 ephemeralContainerStatuses []ContainerStatus
14 resize string/PodResizeStatus
15 resourceClaimStatuses []PodResourceClaimStatus merge=name retain map=name
18 extendedResourceClaimStatus PodExtendedResourceClaimStatus?
19 allocatedResources {}quantity/ResourceList
20 resources ResourceRequirements?
21 nodeAllocatableResourceClaimStatuses []NodeAllocatableResourceClaimStatus
message Container
1 name string!
2 image string
3 command []string
4 args []string
5 workingDir string
6 ports []ContainerPort merge=containerPort map=containerPort,protocol
19 envFrom []EnvFromSource
7 env []EnvVar merge=name map=name
8 resources ResourceRequirements!
23 resizePolicy []ContainerResizePolicy
24 restartPolicy string/ContainerRestartPolicy?
25 restartPolicyRules []ContainerRestartRule
9 volumeMounts []VolumeMount merge=mountPath map=mountPath
21 volumeDevices []VolumeDevice merge=devicePath map=devicePath
10 livenessProbe Probe?
11 readinessProbe Probe?
22 startupProbe Probe?
12 lifecycle Lifecycle?
13 terminationMessagePath string
20 terminationMessagePolicy string/TerminationMessagePolicy
14 imagePullPolicy string/PullPolicy
15 securityContext SecurityContext?
16 stdin bool
17 stdinOnce bool
18 tty bool
message EphemeralContainer
1 EphemeralContainerCommon inline
2 targetContainerName string
message PodSecurityContext
1 seLinuxOptions SELinuxOptions?
8 windowsOptions WindowsSecurityContextOptions?
2 runAsUser int64?
6 runAsGroup int64?
3 runAsNonRoot bool?
4 supplementalGroups []int64
12 supplementalGroupsPolicy string/SupplementalGroupsPolicy?
5 fsGroup int64?
7 sysctls []Sysctl
9 fsGroupChangePolicy string/PodFSGroupChangePolicy?
10 seccompProfile SeccompProfile?
11 appArmorProfile AppArmorProfile?
13 seLinuxChangePolicy string/PodSELinuxChangePolicy?
message Affinity
1 nodeAffinity NodeAffinity?
2 podAffinity PodAffinity?
3 podAntiAffinity PodAntiAffinity?
message Toleration
1 key string
2 operator string/TolerationOperator
3 value string
4 effect string/TaintEffect
5 tolerationSeconds int64?
message HostAlias
1 ip string!
2 hostnames []string
message PodDNSConfig
1 nameservers []string
2 searches []string
3 options []PodDNSConfigOption
message PodReadinessGate
1 conditionType string/PodConditionType!
message TopologySpreadConstraint
1 maxSkew int32!
2 topologyKey string!
3 whenUnsatisfiable string/UnsatisfiableConstraintAction!
4 labelSelector LabelSelector?
5 minDomains int32?
6 nodeAffinityPolicy string/NodeInclusionPolicy?
7 nodeTaintsPolicy string/NodeInclusionPolicy?
8 matchLabelKeys []string
message PodOS
1 name string/OSName!
message PodSchedulingGate
1 name string!
message PodResourceClaim
1 name string!
3 resourceClaimName string?
4 resourceClaimTemplateName string?
message ResourceRequirements
1 limits {}quantity/ResourceList
2 requests {}quantity/ResourceList
3 claims []ResourceClaim map=name
message PodSchedulingGroup
1 podGroupName string?
message PodCondition
1 type string/PodConditionType!
7 observedGeneration int64
2 status string/ConditionStatus!
3 lastProbeTime time!
4 lastTransitionTime time!
5 reason string
6 message string
message HostIP
1 ip string!
message PodIP
1 ip string!
message ContainerStatus
1 name string!
2 state ContainerState!
3 lastState ContainerState!
4 ready bool!
5 restartCount int32!
6 image string!
7 imageID string!
8 containerID string
9 started bool?
10 allocatedResources {}quantity/ResourceList
11 resources ResourceRequirements?
12 volumeMounts []VolumeMountStatus merge=mountPath map=mountPath
13 user ContainerUser?
14 allocatedResourcesStatus []ResourceStatus merge=name map=name
15 stopSignal string/Signal?
message PodResourceClaimStatus
1 name string!
2 resourceClaimName string?
message PodExtendedResourceClaimStatus
1 requestMappings []ContainerExtendedResourceRequest!
2 resourceClaimName string!
message NodeAllocatableResourceClaimStatus
1 resourceClaimName string!
2 containers []string set
3 resources {}quantity!
message ContainerPort
1 name string
2 hostPort int32
3 containerPort int32!
4 protocol string/Protocol default=TCP
5 hostIP string
message EnvFromSource
1 prefix string
2 configMapRef ConfigMapEnvSource?
3 secretRef SecretEnvSource?
message EnvVar
1 name string!
2 value string
3 valueFrom EnvVarSource?
message ContainerResizePolicy
1 resourceName string/ResourceName!
2 restartPolicy string/ResourceResizeRestartPolicy!
message ContainerRestartRule
1 action string/ContainerRestartRuleAction
2 exitCodes ContainerRestartRuleOnExitCodes?
message VolumeMount
1 name string!
2 readOnly bool
7 recursiveReadOnly string/RecursiveReadOnlyMode?
3 mountPath string!
4 subPath string
5 mountPropagation string/MountPropagationMode?
6 subPathExpr string
message VolumeDevice
1 name string!
2 devicePath string!
message Probe
1 ProbeHandler inline
2 initialDelaySeconds int32
3 timeoutSeconds int32
4 periodSeconds int32
5 successThreshold int32
6 failureThreshold int32
7 terminationGracePeriodSeconds int64?
message Lifecycle
1 postStart LifecycleHandler?
2 preStop LifecycleHandler?
3 stopSignal string/Signal?
message SecurityContext
1 capabilities Capabilities?
2 privileged bool?
3 seLinuxOptions SELinuxOptions?
10 windowsOptions WindowsSecurityContextOptions?
4 runAsUser int64?
8 runAsGroup int64?
5 runAsNonRoot bool?
6 readOnlyRootFilesystem bool?
7 allowPrivilegeEscalation bool?
9 procMount string/ProcMountType?
11 seccompProfile SeccompProfile?
12 appArmorProfile AppArmorProfile?
message EphemeralContainerCommon
1 name string!
2 image string
3 command []string
4 args []string
5 workingDir string
6 ports []ContainerPort merge=containerPort
19 envFrom []EnvFromSource
7 env []EnvVar merge=name
8 resources ResourceRequirements!
23 resizePolicy []ContainerResizePolicy
24 restartPolicy string/ContainerRestartPolicy?
25 restartPolicyRules []ContainerRestartRule
9 volumeMounts []VolumeMount merge=mountPath
21 volumeDevices []VolumeDevice merge=devicePath
10 livenessProbe Probe?
11 readinessProbe Probe?
22 startupProbe Probe?
12 lifecycle Lifecycle?
13 terminationMessagePath string
20 terminationMessagePolicy string/TerminationMessagePolicy
14 imagePullPolicy string/PullPolicy
15 securityContext SecurityContext?
16 stdin bool
17 stdinOnce bool
18 tty bool
message SELinuxOptions
1 user string
2 role string
3 type string
4 level string
message WindowsSecurityContextOptions
1 gmsaCredentialSpecName string?
2 gmsaCredentialSpec string?
3 runAsUserName string?
4 hostProcess bool?
message Sysctl
1 name string!
2 value string!
message SeccompProfile
1 type string/SeccompProfileType!
2 localhostProfile string?
message AppArmorProfile
1 type string/AppArmorProfileType!
2 localhostProfile string?
message NodeAffinity
1 requiredDuringSchedulingIgnoredDuringExecution NodeSelector?
2 preferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm
message PodAffinity
1 requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm
2 preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
message PodAntiAffinity
1 requiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm
2 preferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
message PodDNSConfigOption
1 name string
2 value string?
message ResourceClaim
1 name string!
2 request string
message ContainerState
1 waiting ContainerStateWaiting?
2 running ContainerStateRunning?
3 terminated ContainerStateTerminated?
message VolumeMountStatus
1 name string!
2 mountPath string!
3 readOnly bool
4 recursiveReadOnly string/RecursiveReadOnlyMode?
5 volumeStatus VolumeStatus?
message ContainerUser
1 linux LinuxContainerUser?
message ResourceStatus
1 name string/ResourceName!
2 resources []ResourceHealth map=resourceID
message ContainerExtendedResourceRequest
1 containerName string!
2 resourceName string!
3 requestName string!
message ConfigMapEnvSource
1 LocalObjectReference inline
2 optional bool?
message SecretEnvSource
1 LocalObjectReference inline
2 optional bool?
message EnvVarSource
1 fieldRef ObjectFieldSelector?
2 resourceFieldRef ResourceFieldSelector?
3 configMapKeyRef ConfigMapKeySelector?
4 secretKeyRef SecretKeySelector?
5 fileKeyRef FileKeySelector?
message ContainerRestartRuleOnExitCodes
1 operator string/ContainerRestartRuleOnExitCodesOperator
2 values []int32 set
message ProbeHandler
1 exec ExecAction?
2 httpGet HTTPGetAction?
3 tcpSocket TCPSocketAction?
4 grpc GRPCAction?
message LifecycleHandler
1 exec ExecAction?
2 httpGet HTTPGetAction?
3 tcpSocket TCPSocketAction?
4 sleep SleepAction?
message Capabilities
1 add []string/Capability
2 drop []string/Capability
message PreferredSchedulingTerm
1 weight int32!
2 preference NodeSelectorTerm!
message PodAffinityTerm
1 labelSelector LabelSelector?
2 namespaces []string
3 topologyKey string!
4 namespaceSelector LabelSelector?
5 matchLabelKeys []string
6 mismatchLabelKeys []string
message WeightedPodAffinityTerm
1 weight int32!
2 podAffinityTerm PodAffinityTerm!
message ContainerStateWaiting
1 reason string
2 message string
message ContainerStateRunning
1 startedAt time!
message ContainerStateTerminated
1 exitCode int32!
2 signal int32
3 reason string
4 message string
5 startedAt time!
6 finishedAt time!
7 containerID string
message VolumeStatus
1 image ImageVolumeStatus?
message LinuxContainerUser
1 uid int64!
2 gid int64!
3 supplementalGroups []int64
message ResourceHealth
1 resourceID string/ResourceID!
2 health string/ResourceHealthStatus
6 message string?
message ConfigMapKeySelector atomic
1 LocalObjectReference inline
2 key string!
3 optional bool?
message SecretKeySelector atomic
1 LocalObjectReference inline
2 key string!
3 optional bool?
message FileKeySelector atomic
1 volumeName string!
2 path string!
3 key string!
4 optional bool?
message ExecAction
1 command []string
message HTTPGetAction
1 path string
2 port intstr!
3 host string
4 scheme string/URIScheme
5 httpHeaders []HTTPHeader
message TCPSocketAction
1 port intstr!
2 host string
message GRPCAction
1 port int32!
2 service string~
message SleepAction
1 seconds int64!
message ImageVolumeStatus
1 imageRef string
message HTTPHeader
1 name string!
2 value string!
)";

}  // namespace hekla::apiserver::schema::internal
