#include "pkg/apiserver/printing/columns.h"

// Columns of the built-in kinds; the notation is explained in columns.h. The descriptions are part
// of what an API server answers and therefore stand here byte for byte: they are documentation
// strings of the Kubernetes API (Copyright The Kubernetes Authors, Apache License 2.0).
namespace hekla::apiserver::printing::internal {

const char kGroupColumns[] = R"(
kind apps Deployment
Name|string|name|0|$name
Ready|string||0|$ready
Up-to-date|string||0|Total number of non-terminating pods targeted by this deployment that have
  the desired template spec.
Available|string||0|Total number of available non-terminating pods (ready for at least
  minReadySeconds) targeted by this deployment.
Age|string||0|$age
Containers|string||1|$containers
Images|string||1|$images
Selector|string||1|Label selector for pods. Existing ReplicaSets whose pods are selected by this
  will be the ones affected by this deployment. It must match the pod template's labels.
kind apps ReplicaSet
Name|string|name|0|$name
Desired|integer||0|Replicas is the number of desired pods. This is a pointer to distinguish
  between explicit zero and unspecified. Defaults to 1. More info:
  https://kubernetes.io/docs/concepts/workloads/controllers/replicaset
Current|integer||0|Replicas is the most recently observed number of non-terminating pods. More
  info: https://kubernetes.io/docs/concepts/workloads/controllers/replicaset
Ready|integer||0|The number of non-terminating pods targeted by this ReplicaSet with a Ready
  Condition.
Age|string||0|$age
Containers|string||1|$containers
Images|string||1|$images
Selector|string||1|Selector is a label query over pods that should match the replica count. Label
  keys and values that must match in order to be controlled by this replica set. It must match the
  pod template's labels. More info:
  https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
kind apps StatefulSet
Name|string|name|0|$name
Ready|string||0|$ready
Age|string||0|$age
Containers|string||1|$containers
Images|string||1|$images
kind apps DaemonSet
Name|string|name|0|$name
Desired|integer||0|The total number of nodes that should be running the daemon pod (including
  nodes correctly running the daemon pod). More info:
  https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/
Current|integer||0|The number of nodes that are running at least 1 daemon pod and are supposed to
  run the daemon pod. More info:
  https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/
Ready|integer||0|numberReady is the number of nodes that should be running the daemon pod and have
  one or more of the daemon pod running with a Ready Condition.
Up-to-date|integer||0|The total number of nodes that are running updated daemon pod
Available|integer||0|The number of nodes that should be running the daemon pod and have one or
  more of the daemon pod running and available (ready for at least spec.minReadySeconds)
Node Selector|string||0|NodeSelector is a selector which must be true for the pod to fit on a
  node. Selector which must match a node's labels for the pod to be scheduled on that node. More
  info: https://kubernetes.io/docs/concepts/configuration/assign-pod-node/
Age|string||0|$age
Containers|string||1|$containers
Images|string||1|$images
Selector|string||1|A label query over pods that are managed by the daemon set. Must match in order
  to be controlled. It must match the pod template's labels. More info:
  https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
kind apps ControllerRevision
Name|string|name|0|$name
Controller|string||0|Controller of the object
Revision|string||0|Revision indicates the revision of the state represented by Data.
Age|string||0|$age
kind batch Job
Name|string|name|0|$name
Status|string||0|Status of the job.
Completions|string||0|The number of pods which reached phase Succeeded. The value increases
  monotonically for a given spec. However, it may decrease in reaction to scale down of elastic
  indexed jobs.
Duration|string||0|Time required to complete the job.
Age|string||0|$age
Containers|string||1|$containers
Images|string||1|$images
Selector|string||1|$selector
kind batch CronJob
Name|string|name|0|$name
Schedule|string||0|The schedule in Cron format, see https://en.wikipedia.org/wiki/Cron.
Timezone|string||0|The time zone name for the given schedule, see
  https://en.wikipedia.org/wiki/List_of_tz_database_time_zones. If not specified, this will
  default to the time zone of the kube-controller-manager process. The set of valid time zone
  names and the time zone offset is loaded from the system-wide time zone database by the API
  server during CronJob validation and the controller manager during execution. If no system-wide
  time zone database can be found a bundled version of the database is used instead. If the time
  zone name becomes invalid during the lifetime of a CronJob or due to a change in host
  configuration, the controller will stop creating new new Jobs and will create a system event
  with the reason UnknownTimeZone. More information can be found in
  https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#time-zones
Suspend|boolean||0|This flag tells the controller to suspend subsequent executions, it does not
  apply to already started executions. \sDefaults to false.
Active|integer||0|A list of pointers to currently running jobs.
Last Schedule|string||0|Information when was the last time the job was successfully scheduled.
Age|string||0|$age
Containers|string||1|$containers
Images|string||1|$images
Selector|string||1|$selector
kind scheduling.k8s.io PriorityClass
Name|string|name|0|$name
Value|integer||0|value represents the integer value of this priority class. This is the actual
  priority that pods receive when they have the name of this class in their pod spec.
Global-Default|boolean||0|globalDefault specifies whether this PriorityClass should be considered
  as the default priority for pods that do not have any priority class. Only one PriorityClass can
  be marked as `globalDefault`. However, if more than one PriorityClasses exists with their
  `globalDefault` field set to true, the smallest value of such global default PriorityClasses
  will be used as the default priority.
Age|string||0|$age
PreemptionPolicy|string||0|preemptionPolicy is the Policy for preempting pods with lower priority.
  One of Never, PreemptLowerPriority. Defaults to PreemptLowerPriority if unset.
kind policy PodDisruptionBudget
Name|string|name|0|$name
Min Available|string||0|The minimum number of pods that must be available.
Max Unavailable|string||0|The maximum number of pods that may be unavailable.
Allowed Disruptions|integer||0|Calculated number of pods that may be disrupted at this time.
Age|string||0|$age
kind storage.k8s.io StorageClass
Name|string|name|0|$name
Provisioner|string||0|provisioner indicates the type of the provisioner.
ReclaimPolicy|string||0|reclaimPolicy controls the reclaimPolicy for dynamically provisioned
  PersistentVolumes of this storage class. Defaults to Delete.
VolumeBindingMode|string||0|volumeBindingMode indicates how PersistentVolumeClaims should be
  provisioned and bound. \sWhen unset, VolumeBindingImmediate is used. This field is only honored
  by servers that enable the VolumeScheduling feature.
AllowVolumeExpansion|string||0|allowVolumeExpansion shows whether the storage class allow volume
  expand.
Age|string||0|$age
kind storage.k8s.io CSINode
Name|string|name|0|$name
Drivers|integer||0|Drivers indicates the number of CSI drivers registered on the node
Age|string||0|$age
kind storage.k8s.io CSIDriver
Name|string|name|0|$name
AttachRequired|boolean||0|attachRequired indicates this CSI volume driver requires an attach
  operation (because it implements the CSI ControllerPublishVolume() method), and that the
  Kubernetes attach detach controller should call the attach volume interface which checks the
  volumeattachment status and waits until the volume is attached before proceeding to mounting.
  The CSI external-attacher coordinates with CSI volume driver and updates the volumeattachment
  status when the attach operation is complete. If the value is specified to false, the attach
  operation will be skipped. Otherwise the attach operation will be called.\n\nThis field is
  immutable.
PodInfoOnMount|boolean||0|podInfoOnMount indicates this CSI volume driver requires additional pod
  information (like podName, podUID, etc.) during mount operations, if set to true. If set to
  false, pod information will not be passed on mount. Default is false.\n\nThe CSI driver
  specifies podInfoOnMount as part of driver deployment. If true, Kubelet will pass pod
  information as VolumeContext in the CSI NodePublishVolume() calls. The CSI driver is responsible
  for parsing and validating the information passed in as VolumeContext.\n\nThe following
  VolumeContext will be passed if podInfoOnMount is set to true. This list might grow, but the
  prefix will be used. "csi.storage.k8s.io/pod.name": pod.Name "csi.storage.k8s.io/pod.namespace":
  pod.Namespace "csi.storage.k8s.io/pod.uid": string(pod.UID) "csi.storage.k8s.io/ephemeral":
  "true" if the volume is an ephemeral inline volume\n \s \s \s \s \s \s \s \s \s \s \s \s \s \s
  \s \sdefined by a CSIVolumeSource, otherwise "false"\n\n"csi.storage.k8s.io/ephemeral" is a new
  feature in Kubernetes 1.16. It is only required for drivers which support both the "Persistent"
  and "Ephemeral" VolumeLifecycleMode. Other drivers can leave pod info disabled and/or ignore
  this field. As Kubernetes 1.15 doesn't support this field, drivers can only support one mode
  when deployed on such a cluster and the deployment determines which mode that is, for example
  via a command line parameter of the driver.\n\nThis field was immutable in Kubernetes < 1.29 and
  now is mutable.
StorageCapacity|boolean||0|storageCapacity indicates that the CSI volume driver wants pod
  scheduling to consider the storage capacity that the driver deployment will report by creating
  CSIStorageCapacity objects with capacity information, if set to true.\n\nThe check can be
  enabled immediately when deploying a driver. In that case, provisioning new volumes with late
  binding will pause until the driver deployment has published some suitable CSIStorageCapacity
  object.\n\nAlternatively, the driver can be deployed with the field unset or false and it can be
  flipped later when storage capacity information has been published.\n\nThis field was immutable
  in Kubernetes <= 1.22 and now is mutable.
TokenRequests|string||0|tokenRequests indicates the CSI driver needs pods' service account tokens
  it is mounting volume for to do necessary authentication. Kubelet will pass the tokens in
  VolumeContext in the CSI NodePublishVolume calls. The CSI driver should parse and validate the
  following VolumeContext: "csi.storage.k8s.io/serviceAccount.tokens": {\n \s"<audience>": {\n \s
  \s"token": <token>,\n \s \s"expirationTimestamp": <expiration timestamp in RFC3339>,\n \s},\n
  \s...\n}\n\nNote: Audience in each TokenRequest should be different and at most one token is
  empty string. To receive a new token after expiry, RequiresRepublish can be used to trigger
  NodePublishVolume periodically.
RequiresRepublish|boolean||0|requiresRepublish indicates the CSI driver wants `NodePublishVolume`
  being periodically called to reflect any possible change in the mounted volume. This field
  defaults to false.\n\nNote: After a successful initial NodePublishVolume call, subsequent calls
  to NodePublishVolume should only update the contents of the volume. New mount points will not be
  seen by a running container.
Modes|string||0|volumeLifecycleModes defines what kind of volumes this CSI volume driver supports.
  The default if the list is empty is "Persistent", which is the usage defined by the CSI
  specification and implemented in Kubernetes via the usual PV/PVC mechanism.\n\nThe other mode is
  "Ephemeral". In this mode, volumes are defined inline inside the pod spec with CSIVolumeSource
  and their lifecycle is tied to the lifecycle of that pod. A driver has to be aware of this
  because it is only going to get a NodePublishVolume call for such a volume.\n\nFor more
  information about implementing this mode, see
  https://kubernetes-csi.github.io/docs/ephemeral-local-volumes.html A driver can support one or
  more of these modes and more modes may be added in the future.\n\nThis field is beta. This field
  is immutable.
Age|string||0|$age
kind storage.k8s.io CSIStorageCapacity
Name|string|name|0|$name
StorageClassName|string||0|storageClassName represents the name of the StorageClass that the
  reported capacity applies to. It must meet the same requirements as the name of a StorageClass
  object (non-empty, DNS subdomain). If that object no longer exists, the CSIStorageCapacity
  object is obsolete and should be removed by its creator. This field is immutable.
Capacity|string||0|capacity is the value reported by the CSI driver in its GetCapacityResponse for
  a GetCapacityRequest with topology and parameters that match the previous fields.\n\nThe
  semantic is currently (CSI spec 1.2) defined as: The available capacity, in bytes, of the
  storage that can be used to provision volumes. If not set, that information is currently
  unavailable.
kind storage.k8s.io VolumeAttachment
Name|string|name|0|$name
Attacher|string|name|0|attacher indicates the name of the volume driver that MUST handle this
  request. This is the name returned by GetPluginName().
PV|string||0|persistentVolumeName represents the name of the persistent volume to attach.
Node|string||0|nodeName represents the node that the volume should be attached to.
Attached|boolean||0|attached indicates the volume is successfully attached. This field must only
  be set by the entity completing the attach operation, i.e. the external-attacher.
Age|string||0|$age
kind coordination.k8s.io Lease
Name|string|name|0|$name
Holder|string||0|holderIdentity contains the identity of the holder of a current lease. If
  Coordinated Leader Election is used, the holder identity must be equal to the elected
  LeaseCandidate.metadata.name field.
Age|string||0|$age
kind discovery.k8s.io EndpointSlice
Name|string|name|0|$name
AddressType|string||0|addressType specifies the type of address carried by this EndpointSlice. All
  addresses in this slice must be the same type. This field is immutable after creation. The
  following address types are currently supported: * IPv4: Represents an IPv4 Address. * IPv6:
  Represents an IPv6 Address. * FQDN: Represents a Fully Qualified Domain Name. (Deprecated) The
  EndpointSlice controller only generates, and kube-proxy only processes, slices of addressType
  "IPv4" and "IPv6". No semantics are defined for the "FQDN" type.
Ports|string||0|ports specifies the list of network ports exposed by each endpoint in this slice.
  Each port must have a unique name. Each slice may include a maximum of 100 ports. Services
  always have at least 1 port, so EndpointSlices generated by the EndpointSlice controller will
  likewise always have at least 1 port. EndpointSlices used for other purposes may have an empty
  ports list.
Endpoints|string||0|endpoints is a list of unique endpoints in this slice. Each slice may include
  a maximum of 1000 endpoints.
Age|string||0|$age
kind rbac.authorization.k8s.io RoleBinding
Name|string|name|0|$name
Role|string||0|RoleRef can reference a Role in the current namespace or a ClusterRole in the
  global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.
Age|string||0|$age
Users|string||1|Users in the roleBinding
Groups|string||1|Groups in the roleBinding
ServiceAccounts|string||1|ServiceAccounts in the roleBinding
kind rbac.authorization.k8s.io ClusterRoleBinding
Name|string|name|0|$name
Role|string||0|RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef
  cannot be resolved, the Authorizer must return an error.
Age|string||0|$age
Users|string||1|Users in the clusterRoleBinding
Groups|string||1|Groups in the clusterRoleBinding
ServiceAccounts|string||1|ServiceAccounts in the clusterRoleBinding
kind networking.k8s.io Ingress
Name|string|name|0|$name
Class|string||0|The name of the IngressClass resource that should be used for additional
  configuration
Hosts|string||0|Hosts that incoming requests are matched against before the ingress rule
Address|string||0|Address is a list containing ingress points for the load-balancer
Ports|string||0|Ports of TLS configurations that open
Age|string||0|$age
kind networking.k8s.io IngressClass
Name|string|name|0|$name
Controller|string||0|Controller that is responsible for handling this class
Parameters|string||0|A reference to a resource with additional parameters
Age|string||0|$age
kind networking.k8s.io NetworkPolicy
Name|string|name|0|$name
Pod-Selector|string||0|podSelector selects the pods to which this NetworkPolicy object applies.
  The array of rules is applied to any pods selected by this field. An empty selector matches all
  pods in the policy's namespace. Multiple network policies can select the same set of pods. In
  this case, the ingress rules for each are combined additively. This field is optional. If it is
  not specified, it defaults to an empty selector.
Age|string||0|$age
kind resource.k8s.io ResourceClaim
Name|string|name|0|$name
State|string||0|A summary of the current state (allocated, pending, reserved, etc.).
Age|string||0|$age
kind resource.k8s.io ResourceClaimTemplate
Name|string|name|0|$name
Age|string||0|$age
kind resource.k8s.io ResourceSlice
Name|string|name|0|$name
Node|string||0|NodeName identifies the node which provides the resources in this pool. A field
  selector can be used to list only ResourceSlice objects belonging to a certain node.\n\nThis
  field can be used to limit access from nodes to ResourceSlices with the same node name. It also
  indicates to autoscalers that adding new nodes of the same type as some old node might also make
  new resources available.\n\nExactly one of NodeName, NodeSelector, AllNodes, and
  PerDeviceNodeSelection must be set. This field is immutable.
Driver|string||0|Driver identifies the DRA driver providing the capacity information. A field
  selector can be used to list only ResourceSlice objects with a certain driver name.\n\nMust be a
  DNS subdomain and should end with a DNS domain owned by the vendor of the driver. It should use
  only lower case characters. This field is immutable.
Pool|string||0|Name is used to identify the pool. For node-local devices, this is often the node
  name, but this is not required.\n\nIt must not be longer than 253 characters and must consist of
  one or more DNS sub-domains separated by slashes. This field is immutable.
Age|string||0|$age
kind resource.k8s.io DeviceClass
Name|string|name|0|$name
Age|string||0|$age
kind autoscaling Scale
Name|string||0|$name
Desired|integer||0|replicas is the desired number of instances for the scaled object.
Available|integer||0|replicas is the actual number of observed instances of the scaled object.
Age|string||0|$age
)";

}  // namespace hekla::apiserver::printing::internal
