#include "pkg/ray/builders/services.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/ray/builders/json_edit.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/owner.h"

namespace hekla::ray::builders {

using apis::json::Value;
using apis::meta::StringMap;
using apis::ray::RayCluster;

namespace {

using Port = std::pair<std::string, int64_t>;

void SetPort(std::vector<Port>& ports, std::string name, int64_t number) {
  for (Port& port : ports) {
    if (port.first == name) {
      port.second = number;
      return;
    }
  }
  ports.emplace_back(std::move(name), number);
}

// Ports of the head's Ray container in their order, names unique, the last of a name wins.
std::vector<Port> HeadPorts(const RayCluster& cluster) {
  std::vector<Port> ports;
  const Value* ray = apis::ray::RayContainer(cluster.spec.head.pod_template);
  if (ray != nullptr && ray->At("ports").is_array()) {
    for (const Value& port : ray->At("ports").as_array()) {
      const int64_t number = port.GetInt("containerPort");
      const absl::string_view name = port.GetString("name");
      SetPort(ports, name.empty() ? absl::StrCat(number, "-port") : std::string(name), number);
    }
  }
  if (ports.empty()) {
    ports = {{std::string(apis::ray::kClientPortName), apis::ray::kClientPort},
             {std::string(apis::ray::kDashboardPortName), apis::ray::kDashboardPort},
             {std::string(apis::ray::kGcsPortName), apis::ray::kGcsPort},
             {std::string(apis::ray::kServePortName), apis::ray::kServePort}};
  }
  const bool metrics = std::any_of(ports.begin(), ports.end(), [](const Port& port) {
    return port.first == apis::ray::kMetricsPortName;
  });
  if (!metrics) ports.emplace_back(apis::ray::kMetricsPortName, apis::ray::kMetricsPort);
  return ports;
}

Value ServicePort(const Port& port, bool app_protocol) {
  Value out = Value::MakeObject({{"name", port.first}, {"port", port.second}});
  if (app_protocol) out.Set("appProtocol", "tcp");
  return out;
}

// What the head pod carries, in the order of importance to its service.
StringMap HeadLabels(const RayCluster& cluster) {
  StringMap labels = HeadServiceSelector(cluster.name());
  const absl::string_view given = cluster.spec.head.pod_template.At("metadata")
                                      .At("labels")
                                      .GetString(apis::ray::kApplicationNameLabel);
  labels.Set(apis::ray::kApplicationNameLabel, given.empty() ? apis::ray::kApplicationName : given);
  labels.Set(apis::ray::kCreatedByLabel, apis::ray::kOperatorName);
  return labels;
}

StringMap OwnerLabels(const ServiceOwner& owner) {
  StringMap labels;
  labels.Set(apis::ray::kOriginNameLabel, owner.name);
  labels.Set(apis::ray::kOriginKindLabel, owner.kind);
  return labels;
}

void SetOwner(const RayCluster& cluster, const ServiceOwner* owner, Value& object) {
  if (owner == nullptr) return SetController(cluster, object);
  object["metadata"].Set("ownerReferences", Value::MakeArray({owner->controller_reference}));
}

// Without a cluster address of its own unless the operator is told otherwise.
void ApplyServiceType(absl::string_view type, const BuildOptions& options, Value& spec) {
  if (!type.empty()) spec.Set("type", type);
  if ((type.empty() || type == "ClusterIP") && !options.head_cluster_ip_service) {
    spec.Set("clusterIP", "None");
    spec.Set("publishNotReadyAddresses", true);
  }
}

Value UserHeadService(const RayCluster& cluster, const std::string& name, const StringMap& labels,
                      const StringMap& selector) {
  const apis::ray::HeadGroupSpec& head = cluster.spec.head;
  Value service = head.head_service;
  service.Remove("status");
  // What slipped past the schema is dropped.
  for (absl::string_view key : {"metadata", "spec"}) {
    if (!service.At(key).is_object()) service.Set(key, Value::MakeObject());
  }
  if (!service.At("spec").At("ports").is_array()) service["spec"].Remove("ports");
  service.Set("apiVersion", "v1");
  service.Set("kind", "Service");
  Value& metadata = service["metadata"];
  metadata.Set("name", name);
  metadata.Set("namespace", cluster.ns());
  StringMap merged = ToStringMap(metadata.At("labels"));
  for (const auto& [key, value] : labels) merged.Set(key, value);
  SetLabels(merged, service);
  StringMap annotations = ToStringMap(metadata.At("annotations"));
  for (const auto& [key, value] : cluster.spec.head_service_annotations) {
    annotations.Set(key, value);
  }
  if (!annotations.empty()) {
    service["metadata"].Set("annotations", apis::meta::EncodeStringMap(annotations));
  }
  Value& spec = service["spec"];
  spec.Set("selector", apis::meta::EncodeStringMap(selector));
  for (const Port& port : HeadPorts(cluster)) spec["ports"].Append(ServicePort(port, true));
  if (spec.GetString("type").empty() && !head.service_type.empty()) {
    spec.Set("type", head.service_type);
  }
  return service;
}

}  // namespace

absl::StatusOr<Value> BuildHeadService(const RayCluster& cluster, const BuildOptions& options,
                                       const ServiceOwner* owner) {
  const StringMap selector = HeadLabels(cluster);
  std::string name = HeadServiceName(cluster);
  StringMap labels = selector;
  if (owner != nullptr) {
    if (cluster.spec.head.head_service.At("metadata").GetString("name").empty()) {
      name = absl::StrCat(owner->name, "-head-svc");
    }
    labels = OwnerLabels(*owner);
    labels.Set(apis::ray::kNodeTypeLabel, apis::ray::kHeadNode);
    labels.Set(apis::ray::kIdentifierLabel, Identifier(owner->name, apis::ray::kHeadNode));
  }
  Value service;
  if (cluster.spec.head.head_service.is_object()) {
    service = UserHeadService(cluster, name, labels, selector);
  } else {
    service = NewObject("v1", "Service", name, cluster.ns());
    SetLabels(labels, service);
    if (!cluster.spec.head_service_annotations.empty()) {
      service["metadata"].Set("annotations",
                              apis::meta::EncodeStringMap(cluster.spec.head_service_annotations));
    }
    std::vector<Port> ports = HeadPorts(cluster);
    std::sort(ports.begin(), ports.end());
    Value& spec = service.Ensure({"spec"});
    spec.Set("selector", apis::meta::EncodeStringMap(selector));
    for (const Port& port : ports) spec["ports"].Append(ServicePort(port, true));
    ApplyServiceType(cluster.spec.head.service_type, options, spec);
  }
  if (service.At("spec").At("ports").size() == 0) {
    return absl::InvalidArgumentError(absl::StrCat("head service ", name, " has no port"));
  }
  SetOwner(cluster, owner, service);
  return service;
}

Value BuildHeadlessService(const RayCluster& cluster) {
  Value service = NewObject("v1", "Service", HeadlessServiceName(cluster.name()), cluster.ns());
  SetLabels(HeadlessServiceSelector(cluster.name()), service);
  Value& spec = service.Ensure({"spec"});
  spec.Set("clusterIP", "None");
  spec.Set("type", "ClusterIP");
  spec.Set("selector",
           apis::meta::EncodeStringMap(NodeTypeSelector(cluster.name(), apis::ray::kWorkerNode)));
  spec.Set("publishNotReadyAddresses", true);
  SetController(cluster, service);
  return service;
}

absl::StatusOr<Value> BuildServeService(const RayCluster& cluster, const ServiceOwner* owner) {
  const ServiceOwner self{apis::ray::kRayClusterKind, cluster.name(), Value()};
  const ServiceOwner& named = owner == nullptr ? self : *owner;
  Value service = NewObject("v1", "Service", ServeServiceName(named.name), cluster.ns());
  StringMap labels = OwnerLabels(named);
  labels.Set(apis::ray::kServeLabel, CheckLabel(absl::StrCat(named.name, "-serve")));
  SetLabels(labels, service);
  StringMap selector = AllPodsSelector(cluster.name());
  if (owner != nullptr) selector.Set(apis::ray::kServeLabel, "true");
  Value& spec = service.Ensure({"spec"});
  spec.Set("selector", apis::meta::EncodeStringMap(selector));
  for (const Port& port : HeadPorts(cluster)) {
    if (port.first == apis::ray::kServePortName || absl::StartsWith(port.first, "serve-")) {
      spec["ports"].Append(ServicePort(port, false));
    }
  }
  if (spec.At("ports").size() == 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("no port of the head container is named %s: serve service %s is not made",
                        apis::ray::kServePortName, ServeServiceName(named.name)));
  }
  if (!cluster.spec.head.service_type.empty()) spec.Set("type", cluster.spec.head.service_type);
  SetOwner(cluster, owner, service);
  return service;
}

bool NeedsHeadlessService(const RayCluster& cluster) {
  return std::any_of(cluster.spec.worker_groups.begin(), cluster.spec.worker_groups.end(),
                     [](const apis::ray::WorkerGroupSpec& g) { return g.multi_host(); });
}

bool WantsServeService(const RayCluster& cluster) {
  return cluster.metadata.annotations.Get(apis::ray::kEnableServeServiceAnnotation) == "true";
}

void MergeEndpoints(const Value& service, StringMap& endpoints) {
  const Value& ports = service.At("spec").At("ports");
  if (!ports.is_array()) return;
  for (const Value& port : ports.as_array()) {
    const absl::string_view name = port.GetString("name");
    if (name.empty()) continue;
    const Value& target = port.At("targetPort");
    if (port.GetInt("nodePort") != 0) {
      endpoints.Set(name, absl::StrCat(port.GetInt("nodePort")));
    } else if (target.is_int() && target.as_int() != 0) {
      endpoints.Set(name, absl::StrCat(target.as_int()));
    } else if (target.is_string() && !target.as_string().empty()) {
      endpoints.Set(name, target.as_string());
    }
  }
}

}  // namespace hekla::ray::builders
