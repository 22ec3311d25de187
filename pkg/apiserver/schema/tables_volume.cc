#include "pkg/apiserver/schema/tables.h"

// Volumes of pods and persistent volumes.
// See tables.h for the notation.
namespace hekla::apiserver::schema::internal {

const char kVolumeTable[] = R"(
message Volume
1 name string!
2 VolumeSource inline
message PersistentVolumeSpec
1 capacity {}quantity/ResourceList
2 PersistentVolumeSource inline
3 accessModes []string/PersistentVolumeAccessMode
4 claimRef ObjectReference?
5 persistentVolumeReclaimPolicy string/PersistentVolumeReclaimPolicy
6 storageClassName string
7 mountOptions []string
8 volumeMode string/PersistentVolumeMode?
9 nodeAffinity VolumeNodeAffinity?
10 volumeAttributesClassName string?
message VolumeSource
1 hostPath HostPathVolumeSource?
2 emptyDir EmptyDirVolumeSource?
3 gcePersistentDisk GCEPersistentDiskVolumeSource?
4 awsElasticBlockStore AWSElasticBlockStoreVolumeSource?
5 gitRepo GitRepoVolumeSource?
6 secret SecretVolumeSource?
7 nfs NFSVolumeSource?
8 iscsi ISCSIVolumeSource?
9 glusterfs GlusterfsVolumeSource?
10 persistentVolumeClaim PersistentVolumeClaimVolumeSource?
11 rbd RBDVolumeSource?
12 flexVolume FlexVolumeSource?
13 cinder CinderVolumeSource?
14 cephfs CephFSVolumeSource?
15 flocker FlockerVolumeSource?
16 downwardAPI DownwardAPIVolumeSource?
17 fc FCVolumeSource?
18 azureFile AzureFileVolumeSource?
19 configMap ConfigMapVolumeSource?
20 vsphereVolume VsphereVirtualDiskVolumeSource?
21 quobyte QuobyteVolumeSource?
22 azureDisk AzureDiskVolumeSource?
23 photonPersistentDisk PhotonPersistentDiskVolumeSource?
26 projected ProjectedVolumeSource?
24 portworxVolume PortworxVolumeSource?
25 scaleIO ScaleIOVolumeSource?
27 storageos StorageOSVolumeSource?
28 csi CSIVolumeSource?
29 ephemeral EphemeralVolumeSource?
30 image ImageVolumeSource?
message PersistentVolumeSource
1 gcePersistentDisk GCEPersistentDiskVolumeSource?
2 awsElasticBlockStore AWSElasticBlockStoreVolumeSource?
3 hostPath HostPathVolumeSource?
4 glusterfs GlusterfsPersistentVolumeSource?
5 nfs NFSVolumeSource?
6 rbd RBDPersistentVolumeSource?
7 iscsi ISCSIPersistentVolumeSource?
8 cinder CinderPersistentVolumeSource?
9 cephfs CephFSPersistentVolumeSource?
10 fc FCVolumeSource?
11 flocker FlockerVolumeSource?
12 flexVolume FlexPersistentVolumeSource?
13 azureFile AzureFilePersistentVolumeSource?
14 vsphereVolume VsphereVirtualDiskVolumeSource?
15 quobyte QuobyteVolumeSource?
16 azureDisk AzureDiskVolumeSource?
17 photonPersistentDisk PhotonPersistentDiskVolumeSource?
18 portworxVolume PortworxVolumeSource?
19 scaleIO ScaleIOPersistentVolumeSource?
20 local LocalVolumeSource?
21 storageos StorageOSPersistentVolumeSource?
22 csi CSIPersistentVolumeSource?
message ObjectReference atomic
1 kind string
2 namespace string
3 name string
4 uid string/types.UID
5 apiVersion string
6 resourceVersion string
7 fieldPath string
message VolumeNodeAffinity
1 required NodeSelector?
message HostPathVolumeSource
1 path string!
2 type string/HostPathType?
message EmptyDirVolumeSource
1 medium string/StorageMedium
2 sizeLimit quantity?
message GCEPersistentDiskVolumeSource
1 pdName string!
2 fsType string
3 partition int32
4 readOnly bool
message AWSElasticBlockStoreVolumeSource
1 volumeID string!
2 fsType string
3 partition int32
4 readOnly bool
message GitRepoVolumeSource
1 repository string!
2 revision string
3 directory string
message SecretVolumeSource
1 secretName string
2 items []KeyToPath
3 defaultMode int32?
4 optional bool?
message NFSVolumeSource
1 server string!
2 path string!
3 readOnly bool
message ISCSIVolumeSource
1 targetPortal string!
2 iqn string!
3 lun int32!
4 iscsiInterface string
5 fsType string
6 readOnly bool
7 portals []string
8 chapAuthDiscovery bool
11 chapAuthSession bool
10 secretRef LocalObjectReference?
12 initiatorName string?
message GlusterfsVolumeSource
1 endpoints string!
2 path string!
3 readOnly bool
message PersistentVolumeClaimVolumeSource
1 claimName string!
2 readOnly bool
message RBDVolumeSource
1 monitors []string!
2 image string!
3 fsType string
4 pool string
5 user string
6 keyring string
7 secretRef LocalObjectReference?
8 readOnly bool
message FlexVolumeSource
1 driver string!
2 fsType string
3 secretRef LocalObjectReference?
4 readOnly bool
5 options {}string
message CinderVolumeSource
1 volumeID string!
2 fsType string
3 readOnly bool
4 secretRef LocalObjectReference?
message CephFSVolumeSource
1 monitors []string!
2 path string
3 user string
4 secretFile string
5 secretRef LocalObjectReference?
6 readOnly bool
message FlockerVolumeSource
1 datasetName string
2 datasetUUID string
message DownwardAPIVolumeSource
1 items []DownwardAPIVolumeFile
2 defaultMode int32?
message FCVolumeSource
1 targetWWNs []string
2 lun int32?
3 fsType string
4 readOnly bool
5 wwids []string
message AzureFileVolumeSource
1 secretName string!
2 shareName string!
3 readOnly bool
message ConfigMapVolumeSource
1 LocalObjectReference inline
2 items []KeyToPath
3 defaultMode int32?
4 optional bool?
message VsphereVirtualDiskVolumeSource
1 volumePath string!
2 fsType string
3 storagePolicyName string
4 storagePolicyID string
message QuobyteVolumeSource
1 registry string!
2 volume string!
3 readOnly bool
4 user string
5 group string
6 tenant string
message AzureDiskVolumeSource
1 diskName string!
2 diskURI string!
3 cachingMode string/AzureDataDiskCachingMode?
4 fsType string?
5 readOnly bool?
6 kind string/AzureDataDiskKind?
message PhotonPersistentDiskVolumeSource
1 pdID string!
2 fsType string
message ProjectedVolumeSource
1 sources []VolumeProjection!
2 defaultMode int32?
message PortworxVolumeSource
1 volumeID string!
2 fsType string
3 readOnly bool
message ScaleIOVolumeSource
1 gateway string!
2 system string!
3 secretRef LocalObjectReference~
4 sslEnabled bool
5 protectionDomain string
6 storagePool string
7 storageMode string
8 volumeName string
9 fsType string
10 readOnly bool
message StorageOSVolumeSource
1 volumeName string
2 volumeNamespace string
3 fsType string
4 readOnly bool
5 secretRef LocalObjectReference?
message CSIVolumeSource
1 driver string!
2 readOnly bool?
3 fsType string?
4 volumeAttributes {}string
5 nodePublishSecretRef LocalObjectReference?
message EphemeralVolumeSource
1 volumeClaimTemplate PersistentVolumeClaimTemplate?
message ImageVolumeSource
1 reference string
2 pullPolicy string/PullPolicy
message GlusterfsPersistentVolumeSource
1 endpoints string!
2 path string!
3 readOnly bool
4 endpointsNamespace string?
message RBDPersistentVolumeSource
1 monitors []string!
2 image string!
3 fsType string
4 pool string
5 user string
6 keyring string
7 secretRef SecretReference?
8 readOnly bool
message ISCSIPersistentVolumeSource
1 targetPortal string!
2 iqn string!
3 lun int32!
4 iscsiInterface string
5 fsType string
6 readOnly bool
7 portals []string
8 chapAuthDiscovery bool
11 chapAuthSession bool
10 secretRef SecretReference?
12 initiatorName string?
message CinderPersistentVolumeSource
1 volumeID string!
2 fsType string
3 readOnly bool
4 secretRef SecretReference?
message CephFSPersistentVolumeSource
1 monitors []string!
2 path string
3 user string
4 secretFile string
5 secretRef SecretReference?
6 readOnly bool
message FlexPersistentVolumeSource
1 driver string!
2 fsType string
3 secretRef SecretReference?
4 readOnly bool
5 options {}string
message AzureFilePersistentVolumeSource
1 secretName string!
2 shareName string!
3 readOnly bool
4 secretNamespace string~
message ScaleIOPersistentVolumeSource
1 gateway string!
2 system string!
3 secretRef SecretReference~
4 sslEnabled bool
5 protectionDomain string
6 storagePool string
7 storageMode string
8 volumeName string
9 fsType string
10 readOnly bool
message LocalVolumeSource
1 path string!
2 fsType string?
message StorageOSPersistentVolumeSource
1 volumeName string
2 volumeNamespace string
3 fsType string
4 readOnly bool
5 secretRef ObjectReference?
message CSIPersistentVolumeSource
1 driver string!
2 volumeHandle string!
3 readOnly bool
4 fsType string
5 volumeAttributes {}string
6 controllerPublishSecretRef SecretReference?
7 nodeStageSecretRef SecretReference?
8 nodePublishSecretRef SecretReference?
9 controllerExpandSecretRef SecretReference?
10 nodeExpandSecretRef SecretReference?
message NodeSelector atomic
1 nodeSelectorTerms []NodeSelectorTerm!
message KeyToPath
1 key string!
2 path string!
3 mode int32?
message LocalObjectReference atomic
1 name string
message DownwardAPIVolumeFile
1 path string!
2 fieldRef ObjectFieldSelector?
3 resourceFieldRef ResourceFieldSelector?
4 mode int32?
message VolumeProjection
1 secret SecretProjection?
2 downwardAPI DownwardAPIProjection?
3 configMap ConfigMapProjection?
4 serviceAccountToken ServiceAccountTokenProjection?
5 clusterTrustBundle ClusterTrustBundleProjection?
6 podCertificate PodCertificateProjection?
message PersistentVolumeClaimTemplate
1 metadata ObjectMeta!
2 spec PersistentVolumeClaimSpec!
message SecretReference atomic
1 name string
2 namespace string
message NodeSelectorTerm atomic
1 matchExpressions []NodeSelectorRequirement
2 matchFields []NodeSelectorRequirement
message ObjectFieldSelector atomic
1 apiVersion string
2 fieldPath string!
message ResourceFieldSelector atomic
1 containerName string
2 resource string!
3 divisor quantity!
message SecretProjection
1 LocalObjectReference inline
2 items []KeyToPath
4 optional bool?
message DownwardAPIProjection
1 items []DownwardAPIVolumeFile
message ConfigMapProjection
1 LocalObjectReference inline
2 items []KeyToPath
4 optional bool?
message ServiceAccountTokenProjection
1 audience string
2 expirationSeconds int64?
3 path string!
message ClusterTrustBundleProjection
1 name string?
2 signerName string?
3 labelSelector LabelSelector?
5 optional bool?
4 path string!
message PodCertificateProjection
1 signerName string
2 keyType string
3 maxExpirationSeconds int32?
4 credentialBundlePath string
5 keyPath string
6 certificateChainPath string
7 userAnnotations {}string
message PersistentVolumeClaimSpec
1 accessModes []string/PersistentVolumeAccessMode
4 selector LabelSelector?
2 resources VolumeResourceRequirements!
3 volumeName string
5 storageClassName string?
6 volumeMode string/PersistentVolumeMode?
7 dataSource TypedLocalObjectReference?
8 dataSourceRef TypedObjectReference?
9 volumeAttributesClassName string?
message NodeSelectorRequirement
1 key string!
2 operator string/NodeSelectorOperator!
3 values []string
message VolumeResourceRequirements
1 limits {}quantity/ResourceList
2 requests {}quantity/ResourceList
message TypedLocalObjectReference atomic
1 apiGroup string~
2 kind string!
3 name string!
message TypedObjectReference
1 apiGroup string~
2 kind string!
3 name string!
4 namespace string?
)";

}  // namespace hekla::apiserver::schema::internal
