#include "pkg/apis/core/objects.h"

namespace hekla::apis::core {

using meta::Reader;

absl::StatusOr<Namespace> DecodeNamespace(const json::Value& value) {
  Namespace ns;
  const Reader root(value);
  meta::ReadObjectMeta(root, ns.metadata);
  root.Object("status", [&](Reader& status) { status.String("phase", ns.phase); });
  if (!root.status().ok()) return root.status();
  return ns;
}

absl::StatusOr<ConfigMap> DecodeConfigMap(const json::Value& value) {
  ConfigMap map;
  const Reader root(value);
  meta::ReadObjectMeta(root, map.metadata);
  root.Map("data", map.data);
  if (!root.status().ok()) return root.status();
  return map;
}

absl::StatusOr<Service> DecodeService(const json::Value& value) {
  Service service;
  const Reader root(value);
  meta::ReadObjectMeta(root, service.metadata);
  root.Object("spec", [&](Reader& spec) { spec.Map("selector", service.selector); });
  if (!root.status().ok()) return root.status();
  return service;
}

absl::StatusOr<ReplicationController> DecodeReplicationController(const json::Value& value) {
  ReplicationController rc;
  const Reader root(value);
  meta::ReadObjectMeta(root, rc.metadata);
  root.Object("spec", [&](Reader& spec) {
    spec.Map("selector", rc.selector);
    spec.Int("replicas", rc.replicas);
  });
  if (!root.status().ok()) return root.status();
  return rc;
}

absl::StatusOr<ResourceQuota> DecodeResourceQuota(const json::Value& value) {
  ResourceQuota quota;
  const Reader root(value);
  meta::ReadObjectMeta(root, quota.metadata);
  root.Object("spec", [&](Reader& spec) { spec.Resources("hard", quota.spec_hard); });
  root.Object("status", [&](Reader& status) {
    status.Resources("hard", quota.status_hard);
    status.Resources("used", quota.status_used);
  });
  if (!root.status().ok()) return root.status();
  return quota;
}

absl::StatusOr<Event> DecodeEvent(const json::Value& value) {
  Event event;
  const Reader root(value);
  meta::ReadObjectMeta(root, event.metadata);
  root.Object("involvedObject", [&](Reader& o) {
    o.String("apiVersion", event.involved_object.api_version);
    o.String("kind", event.involved_object.kind);
    o.String("namespace", event.involved_object.ns);
    o.String("name", event.involved_object.name);
    o.String("uid", event.involved_object.uid);
    o.String("resourceVersion", event.involved_object.resource_version);
    o.String("fieldPath", event.involved_object.field_path);
  });
  root.String("type", event.type);
  root.String("reason", event.reason);
  root.String("message", event.message);
  root.Object("source", [&](Reader& source) {
    source.String("component", event.source_component);
    source.String("host", event.source_host);
  });
  root.Time("firstTimestamp", event.first_timestamp);
  root.Time("lastTimestamp", event.last_timestamp);
  root.Int("count", event.count);
  root.String("reportingComponent", event.reporting_component);
  root.String("reportingInstance", event.reporting_instance);
  if (!root.status().ok()) return root.status();
  return event;
}

json::Value EncodeObjectReference(const ObjectReference& reference) {
  json::Value out = json::Value::MakeObject();
  meta::SetOrRemove(out, "apiVersion", reference.api_version);
  meta::SetOrRemove(out, "kind", reference.kind);
  meta::SetOrRemove(out, "namespace", reference.ns);
  meta::SetOrRemove(out, "name", reference.name);
  meta::SetOrRemove(out, "uid", reference.uid);
  meta::SetOrRemove(out, "resourceVersion", reference.resource_version);
  meta::SetOrRemove(out, "fieldPath", reference.field_path);
  return out;
}

json::Value EncodeEvent(const Event& event, json::Value base) {
  base.Set("apiVersion", Event::kApiVersion);
  base.Set("kind", Event::kKind);
  meta::WriteObjectMeta(event.metadata, base);
  base.Set("involvedObject", EncodeObjectReference(event.involved_object));
  base.Set("type", event.type);
  base.Set("reason", event.reason);
  base.Set("message", event.message);
  json::Value& source = base.Ensure({"source"});
  meta::SetOrRemove(source, "component", event.source_component);
  meta::SetOrRemove(source, "host", event.source_host);
  meta::SetOrRemove(base, "firstTimestamp", meta::TimeToString(event.first_timestamp));
  meta::SetOrRemove(base, "lastTimestamp", meta::TimeToString(event.last_timestamp));
  base.Set("count", event.count);
  base.Set("reportingComponent", event.reporting_component);
  base.Set("reportingInstance", event.reporting_instance);
  return base;
}

}  // namespace hekla::apis::core
