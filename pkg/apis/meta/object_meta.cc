#include "pkg/apis/meta/object_meta.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace hekla::apis::meta {

const OwnerReference* ObjectMeta::ControllerRef() const {
  for (const OwnerReference& owner : owner_references) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

std::string ObjectMeta::Key() const { return ObjectKey(ns, name); }

std::string ObjectKey(absl::string_view ns, absl::string_view name) {
  return ns.empty() ? std::string(name) : absl::StrCat(ns, "/", name);
}

void ReadTypeMeta(const Reader& object, TypeMeta& out) {
  object.String("apiVersion", out.api_version);
  object.String("kind", out.kind);
}

void ReadOwnerReferences(const Reader& metadata, std::vector<OwnerReference>& out) {
  metadata.List("ownerReferences", [&](Reader& item) {
    OwnerReference owner;
    item.String("apiVersion", owner.api_version);
    item.String("kind", owner.kind);
    item.String("name", owner.name);
    item.String("uid", owner.uid);
    item.Bool("controller", owner.controller);
    item.Bool("blockOwnerDeletion", owner.block_owner_deletion);
    out.push_back(std::move(owner));
  });
}

void ReadObjectMetaFields(const Reader& metadata, ObjectMeta& out) {
  metadata.String("name", out.name);
  metadata.String("namespace", out.ns);
  metadata.String("uid", out.uid);
  metadata.String("resourceVersion", out.resource_version);
  metadata.Int("generation", out.generation);
  metadata.Time("creationTimestamp", out.creation_timestamp);
  metadata.Time("deletionTimestamp", out.deletion_timestamp);
  metadata.Map("labels", out.labels);
  metadata.Map("annotations", out.annotations);
  ReadOwnerReferences(metadata, out.owner_references);
}

void ReadObjectMeta(const Reader& object, ObjectMeta& out) {
  object.Object("metadata", [&](Reader& metadata) { ReadObjectMetaFields(metadata, out); });
}

void ReadConditions(const Reader& status, absl::string_view key, std::vector<Condition>& out) {
  status.List(key, [&](Reader& item) {
    Condition c;
    item.String("type", c.type);
    item.String("status", c.status);
    item.String("reason", c.reason);
    item.String("message", c.message);
    item.Time("lastTransitionTime", c.last_transition_time);
    out.push_back(std::move(c));
  });
}

void SetOrRemove(json::Value& object, absl::string_view key, absl::string_view text) {
  if (text.empty()) {
    object.Remove(key);
  } else {
    object.Set(key, text);
  }
}

json::Value EncodeOwnerReference(const OwnerReference& owner) {
  json::Value out = json::Value::MakeObject({{"apiVersion", owner.api_version},
                                             {"kind", owner.kind},
                                             {"name", owner.name},
                                             {"uid", owner.uid}});
  if (owner.controller) out.Set("controller", true);
  if (owner.block_owner_deletion) out.Set("blockOwnerDeletion", true);
  return out;
}

json::Value EncodeResources(const ResourceList& list) {
  json::Value out = json::Value::MakeObject();
  for (const auto& [name, quantity] : list) out.Set(name, quantity.ToString());
  return out;
}

json::Value EncodeStringMap(const StringMap& map) {
  json::Value out = json::Value::MakeObject();
  for (const auto& [key, value] : map) out.Set(key, value);
  return out;
}

json::Value EncodeStrings(const std::vector<std::string>& list) {
  json::Value out = json::Value::MakeArray();
  for (const std::string& item : list) out.Append(item);
  return out;
}

void WriteObjectMeta(const ObjectMeta& meta, json::Value& object) {
  json::Value& out = object.Ensure({"metadata"});
  SetOrRemove(out, "name", meta.name);
  SetOrRemove(out, "namespace", meta.ns);
  SetOrRemove(out, "uid", meta.uid);
  SetOrRemove(out, "resourceVersion", meta.resource_version);
  if (meta.generation != 0) out.Set("generation", meta.generation);
  SetOrRemove(out, "creationTimestamp", TimeToString(meta.creation_timestamp));
  SetOrRemove(out, "deletionTimestamp", TimeToString(meta.deletion_timestamp));
  if (meta.labels.empty()) {
    out.Remove("labels");
  } else {
    out.Set("labels", EncodeStringMap(meta.labels));
  }
  if (meta.annotations.empty()) {
    out.Remove("annotations");
  } else {
    out.Set("annotations", EncodeStringMap(meta.annotations));
  }
  out.Remove("ownerReferences");
  for (const OwnerReference& owner : meta.owner_references) {
    out["ownerReferences"].Append(EncodeOwnerReference(owner));
  }
}

}  // namespace hekla::apis::meta
