#include "pkg/apis/ray/go_shapes.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "glog/logging.h"

namespace hekla::apis::ray {
namespace {

// name = field kind, field kind, ...;
// Kinds: s scalar left out when zero; p pointer to a scalar (any JSON), left out when absent;
//        ! scalar always there ("" when absent); !0 the same with 0; q quantity; m map of strings;
//        rl resource list; []s list of scalars; Name struct, always there; *Name pointer to a
//        struct; []Name list of structs. A `!` behind p, q, m and lists: there even when empty.
constexpr absl::string_view kTable = R"(
RayClusterSpec = upgradeStrategy *UpgradeStrategy, authOptions *AuthOptions, suspend p, managedBy
  p, autoscalerOptions *AutoscalerOptions, headServiceAnnotations m, enableInTreeAutoscaling p,
  gcsFaultToleranceOptions *FtOptions, historyServerOptions *HistoryServerOptions, networkPolicy
  *NetworkPolicyOptions, tlsOptions *TlsOptions, headGroupSpec HeadGroupSpec, rayVersion s,
  workerGroupSpecs []WorkerGroupSpec;
TlsOptions = enabled p;
UpgradeStrategy = type p;
AuthOptions = enableK8sTokenAuth p, secretName p, mode s;
AutoscalerOptions = resources *ResourceRequirements, image p, imagePullPolicy p, securityContext
  *SecurityContext, idleTimeoutSeconds p, upscalingMode p, version p, env []EnvVar, envFrom
  []EnvFromSource, volumeMounts []VolumeMount, command []s, args []s;
FtOptions = redisUsername *RedisCredential, redisPassword *RedisCredential,
  externalStorageNamespace s, redisAddress s, backend s, storage *FtStorage;
RedisCredential = valueFrom *EnvVarSource, value s;
FtStorage = claimName s, size q, storageClassName p, accessModes []s, subPath s, deletionPolicy p;
HistoryServerOptions = collectorOptions *CollectorOptions;
CollectorOptions = image p, imagePullPolicy p, resources *ResourceRequirements, env []EnvVar;
NetworkPolicyOptions = mode p, head *Rules, worker *Rules, workerGroups []GroupRules;
Rules = ingressRules []IngressRule, egressRules []EgressRule;
GroupRules = groupName !, ingressRules []IngressRule, egressRules []EgressRule;
IngressRule = ports []PolicyPort, from []PolicyPeer;
EgressRule = ports []PolicyPort, to []PolicyPeer;
PolicyPort = protocol p, port p, endPort p;
PolicyPeer = podSelector *LabelSelector, namespaceSelector *LabelSelector, ipBlock *IpBlock;
IpBlock = cidr !, except []s;
HeadGroupSpec = template PodTemplateSpec, headService *Service, enableIngress p, ingressOptions
  *IngressOptions, resources m, labels m, rayStartParams m!, serviceType s;
IngressOptions = host p, path p, pathType p, tls []IngressTls;
IngressTls = hosts []s, secretName s;
WorkerGroupSpec = suspend p, groupName !, replicas p, minReplicas p!, maxReplicas p!,
  idleTimeoutSeconds p, priority p, resources m, labels m, rayStartParams m!, template
  PodTemplateSpec, scaleStrategy ScaleStrategy, numOfHosts s;
ScaleStrategy = workersToDelete []s;
PodTemplateSpec = metadata ObjectMeta, spec PodSpec;
ObjectMeta = name s, generateName s, namespace s, selfLink s, uid s, resourceVersion s, generation
  s, creationTimestamp p, deletionTimestamp p, deletionGracePeriodSeconds p, labels m, annotations
  m, ownerReferences []OwnerReference, finalizers []s;
OwnerReference = apiVersion !, kind !, name !, uid !, controller p, blockOwnerDeletion p;
PodSpec = volumes []Volume, initContainers []Container, containers []Container!,
  ephemeralContainers []EphemeralContainer, restartPolicy s, terminationGracePeriodSeconds p,
  activeDeadlineSeconds p, dnsPolicy s, nodeSelector m, serviceAccountName s, serviceAccount s,
  automountServiceAccountToken p, nodeName s, hostNetwork s, hostPID s, hostIPC s,
  shareProcessNamespace p, securityContext *PodSecurityContext, imagePullSecrets []LocalRef,
  hostname s, subdomain s, affinity *Affinity, schedulerName s, tolerations []Toleration,
  hostAliases []HostAlias, priorityClassName s, priority p, dnsConfig *DnsConfig, readinessGates
  []ReadinessGate, runtimeClassName p, enableServiceLinks p, preemptionPolicy p, overhead rl,
  topologySpreadConstraints []TopologySpread, setHostnameAsFQDN p, os *Named, hostUsers p,
  schedulingGates []Named, resourceClaims []PodResourceClaim, resources *ResourceRequirements,
  hostnameOverride p, schedulingGroup p;
Named = name !;
LocalRef = name s;
Volume = name !, hostPath *HostPath, emptyDir *EmptyDir, gcePersistentDisk *GceDisk,
  awsElasticBlockStore *AwsDisk, gitRepo *GitRepo, secret *SecretVolume, nfs *Nfs, iscsi *Iscsi,
  glusterfs *Glusterfs, persistentVolumeClaim *ClaimVolume, rbd *Rbd, flexVolume *FlexVolume,
  cinder *Cinder, cephfs *CephFs, flocker *Flocker, downwardAPI *DownwardApiVolume, fc *Fc,
  azureFile *AzureFile, configMap *ConfigMapVolume, vsphereVolume *Vsphere, quobyte *Quobyte,
  azureDisk *AzureDisk, photonPersistentDisk *Photon, projected *ProjectedVolume, portworxVolume
  *Portworx, scaleIO *ScaleIo, storageos *StorageOs, csi *CsiVolume, ephemeral *EphemeralVolume,
  image *ImageVolume;
HostPath = path !, type p;
EmptyDir = medium s, sizeLimit q;
GceDisk = pdName !, fsType s, partition s, readOnly s;
AwsDisk = volumeID !, fsType s, partition s, readOnly s;
GitRepo = repository !, revision s, directory s;
SecretVolume = secretName s, items []KeyToPath, defaultMode p, optional p;
KeyToPath = key !, path !, mode p;
Nfs = server !, path !, readOnly s;
Iscsi = targetPortal !, iqn !, lun !0, iscsiInterface s, fsType s, readOnly s, portals []s,
  chapAuthDiscovery s, chapAuthSession s, secretRef *LocalRef, initiatorName p;
Glusterfs = endpoints !, path !, readOnly s;
ClaimVolume = claimName !, readOnly s;
Rbd = monitors []s!, image !, fsType s, pool s, user s, keyring s, secretRef *LocalRef, readOnly
  s;
FlexVolume = driver !, fsType s, secretRef *LocalRef, readOnly s, options m;
Cinder = volumeID !, fsType s, readOnly s, secretRef *LocalRef;
CephFs = monitors []s!, path s, user s, secretFile s, secretRef *LocalRef, readOnly s;
Flocker = datasetName s, datasetUUID s;
DownwardApiVolume = items []DownwardApiFile, defaultMode p;
DownwardApiFile = path !, fieldRef *FieldRef, resourceFieldRef *ResourceFieldRef, mode p;
Fc = targetWWNs []s, lun p, fsType s, readOnly s, wwids []s;
AzureFile = secretName !, shareName !, readOnly s;
ConfigMapVolume = name s, items []KeyToPath, defaultMode p, optional p;
Vsphere = volumePath !, fsType s, storagePolicyName s, storagePolicyID s;
Quobyte = registry !, volume !, readOnly s, user s, group s, tenant s;
AzureDisk = diskName !, diskURI !, cachingMode p, fsType p, readOnly p, kind p;
Photon = pdID !, fsType s;
ProjectedVolume = sources []Projection!, defaultMode p;
Projection = secret *KeyProjection, downwardAPI *DownwardApiProjection, configMap *KeyProjection,
  serviceAccountToken *TokenProjection, clusterTrustBundle *TrustBundle, podCertificate
  *PodCertificate;
KeyProjection = name s, items []KeyToPath, optional p;
DownwardApiProjection = items []DownwardApiFile;
TokenProjection = audience s, expirationSeconds p, path !;
TrustBundle = name p, signerName p, labelSelector *LabelSelector, optional p, path !;
PodCertificate = signerName s, keyType s, maxExpirationSeconds p, credentialBundlePath s, keyPath
  s, certificateChainPath s, userAnnotations m;
Portworx = volumeID !, fsType s, readOnly s;
ScaleIo = gateway !, system !, secretRef *LocalRef, sslEnabled s, protectionDomain s, storagePool
  s, storageMode s, volumeName s, fsType s, readOnly s;
StorageOs = volumeName s, volumeNamespace s, fsType s, readOnly s, secretRef *LocalRef;
CsiVolume = driver !, readOnly p, fsType p, volumeAttributes m, nodePublishSecretRef *LocalRef;
EphemeralVolume = volumeClaimTemplate *ClaimTemplate;
ClaimTemplate = metadata ObjectMeta, spec ClaimSpec;
ClaimSpec = accessModes []s, selector *LabelSelector, resources VolumeResources, volumeName s,
  storageClassName p, volumeMode p, dataSource *TypedRef, dataSourceRef *TypedRef,
  volumeAttributesClassName p;
VolumeResources = limits rl, requests rl;
TypedRef = apiGroup p!, kind !, name !, namespace p;
ImageVolume = reference s, pullPolicy s;
Container = name !, image s, command []s, args []s, workingDir s, ports []ContainerPort, envFrom
  []EnvFromSource, env []EnvVar, resources ResourceRequirements, resizePolicy []ResizePolicy,
  restartPolicy p, restartPolicyRules []RestartRule, volumeMounts []VolumeMount, volumeDevices
  []VolumeDevice, livenessProbe *Probe, readinessProbe *Probe, startupProbe *Probe, lifecycle
  *Lifecycle, terminationMessagePath s, terminationMessagePolicy s, imagePullPolicy s,
  securityContext *SecurityContext, stdin s, stdinOnce s, tty s;
EphemeralContainer = name !, image s, command []s, args []s, workingDir s, ports []ContainerPort,
  envFrom []EnvFromSource, env []EnvVar, resources ResourceRequirements, resizePolicy
  []ResizePolicy, restartPolicy p, restartPolicyRules []RestartRule, volumeMounts []VolumeMount,
  volumeDevices []VolumeDevice, livenessProbe *Probe, readinessProbe *Probe, startupProbe *Probe,
  lifecycle *Lifecycle, terminationMessagePath s, terminationMessagePolicy s, imagePullPolicy s,
  securityContext *SecurityContext, stdin s, stdinOnce s, tty s, targetContainerName s;
ContainerPort = name s, hostPort s, containerPort !0, protocol s, hostIP s;
EnvFromSource = prefix s, configMapRef *OptionalRef, secretRef *OptionalRef;
OptionalRef = name s, optional p;
EnvVar = name !, value s, valueFrom *EnvVarSource;
EnvVarSource = fieldRef *FieldRef, resourceFieldRef *ResourceFieldRef, configMapKeyRef *KeyRef,
  secretKeyRef *KeyRef, fileKeyRef *FileKeyRef;
FieldRef = apiVersion s, fieldPath !;
ResourceFieldRef = containerName s, resource !, divisor q!;
KeyRef = name s, key !, optional p;
FileKeyRef = volumeName !, path !, key !, optional p;
ResourceRequirements = limits rl, requests rl, claims []ResourceClaim;
ResourceClaim = name !, request s;
ResizePolicy = resourceName !, restartPolicy !;
RestartRule = action !, exitCodes *ExitCodes;
ExitCodes = operator !, values []s;
VolumeMount = name !, readOnly s, recursiveReadOnly p, mountPath !, subPath s, mountPropagation p,
  subPathExpr s;
VolumeDevice = name !, devicePath !;
Probe = exec *Exec, httpGet *HttpGet, tcpSocket *TcpSocket, grpc *Grpc, initialDelaySeconds s,
  timeoutSeconds s, periodSeconds s, successThreshold s, failureThreshold s,
  terminationGracePeriodSeconds p;
Exec = command []s;
HttpGet = path s, port !0, host s, scheme s, httpHeaders []NameValue;
NameValue = name !, value !;
TcpSocket = port !0, host s;
Grpc = port !0, service p!;
Lifecycle = postStart *Handler, preStop *Handler, stopSignal p;
Handler = exec *Exec, httpGet *HttpGet, tcpSocket *TcpSocket, sleep *Sleep;
Sleep = seconds !0;
SecurityContext = capabilities *Capabilities, privileged p, seLinuxOptions *SeLinux,
  windowsOptions *Windows, runAsUser p, runAsGroup p, runAsNonRoot p, readOnlyRootFilesystem p,
  allowPrivilegeEscalation p, procMount p, seccompProfile *Profile, appArmorProfile *Profile;
Capabilities = add []s, drop []s;
SeLinux = user s, role s, type s, level s;
Windows = gmsaCredentialSpecName p, gmsaCredentialSpec p, runAsUserName p, hostProcess p;
Profile = type !, localhostProfile p;
PodSecurityContext = seLinuxOptions *SeLinux, windowsOptions *Windows, runAsUser p, runAsGroup p,
  runAsNonRoot p, supplementalGroups []s, supplementalGroupsPolicy p, fsGroup p, sysctls
  []NameValue, fsGroupChangePolicy p, seccompProfile *Profile, appArmorProfile *Profile,
  seLinuxChangePolicy p;
Affinity = nodeAffinity *NodeAffinity, podAffinity *PodAffinity, podAntiAffinity *PodAffinity;
NodeAffinity = requiredDuringSchedulingIgnoredDuringExecution *NodeSelector,
  preferredDuringSchedulingIgnoredDuringExecution []PreferredNode;
NodeSelector = nodeSelectorTerms []NodeTerm!;
PreferredNode = weight !0, preference NodeTerm;
NodeTerm = matchExpressions []Requirement, matchFields []Requirement;
Requirement = key !, operator !, values []s;
PodAffinity = requiredDuringSchedulingIgnoredDuringExecution []PodTerm,
  preferredDuringSchedulingIgnoredDuringExecution []PreferredPod;
PreferredPod = weight !0, podAffinityTerm PodTerm;
PodTerm = labelSelector *LabelSelector, namespaces []s, topologyKey !, namespaceSelector
  *LabelSelector, matchLabelKeys []s, mismatchLabelKeys []s;
LabelSelector = matchLabels m, matchExpressions []Requirement;
Toleration = key s, operator s, value s, effect s, tolerationSeconds p;
HostAlias = ip !, hostnames []s;
DnsConfig = nameservers []s, searches []s, options []DnsOption;
DnsOption = name s, value p;
ReadinessGate = conditionType !;
TopologySpread = maxSkew !0, topologyKey !, whenUnsatisfiable !, labelSelector *LabelSelector,
  minDomains p, nodeAffinityPolicy p, nodeTaintsPolicy p, matchLabelKeys []s;
PodResourceClaim = name !, resourceClaimName p, resourceClaimTemplateName p;
Service = kind s, apiVersion s, metadata ObjectMeta, spec ServiceSpec, status ServiceStatus;
ServiceSpec = ports []ServicePort, selector m, clusterIP s, clusterIPs []s, type s, externalIPs
  []s, sessionAffinity s, loadBalancerIP s, loadBalancerSourceRanges []s, externalName s,
  externalTrafficPolicy s, healthCheckNodePort s, publishNotReadyAddresses s,
  sessionAffinityConfig *AffinityConfig, ipFamilies []s, ipFamilyPolicy p,
  allocateLoadBalancerNodePorts p, loadBalancerClass p, internalTrafficPolicy p,
  trafficDistribution p;
ServicePort = name s, protocol s, appProtocol p, port !0, targetPort !0, nodePort s;
AffinityConfig = clientIP *ClientIp;
ClientIp = timeoutSeconds p;
ServiceStatus = loadBalancer LoadBalancer, conditions p;
LoadBalancer = ingress p;
)";

GoField ParseField(absl::string_view text) {
  // A name and its kind may stand on two lines.
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(absl::StripAsciiWhitespace(text), absl::MaxSplits(absl::ByAnyChar(" \n"), 1));
  GoField field;
  field.name = std::string(parts.first);
  absl::string_view kind = absl::StripAsciiWhitespace(parts.second);
  if (kind == "!" || kind == "!0") {
    field.kind = kind == "!" ? GoField::Kind::kText : GoField::Kind::kNumber;
    return field;
  }
  if (absl::ConsumeSuffix(&kind, "!")) field.always = true;
  const bool list = absl::ConsumePrefix(&kind, "[]");
  const bool pointer = absl::ConsumePrefix(&kind, "*");
  if (list && kind == "s") {
    field.kind = GoField::Kind::kScalars;
  } else if (kind == "s") {
    field.kind = GoField::Kind::kScalar;
  } else if (kind == "p") {
    field.kind = GoField::Kind::kPointer;
  } else if (kind == "q") {
    field.kind = GoField::Kind::kQuantity;
  } else if (kind == "m") {
    field.kind = GoField::Kind::kMap;
  } else if (kind == "rl") {
    field.kind = GoField::Kind::kResources;
  } else {
    field.kind = list      ? GoField::Kind::kStructs
                 : pointer ? GoField::Kind::kStructPointer
                           : GoField::Kind::kStruct;
    field.type_name = std::string(kind);
  }
  return field;
}

}  // namespace

GoShapes::GoShapes() {
  for (absl::string_view row : absl::StrSplit(kTable, ';', absl::SkipWhitespace())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(row, absl::MaxSplits('=', 1));
    GoStruct& shape = structs_[std::string(absl::StripAsciiWhitespace(parts.first))];
    for (absl::string_view field : absl::StrSplit(parts.second, ',')) {
      shape.fields.push_back(ParseField(field));
    }
  }
  for (auto& [name, shape] : structs_) {
    for (GoField& field : shape.fields) {
      if (field.type_name.empty()) continue;
      field.type = Find(field.type_name);
      CHECK(field.type != nullptr) << name << " names an unknown struct " << field.type_name;
    }
  }
}

const GoStruct* GoShapes::Find(absl::string_view name) const {
  const auto it = structs_.find(std::string(name));
  return it == structs_.end() ? nullptr : &it->second;
}

const GoShapes& GoShapes::Get() {
  static const GoShapes& shapes = *new GoShapes;
  return shapes;
}

}  // namespace hekla::apis::ray
