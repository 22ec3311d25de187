#include "pkg/apiserver/schema/tables.h"

// autoscaling, node, and the classes of volume attributes.
// See tables.h for the notation.
namespace hekla::apiserver::schema::internal {

const char kAutoscalingTable[] = R"(
kind autoscaling/v2 HorizontalPodAutoscaler autoscaling.HorizontalPodAutoscaler
kind node.k8s.io/v1 RuntimeClass node.RuntimeClass
kind storage.k8s.io/v1 VolumeAttributesClass storage.VolumeAttributesClass
message autoscaling.HorizontalPodAutoscaler
1 metadata ObjectMeta!
2 spec autoscaling.HorizontalPodAutoscalerSpec!
3 status autoscaling.HorizontalPodAutoscalerStatus!
message autoscaling.HorizontalPodAutoscalerSpec
1 scaleTargetRef autoscaling.CrossVersionObjectReference!
2 minReplicas int32?
3 maxReplicas int32!
4 metrics []autoscaling.MetricSpec
5 behavior autoscaling.HorizontalPodAutoscalerBehavior?
message autoscaling.CrossVersionObjectReference
1 kind string!
2 name string!
3 apiVersion string
message autoscaling.MetricSpec
1 type string/MetricSourceType!
2 object autoscaling.ObjectMetricSource?
3 pods autoscaling.PodsMetricSource?
4 resource autoscaling.ResourceMetricSource?
7 containerResource autoscaling.ContainerResourceMetricSource?
5 external autoscaling.ExternalMetricSource?
message autoscaling.ObjectMetricSource
1 describedObject autoscaling.CrossVersionObjectReference!
2 target autoscaling.MetricTarget!
3 metric autoscaling.MetricIdentifier!
message autoscaling.PodsMetricSource
1 metric autoscaling.MetricIdentifier!
2 target autoscaling.MetricTarget!
message autoscaling.ResourceMetricSource
1 name string!
2 target autoscaling.MetricTarget!
message autoscaling.ContainerResourceMetricSource
1 name string!
2 target autoscaling.MetricTarget!
3 container string!
message autoscaling.ExternalMetricSource
1 metric autoscaling.MetricIdentifier!
2 target autoscaling.MetricTarget!
message autoscaling.MetricIdentifier
1 name string!
2 selector LabelSelector?
message autoscaling.MetricTarget
1 type string/MetricTargetType!
2 value quantity?
3 averageValue quantity?
4 averageUtilization int32?
message autoscaling.HorizontalPodAutoscalerBehavior
1 scaleUp autoscaling.HPAScalingRules?
2 scaleDown autoscaling.HPAScalingRules?
message autoscaling.HPAScalingRules
3 stabilizationWindowSeconds int32?
1 selectPolicy string/ScalingPolicySelect?
2 policies []autoscaling.HPAScalingPolicy
4 tolerance quantity?
message autoscaling.HPAScalingPolicy
1 type string/HPAScalingPolicyType!
2 value int32!
3 periodSeconds int32!
message autoscaling.HorizontalPodAutoscalerStatus
1 observedGeneration int64?
2 lastScaleTime time?
3 currentReplicas int32
4 desiredReplicas int32!
5 currentMetrics []autoscaling.MetricStatus~
6 conditions []autoscaling.HorizontalPodAutoscalerCondition merge=type map=type
message autoscaling.HorizontalPodAutoscalerCondition
1 type string/HorizontalPodAutoscalerConditionType!
2 status string/ConditionStatus!
3 lastTransitionTime time~
4 reason string
5 message string
message autoscaling.MetricStatus
1 type string/MetricSourceType!
2 object autoscaling.ObjectMetricStatus?
3 pods autoscaling.PodsMetricStatus?
4 resource autoscaling.ResourceMetricStatus?
7 containerResource autoscaling.ContainerResourceMetricStatus?
5 external autoscaling.ExternalMetricStatus?
message autoscaling.ObjectMetricStatus
1 metric autoscaling.MetricIdentifier!
2 current autoscaling.MetricValueStatus!
3 describedObject autoscaling.CrossVersionObjectReference!
message autoscaling.PodsMetricStatus
1 metric autoscaling.MetricIdentifier!
2 current autoscaling.MetricValueStatus!
message autoscaling.ResourceMetricStatus
1 name string!
2 current autoscaling.MetricValueStatus!
message autoscaling.ContainerResourceMetricStatus
1 name string!
2 current autoscaling.MetricValueStatus!
3 container string!
message autoscaling.ExternalMetricStatus
1 metric autoscaling.MetricIdentifier!
2 current autoscaling.MetricValueStatus!
message autoscaling.MetricValueStatus
1 value quantity?
2 averageValue quantity?
3 averageUtilization int32?
message node.RuntimeClass
1 metadata ObjectMeta!
2 handler string!
3 overhead node.Overhead?
4 scheduling node.Scheduling?
message node.Overhead
1 podFixed {}quantity
message node.Scheduling
1 nodeSelector {}string atomic
2 tolerations []Toleration
message storage.VolumeAttributesClass
1 metadata ObjectMeta!
2 driverName string!
3 parameters {}string
)";

}  // namespace hekla::apiserver::schema::internal
