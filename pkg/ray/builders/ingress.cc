// Ingress and Route of a RayCluster; declared in services.h. Source: spec ray-cluster 7.4.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/ray/builders/json_edit.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/owner.h"
#include "pkg/ray/builders/services.h"

namespace hekla::ray::builders {

using apis::json::Value;
using apis::meta::StringMap;
using apis::ray::RayCluster;

namespace {

StringMap IngressLabels(const RayCluster& cluster) {
  StringMap labels = AllPodsSelector(cluster.name());
  labels.Set(apis::ray::kIdentifierLabel, Identifier(cluster.name(), apis::ray::kHeadNode));
  labels.Set(apis::ray::kApplicationNameLabel, apis::ray::kApplicationName);
  labels.Set(apis::ray::kCreatedByLabel, apis::ray::kOperatorName);
  return labels;
}

// The port of that name on the head's Ray container.
int64_t DashboardPort(const RayCluster& cluster) {
  const Value* ray = apis::ray::RayContainer(cluster.spec.head.pod_template);
  if (ray == nullptr) return apis::ray::kDashboardPort;
  const Value* port = FindNamed(ray->At("ports"), apis::ray::kDashboardPortName);
  return port == nullptr ? apis::ray::kDashboardPort : port->GetInt("containerPort");
}

bool SameMap(const Value& a, const Value& b) { return ToStringMap(a) == ToStringMap(b); }

}  // namespace

absl::StatusOr<Value> BuildIngress(const RayCluster& cluster) {
  Value ingress =
      NewObject("networking.k8s.io/v1", "Ingress", IngressName(cluster.name()), cluster.ns());
  SetLabels(IngressLabels(cluster), ingress);
  StringMap annotations = cluster.metadata.annotations;
  const std::string ingress_class(annotations.Get(apis::ray::kIngressClassAnnotation));
  annotations.Erase(apis::ray::kIngressClassAnnotation);
  if (!annotations.empty()) {
    ingress["metadata"].Set("annotations", apis::meta::EncodeStringMap(annotations));
  }
  const Value& options = cluster.spec.head.ingress_options;
  const Value service =
      Value::MakeObject({{"name", HeadServiceName(cluster)},
                         {"port", Value::MakeObject({{"number", DashboardPort(cluster)}})}});
  const Value path = Value::MakeObject({{"path", options.GetString("path", "/")},
                                        {"pathType", options.GetString("pathType", "Prefix")},
                                        {"backend", Value::MakeObject({{"service", service}})}});
  Value rule =
      Value::MakeObject({{"http", Value::MakeObject({{"paths", Value::MakeArray({path})}})}});
  const absl::string_view host = options.GetString("host");
  if (!host.empty()) rule.Set("host", host);
  Value& spec = ingress.Ensure({"spec"});
  if (!ingress_class.empty()) spec.Set("ingressClassName", ingress_class);
  spec.Set("rules", Value::MakeArray({std::move(rule)}));
  if (options.At("tls").size() > 0) spec.Set("tls", options.At("tls"));
  SetController(cluster, ingress);
  return ingress;
}

std::optional<Value> UpdatedIngress(const Value& live, const Value& wanted) {
  Value spec = wanted.At("spec");
  const absl::string_view live_class = live.At("spec").GetString("ingressClassName");
  if (!spec.Has("ingressClassName") && !live_class.empty()) {
    spec.Set("ingressClassName", live_class);
  }
  const Value& metadata = live.At("metadata");
  const Value& want = wanted.At("metadata");
  if (SameMap(metadata.At("labels"), want.At("labels")) &&
      SameMap(metadata.At("annotations"), want.At("annotations")) && live.At("spec") == spec) {
    return std::nullopt;
  }
  Value updated = live;
  for (absl::string_view key : {"labels", "annotations"}) {
    if (want.Has(key)) {
      updated["metadata"].Set(key, want.At(key));
    } else {
      updated["metadata"].Remove(key);
    }
  }
  updated.Set("spec", std::move(spec));
  return updated;
}

absl::StatusOr<Value> BuildRoute(const RayCluster& cluster) {
  Value route = NewObject("route.openshift.io/v1", "Route", RouteName(cluster.name(), cluster.ns()),
                          cluster.ns());
  SetLabels(IngressLabels(cluster), route);
  if (!cluster.metadata.annotations.empty()) {
    route["metadata"].Set("annotations", apis::meta::EncodeStringMap(cluster.metadata.annotations));
  }
  Value& spec = route.Ensure({"spec"});
  spec.Set("to", Value::MakeObject(
                     {{"kind", "Service"}, {"name", HeadServiceName(cluster)}, {"weight", 100}}));
  spec.Set("port", Value::MakeObject({{"targetPort", DashboardPort(cluster)}}));
  spec.Set("wildcardPolicy", "None");
  SetController(cluster, route);
  return route;
}

}  // namespace hekla::ray::builders
