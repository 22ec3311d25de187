#include "pkg/apiserver/schema/tables.h"

// apiextensions, authentication, authorization, networking, resource.
// See tables.h for the notation.
namespace hekla::apiserver::schema::internal {

const char kMoreTable[] = R"(
message networking.Ingress
1 metadata ObjectMeta!
2 spec networking.IngressSpec!
3 status networking.IngressStatus!
message networking.IngressClass
1 metadata ObjectMeta!
2 spec networking.IngressClassSpec!
message networking.NetworkPolicy
1 metadata ObjectMeta!
2 spec networking.NetworkPolicySpec!
message resource.ResourceClaim
1 metadata ObjectMeta!
2 spec resource.ResourceClaimSpec!
3 status resource.ResourceClaimStatus!
message resource.ResourceClaimTemplate
1 metadata ObjectMeta!
2 spec resource.ResourceClaimTemplateSpec!
message resource.ResourceSlice
1 metadata ObjectMeta!
2 spec resource.ResourceSliceSpec!
message resource.DeviceClass
1 metadata ObjectMeta!
2 spec resource.DeviceClassSpec!
message authorization.SelfSubjectAccessReview
1 metadata ObjectMeta!
2 spec authorization.SelfSubjectAccessReviewSpec!
3 status authorization.SubjectAccessReviewStatus!
message authorization.SubjectAccessReview
1 metadata ObjectMeta!
2 spec authorization.SubjectAccessReviewSpec!
3 status authorization.SubjectAccessReviewStatus!
message authorization.LocalSubjectAccessReview
1 metadata ObjectMeta!
2 spec authorization.SubjectAccessReviewSpec!
3 status authorization.SubjectAccessReviewStatus!
message authorization.SelfSubjectRulesReview
1 metadata ObjectMeta!
2 spec authorization.SelfSubjectRulesReviewSpec!
3 status authorization.SubjectRulesReviewStatus!
message authentication.TokenReview
1 metadata ObjectMeta!
2 spec authentication.TokenReviewSpec!
3 status authentication.TokenReviewStatus!
message authentication.TokenRequest
1 metadata ObjectMeta!
2 spec authentication.TokenRequestSpec!
3 status authentication.TokenRequestStatus!
message authentication.SelfSubjectReview
1 metadata ObjectMeta!
2 status authentication.SelfSubjectReviewStatus!
message apiextensions.CustomResourceDefinition
1 metadata ObjectMeta!
2 spec apiextensions.CustomResourceDefinitionSpec!
3 status apiextensions.CustomResourceDefinitionStatus!
message networking.IngressSpec
4 ingressClassName string?
1 defaultBackend networking.IngressBackend?
2 tls []networking.IngressTLS
3 rules []networking.IngressRule
message networking.IngressStatus
1 loadBalancer networking.IngressLoadBalancerStatus!
message networking.IngressClassSpec
1 controller string
2 parameters networking.IngressClassParametersReference?
message networking.NetworkPolicySpec
1 podSelector LabelSelector!
2 ingress []networking.NetworkPolicyIngressRule
3 egress []networking.NetworkPolicyEgressRule
4 policyTypes []string/PolicyType
message resource.ResourceClaimSpec
1 devices resource.DeviceClaim!
message resource.ResourceClaimStatus
1 allocation resource.AllocationResult?
2 reservedFor []resource.ResourceClaimConsumerReference merge=uid map=uid
4 devices []resource.AllocatedDeviceStatus map=driver,device,pool,shareID
message resource.ResourceClaimTemplateSpec
1 metadata ObjectMeta!
2 spec resource.ResourceClaimSpec!
message resource.ResourceSliceSpec
1 driver string!
2 pool resource.ResourcePool!
3 nodeName string?
4 nodeSelector NodeSelector?
5 allNodes bool?
6 devices []resource.Device
7 perDeviceNodeSelection bool?
8 sharedCounters []resource.CounterSet
message resource.DeviceClassSpec
1 selectors []resource.DeviceSelector
2 config []resource.DeviceClassConfiguration
4 extendedResourceName string?
message authorization.SelfSubjectAccessReviewSpec
1 resourceAttributes authorization.ResourceAttributes?
2 nonResourceAttributes authorization.NonResourceAttributes?
message authorization.SubjectAccessReviewStatus
1 allowed bool!
4 denied bool
2 reason string
3 evaluationError string
message authorization.SubjectAccessReviewSpec
1 resourceAttributes authorization.ResourceAttributes?
2 nonResourceAttributes authorization.NonResourceAttributes?
3 user string
4 groups []string
5 extra {}any
6 uid string
message authorization.SelfSubjectRulesReviewSpec
1 namespace string
message authorization.SubjectRulesReviewStatus
1 resourceRules []authorization.ResourceRule!
2 nonResourceRules []authorization.NonResourceRule!
3 incomplete bool!
4 evaluationError string
message authentication.TokenReviewSpec
1 token string
2 audiences []string
message authentication.TokenReviewStatus
1 authenticated bool
2 user authentication.UserInfo!
4 audiences []string
3 error string
message authentication.TokenRequestSpec
1 audiences []string!
4 expirationSeconds int64~
3 boundObjectRef authentication.BoundObjectReference~
message authentication.TokenRequestStatus
1 token string!
2 expirationTimestamp time!
message authentication.SelfSubjectReviewStatus
1 userInfo authentication.UserInfo!
message apiextensions.CustomResourceDefinitionSpec
1 group string!
3 names apiextensions.CustomResourceDefinitionNames!
4 scope string/ResourceScope!
7 versions []apiextensions.CustomResourceDefinitionVersion!
9 conversion apiextensions.CustomResourceConversion?
10 preserveUnknownFields bool
message apiextensions.CustomResourceDefinitionStatus
1 conditions []apiextensions.CustomResourceDefinitionCondition!
2 acceptedNames apiextensions.CustomResourceDefinitionNames!
3 storedVersions []string!
4 observedGeneration int64
message networking.IngressBackend
4 service networking.IngressServiceBackend?
3 resource TypedLocalObjectReference?
message networking.IngressTLS
1 hosts []string
2 secretName string
message networking.IngressRule
1 host string
2 networking.IngressRuleValue inline
message networking.IngressLoadBalancerStatus
1 ingress []networking.IngressLoadBalancerIngress
message networking.IngressClassParametersReference
1 apiGroup string?
2 kind string!
3 name string!
4 scope string~
5 namespace string?
message networking.NetworkPolicyIngressRule
1 ports []networking.NetworkPolicyPort
2 from []networking.NetworkPolicyPeer
message networking.NetworkPolicyEgressRule
1 ports []networking.NetworkPolicyPort
2 to []networking.NetworkPolicyPeer
message resource.DeviceClaim
1 requests []resource.DeviceRequest!
2 constraints []resource.DeviceConstraint
3 config []resource.DeviceClaimConfiguration
message resource.AllocationResult
1 devices resource.DeviceAllocationResult!
3 nodeSelector NodeSelector?
5 allocationTimestamp time?
message resource.ResourceClaimConsumerReference
1 apiGroup string
3 resource string!
4 name string!
5 uid string/types.UID!
message resource.AllocatedDeviceStatus
1 driver string!
2 pool string!
3 device string!
7 shareID string?
4 conditions []Condition! map=type
5 data any?
6 networkData resource.NetworkDeviceData?
message resource.ResourcePool
1 name string!
2 generation int64!
3 resourceSliceCount int64!
message resource.Device
1 name string!
2 attributes {}resource.DeviceAttribute
3 capacity {}resource.DeviceCapacity
4 consumesCounters []resource.DeviceCounterConsumption
5 nodeName string?
6 nodeSelector NodeSelector?
7 allNodes bool?
8 taints []resource.DeviceTaint
9 bindsToNode bool?
10 bindingConditions []string
11 bindingFailureConditions []string
12 allowMultipleAllocations bool?
13 nodeAllocatableResourceMappings {}resource.NodeAllocatableResourceMapping
message resource.CounterSet
1 name string!
2 counters {}resource.Counter
message resource.DeviceSelector
1 cel resource.CELDeviceSelector?
message resource.DeviceClassConfiguration
1 resource.DeviceConfiguration inline
message authorization.ResourceAttributes
1 namespace string
2 verb string
3 group string
4 version string
5 resource string
6 subresource string
7 name string
8 fieldSelector authorization.FieldSelectorAttributes?
9 labelSelector authorization.LabelSelectorAttributes?
message authorization.NonResourceAttributes
1 path string
2 verb string
message authorization.ResourceRule
1 verbs []string!
2 apiGroups []string
3 resources []string
4 resourceNames []string
message authorization.NonResourceRule
1 verbs []string!
2 nonResourceURLs []string
message authentication.UserInfo
1 username string
2 uid string
3 groups []string
4 extra {}any
message authentication.BoundObjectReference
1 kind string
2 apiVersion string
3 name string
4 uid string/types.UID
message apiextensions.CustomResourceDefinitionNames
1 plural string!
2 singular string
3 shortNames []string
4 kind string!
5 listKind string
6 categories []string
message apiextensions.CustomResourceDefinitionVersion
1 name string!
2 served bool!
3 storage bool!
7 deprecated bool
8 deprecationWarning string?
4 schema apiextensions.CustomResourceValidation?
5 subresources apiextensions.CustomResourceSubresources?
6 additionalPrinterColumns []apiextensions.CustomResourceColumnDefinition
9 selectableFields []apiextensions.SelectableField
message apiextensions.CustomResourceConversion
1 strategy string/ConversionStrategyType!
2 webhook apiextensions.WebhookConversion?
message apiextensions.CustomResourceDefinitionCondition
1 type string/CustomResourceDefinitionConditionType!
2 status string/ConditionStatus!
3 lastTransitionTime time!
4 reason string
5 message string
6 observedGeneration int64
message networking.IngressServiceBackend
1 name string!
2 port networking.ServiceBackendPort!
message networking.IngressRuleValue
1 http networking.HTTPIngressRuleValue?
message networking.IngressLoadBalancerIngress
1 ip string
2 hostname string
4 ports []networking.IngressPortStatus
message networking.NetworkPolicyPort
1 protocol string/Protocol?
2 port intstr?
3 endPort int32?
message networking.NetworkPolicyPeer
1 podSelector LabelSelector?
2 namespaceSelector LabelSelector?
3 ipBlock networking.IPBlock?
message resource.DeviceRequest
1 name string!
2 exactly resource.ExactDeviceRequest?
3 firstAvailable []resource.DeviceSubRequest
message resource.DeviceConstraint
1 requests []string
2 matchAttribute string/FullyQualifiedName?
3 distinctAttribute string/FullyQualifiedName?
message resource.DeviceClaimConfiguration
1 requests []string
2 resource.DeviceConfiguration inline
message resource.DeviceAllocationResult
1 results []resource.DeviceRequestAllocationResult
2 config []resource.DeviceAllocationConfiguration
message resource.NetworkDeviceData
1 interfaceName string
2 ips []string
3 hardwareAddress string
message resource.DeviceAttribute
2 int int64?
3 bool bool?
4 string string?
5 version string?
6 ints []int64
7 bools []bool
8 strings []string
9 versions []string
message resource.DeviceCapacity
1 value quantity!
2 requestPolicy resource.CapacityRequestPolicy?
message resource.DeviceCounterConsumption
1 counterSet string!
2 counters {}resource.Counter
message resource.DeviceTaint
1 key string!
2 value string
3 effect string/DeviceTaintEffect!
4 timeAdded time?
message resource.NodeAllocatableResourceMapping
1 capacityKey string/QualifiedName?
2 allocationMultiplier quantity?
message resource.Counter
1 value quantity!
message resource.CELDeviceSelector
1 expression string!
message resource.DeviceConfiguration
1 opaque resource.OpaqueDeviceConfiguration?
message authorization.FieldSelectorAttributes
1 rawSelector string
2 requirements []FieldSelectorRequirement
message authorization.LabelSelectorAttributes
1 rawSelector string
2 requirements []LabelSelectorRequirement
message apiextensions.CustomResourceValidation
1 openAPIV3Schema apiextensions.JSONSchemaProps?
message apiextensions.CustomResourceSubresources
1 status apiextensions.CustomResourceSubresourceStatus?
2 scale apiextensions.CustomResourceSubresourceScale?
message apiextensions.CustomResourceColumnDefinition
1 name string!
2 type string!
3 format string
4 description string
5 priority int32
6 jsonPath string!
message apiextensions.SelectableField
1 jsonPath string!
message apiextensions.WebhookConversion
2 clientConfig apiextensions.WebhookClientConfig?
3 conversionReviewVersions []string!
message networking.ServiceBackendPort atomic
1 name string
2 number int32
message networking.HTTPIngressRuleValue
1 paths []networking.HTTPIngressPath!
message networking.IngressPortStatus
1 port int32!
2 protocol string/Protocol!
3 error string?
message networking.IPBlock
1 cidr string!
2 except []string
message resource.ExactDeviceRequest
1 deviceClassName string!
2 selectors []resource.DeviceSelector
3 allocationMode string/DeviceAllocationMode
4 count int64
5 adminAccess bool?
6 tolerations []resource.DeviceToleration
7 capacity resource.CapacityRequirements?
message resource.DeviceSubRequest
1 name string!
2 deviceClassName string!
3 selectors []resource.DeviceSelector
4 allocationMode string/DeviceAllocationMode
5 count int64
6 tolerations []resource.DeviceToleration
7 capacity resource.CapacityRequirements?
message resource.DeviceRequestAllocationResult
1 request string!
2 driver string!
3 pool string!
4 device string!
5 adminAccess bool?
6 tolerations []resource.DeviceToleration
7 bindingConditions []string
8 bindingFailureConditions []string
9 shareID string/types.UID?
10 consumedCapacity {}quantity
message resource.DeviceAllocationConfiguration
1 source string/AllocationConfigSource!
2 requests []string
3 resource.DeviceConfiguration inline
message resource.CapacityRequestPolicy
1 default quantity~
3 validValues []quantity
4 validRange resource.CapacityRequestPolicyRange?
message resource.OpaqueDeviceConfiguration
1 driver string!
2 parameters any!
message apiextensions.JSONSchemaProps
1 id string
2 $schema string/JSONSchemaURL
3 $ref string?
4 description string
5 type string
6 format string
7 title string
8 default any?
9 maximum double?
10 exclusiveMaximum bool
11 minimum double?
12 exclusiveMinimum bool
13 maxLength int64?
14 minLength int64?
15 pattern string
16 maxItems int64?
17 minItems int64?
18 uniqueItems bool
19 multipleOf double?
20 enum []any
21 maxProperties int64?
22 minProperties int64?
23 required []string
24 items any?
25 allOf []apiextensions.JSONSchemaProps
26 oneOf []apiextensions.JSONSchemaProps
27 anyOf []apiextensions.JSONSchemaProps
28 not apiextensions.JSONSchemaProps?
29 properties {}apiextensions.JSONSchemaProps
30 additionalProperties any?
31 patternProperties {}apiextensions.JSONSchemaProps
32 dependencies {}any/JSONSchemaDependencies
33 additionalItems any?
34 definitions {}apiextensions.JSONSchemaProps/JSONSchemaDefinitions
35 externalDocs apiextensions.ExternalDocumentation?
36 example any?
37 nullable bool
38 x-kubernetes-preserve-unknown-fields bool?
39 x-kubernetes-embedded-resource bool
40 x-kubernetes-int-or-string bool
41 x-kubernetes-list-map-keys []string
42 x-kubernetes-list-type string?
43 x-kubernetes-map-type string?
44 x-kubernetes-validations []apiextensions.ValidationRule/ValidationRules merge=rule
message apiextensions.CustomResourceSubresourceStatus
message apiextensions.CustomResourceSubresourceScale
1 specReplicasPath string!
2 statusReplicasPath string!
3 labelSelectorPath string?
message apiextensions.WebhookClientConfig
3 url string?
1 service apiextensions.ServiceReference?
2 caBundle bytes
message networking.HTTPIngressPath
1 path string
3 pathType string/PathType~
2 backend networking.IngressBackend!
message resource.DeviceToleration
1 key string
2 operator string/DeviceTolerationOperator
3 value string
4 effect string/DeviceTaintEffect
5 tolerationSeconds int64?
message resource.CapacityRequirements
1 requests {}quantity
message resource.CapacityRequestPolicyRange
1 min quantity?
2 max quantity?
3 step quantity?
message apiextensions.ExternalDocumentation
1 description string
2 url string
message apiextensions.ValidationRule
1 rule string!
2 message string
3 messageExpression string
4 reason string/FieldValueErrorReason?
5 fieldPath string
6 optionalOldSelf bool?
message apiextensions.ServiceReference
1 namespace string!
2 name string!
3 path string?
4 port int32?
)";

}  // namespace hekla::apiserver::schema::internal
