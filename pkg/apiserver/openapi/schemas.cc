#include "pkg/apiserver/openapi/schemas.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace hekla::apiserver::openapi {
namespace {

using apis::json::Value;
using schema::Field;
using schema::ListKind;
using schema::Message;
using schema::Presence;
using schema::Shape;
using schema::Type;

constexpr char kQuantity[] = "io.k8s.apimachinery.pkg.api.resource.Quantity";
constexpr char kIntOrString[] = "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
constexpr char kMeta[] = "io.k8s.apimachinery.pkg.apis.meta.v1.";
constexpr char kGvk[] = "x-kubernetes-group-version-kind";

bool IsMeta(absl::string_view name) {
  static const auto* const names =
      new std::set<std::string, std::less<>>{"Condition",
                                             "DeleteOptions",
                                             "FieldSelectorRequirement",
                                             "GroupVersionKind",
                                             "LabelSelector",
                                             "ListMeta",
                                             "LabelSelectorRequirement",
                                             "ManagedFieldsEntry",
                                             "ObjectMeta",
                                             "OwnerReference",
                                             "Preconditions",
                                             "Status",
                                             "StatusCause",
                                             "StatusDetails"};
  return names->find(std::string(name)) != names->end();
}

std::string MessageName(const Message& message) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(message.name, absl::MaxSplits('.', 1));
  if (parts.second.empty()) {
    return absl::StrCat(IsMeta(message.name) ? kMeta : "io.k8s.api.core.v1.", message.name);
  }
  if (parts.first == "apiextensions") {
    return absl::StrCat("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.", parts.second);
  }
  return absl::StrCat("io.k8s.api.", parts.first, ".v1.", parts.second);
}

// "scheduling.volcano.sh" -> "sh.volcano.scheduling".
std::string Reversed(absl::string_view group) {
  std::vector<absl::string_view> parts = absl::StrSplit(group, '.');
  std::reverse(parts.begin(), parts.end());
  return absl::StrJoin(parts, ".");
}

Value GvkOf(const Resource& resource, absl::string_view kind) {
  return Value::MakeArray({Value::MakeObject(
      {{"group", resource.group}, {"kind", kind}, {"version", resource.version}})});
}

Value StringType() { return Value::MakeObject({{"type", "string"}}); }

Value Typed(absl::string_view type, absl::string_view format) {
  Value out = Value::MakeObject({{"type", type}});
  if (!format.empty()) out.Set("format", format);
  return out;
}

void AddTypeMeta(Value& properties) {
  properties.Set("apiVersion", StringType());
  properties.Set("kind", StringType());
}

// One line about a kind, for `kubectl explain`.
absl::string_view AboutKind(absl::string_view name) {
  static constexpr std::pair<absl::string_view, absl::string_view> kTexts[] = {
      {"Pod", "Containers that run together on one node."},
      {"Node", "A machine that runs pods."},
      {"Namespace", "A scope for names."},
      {"Event", "Something that happened to an object."},
      {"events.Event", "Something that happened to an object."},
      {"ConfigMap", "Settings as names and texts."},
      {"Secret", "Confidential data as names and bytes."},
      {"Service", "A stable address for a set of pods."},
      {"ServiceAccount", "An identity for pods."},
      {"PersistentVolume", "A piece of storage in the cluster."},
      {"PersistentVolumeClaim", "A request for storage."},
      {"ResourceQuota", "Limits on what a namespace may use."},
      {"apps.Deployment", "Replaceable pods with rolling updates."},
      {"apps.ReplicaSet", "A number of equal pods."},
      {"apps.StatefulSet", "Pods with stable names and storage."},
      {"apps.DaemonSet", "One pod on every matching node."},
      {"batch.Job", "Pods that run until enough of them have succeeded."},
      {"batch.CronJob", "Creates a Job at the times of a schedule."},
      {"scheduling.PriorityClass", "A named priority of pods."},
      {"policy.PodDisruptionBudget", "How many pods may be evicted at a time."},
      {"storage.StorageClass", "A kind of storage that volumes are made of."},
      {"storage.CSINode", "The storage drivers of a node."},
      {"coordination.Lease", "A claim that has to be renewed."},
      {"apiextensions.CustomResourceDefinition", "A kind of object that is served."}};
  for (const auto& [kind, text] : kTexts) {
    if (kind == name) return text;
  }
  return "";
}

// Fields that a client must give: those that are always present and have no empty form.
bool IsRequired(const Field& field) {
  if (field.presence != Presence::kAlways) return false;
  if (field.shape != Shape::kSingle) return true;
  return field.type != Type::kMessage && field.type != Type::kTime &&
         field.type != Type::kMicroTime && field.type != Type::kAny;
}

}  // namespace

Value SchemaSet::Ref(absl::string_view name) const {
  return Value::MakeObject(
      {{"$ref", absl::StrCat(dialect_ == Dialect::kV3 ? "#/components/schemas/" : "#/definitions/",
                             name)}});
}

Value SchemaSet::Choice(absl::string_view name, absl::string_view format) {
  Value schema = Value::MakeObject();
  if (dialect_ == Dialect::kV2) {
    schema = Typed("string", format);
  } else {
    const char* other = format.empty() ? "number" : "integer";
    if (!format.empty()) schema.Set("format", format);
    schema.Set("oneOf", Value::MakeArray({Typed(other, ""), StringType()}));
  }
  schemas_.emplace(std::string(name), std::move(schema));
  return Ref(name);
}

Value SchemaSet::OneSchema(const Field& field) {
  switch (field.type) {
    case Type::kString:
    case Type::kDuration:
      return StringType();
    case Type::kBool:
      return Typed("boolean", "");
    case Type::kInt32:
      return Typed("integer", "int32");
    case Type::kInt64:
      return Typed("integer", "int64");
    case Type::kDouble:
      return Typed("number", "double");
    case Type::kBytes:
      return Typed("string", "byte");
    case Type::kTime:
    case Type::kMicroTime:
      return Typed("string", "date-time");
    case Type::kQuantity:
      return Choice(kQuantity, "");
    case Type::kIntOrString:
      return Choice(kIntOrString, "int-or-string");
    case Type::kAny:
      // Not quite right for scalars; kubectl explain wants a type.
      return Typed("object", "");
    case Type::kMessage:
      return Ref(AddMessage(*field.message));
  }
  return Value::MakeObject();
}

Value SchemaSet::FieldSchema(const Field& field) {
  if (field.shape == Shape::kMap) {
    return Value::MakeObject({{"type", "object"}, {"additionalProperties", OneSchema(field)}});
  }
  Value schema = OneSchema(field);
  if (field.shape == Shape::kList) {
    schema = Value::MakeObject({{"type", "array"}, {"items", std::move(schema)}});
    if (field.list_kind == ListKind::kAtomic) schema.Set("x-kubernetes-list-type", "atomic");
    if (field.list_kind == ListKind::kSet) schema.Set("x-kubernetes-list-type", "set");
    if (field.list_kind == ListKind::kMap) {
      Value keys = Value::MakeArray();
      for (const std::string& key : field.list_keys) keys.Append(Value(key));
      schema.Set("x-kubernetes-list-map-keys", std::move(keys));
      schema.Set("x-kubernetes-list-type", "map");
    }
  }
  if (field.merge) {
    if (!field.merge_key.empty()) schema.Set("x-kubernetes-patch-merge-key", field.merge_key);
    schema.Set("x-kubernetes-patch-strategy", field.retain_keys ? "merge,retainKeys" : "merge");
  }
  return schema;
}

std::string SchemaSet::AddMessage(const Message& message) {
  const std::string name = MessageName(message);
  // The place is taken first: schemas may contain themselves.
  if (!schemas_.emplace(name, Value::MakeObject()).second) return name;
  Value properties = Value::MakeObject();
  Value required = Value::MakeArray();
  if (message.is_kind) AddTypeMeta(properties);
  for (const Field& field : message.fields) {
    properties.Set(field.name, FieldSchema(field));
    if (IsRequired(field)) required.Append(Value(field.name));
  }
  Value schema = Value::MakeObject();
  const absl::string_view about = message.is_kind ? AboutKind(message.name) : "";
  if (!about.empty()) schema.Set("description", about);
  schema.Set("type", "object");
  if (required.size() > 0) schema.Set("required", std::move(required));
  schema.Set("properties", std::move(properties));
  if (message.atomic) schema.Set("x-kubernetes-map-type", "atomic");
  schemas_[name] = std::move(schema);
  return name;
}

void SchemaSet::AddCustom(const Resource& resource, const std::string& name) {
  Value schema = *resource.crd_schema;
  if (!schema.is_object()) schema = Value::MakeObject({{"type", "object"}});
  Value& properties = schema["properties"];
  if (!properties.is_object()) properties = Value::MakeObject();
  AddTypeMeta(properties);
  properties.Set("metadata", Ref(AddMessage(*schema::FindMessage("ObjectMeta"))));
  schemas_[name] = std::move(schema);
}

void SchemaSet::AddList(const Resource& resource, const std::string& item) {
  const Value items = Value::MakeObject({{"type", "array"}, {"items", Ref(item)}});
  Value properties = Value::MakeObject();
  AddTypeMeta(properties);
  properties.Set("metadata", Ref(AddMessage(*schema::FindMessage("ListMeta"))));
  properties.Set("items", items);
  schemas_[absl::StrCat(item, "List")] =
      Value::MakeObject({{"type", "object"},
                         {"required", Value::MakeArray({Value("items")})},
                         {"properties", std::move(properties)},
                         {kGvk, GvkOf(resource, absl::StrCat(resource.kind, "List"))}});
}

std::string SchemaSet::Add(const Resource& resource) {
  std::string name;
  if (resource.crd_schema != nullptr) {
    name = absl::StrCat(Reversed(resource.group), ".", resource.version, ".", resource.kind);
    AddCustom(resource, name);
  } else {
    const Message* message = schema::FindKind(resource.group, resource.version, resource.kind);
    if (message == nullptr) return "";
    name = AddMessage(*message);
  }
  schemas_[name].Set(kGvk, GvkOf(resource, resource.kind));
  AddList(resource, name);
  return name;
}

}  // namespace hekla::apiserver::openapi
