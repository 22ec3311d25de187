#include "pkg/ray/builders/json_edit.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/object_meta.h"

namespace hekla::ray::builders {

using apis::json::Member;
using apis::json::Value;
using apis::meta::StringMap;

Value Strings(std::initializer_list<absl::string_view> items) {
  Value out = Value::MakeArray();
  for (absl::string_view item : items) out.Append(item);
  return out;
}

Value EnvValue(absl::string_view name, absl::string_view value) {
  return Value::MakeObject({{"name", name}, {"value", value}});
}

Value EnvField(absl::string_view name, absl::string_view path) {
  return Value::MakeObject(
      {{"name", name},
       {"valueFrom", Value::MakeObject({{"fieldRef", Value::MakeObject({{"fieldPath", path}})}})}});
}

Value EnvLabel(absl::string_view name, absl::string_view label) {
  return EnvField(name, absl::StrCat("metadata.labels['", label, "']"));
}

bool HasEnv(const Value& container, absl::string_view name) {
  return FindNamed(container.At("env"), name) != nullptr;
}

void AddEnv(Value& container, Value entry) { container["env"].Append(std::move(entry)); }

void AddEnvIfAbsent(Value& container, Value entry) {
  if (!HasEnv(container, entry.GetString("name"))) AddEnv(container, std::move(entry));
}

bool HasMountAt(const Value& container, absl::string_view path) {
  const Value& mounts = container.At("volumeMounts");
  if (!mounts.is_array()) return false;
  for (const Value& mount : mounts.as_array()) {
    if (mount.GetString("mountPath") == path) return true;
  }
  return false;
}

void AddMount(Value& container, absl::string_view volume, absl::string_view path, bool read_only) {
  Value mount = Value::MakeObject({{"name", volume}, {"mountPath", path}});
  if (read_only) mount.Set("readOnly", true);
  container["volumeMounts"].Append(std::move(mount));
}

void AddVolumeIfAbsent(Value volume, Value& spec) {
  if (FindNamed(spec.At("volumes"), volume.GetString("name")) != nullptr) return;
  spec["volumes"].Append(std::move(volume));
}

void AppendAll(const Value& items, Value& list) {
  if (!items.is_array()) return;
  for (const Value& item : items.as_array()) list.Append(item);
}

Value FixedResources(absl::string_view cpu, absl::string_view memory) {
  const Value amounts = Value::MakeObject({{"cpu", cpu}, {"memory", memory}});
  return Value::MakeObject({{"limits", amounts}, {"requests", amounts}});
}

void SetLabels(const StringMap& labels, Value& object) {
  Value& metadata = object.Ensure({"metadata"});
  if (labels.empty()) {
    metadata.Remove("labels");
  } else {
    metadata.Set("labels", apis::meta::EncodeStringMap(labels));
  }
}

StringMap ToStringMap(const Value& object) {
  StringMap out;
  if (!object.is_object()) return out;
  for (const Member& m : object.as_object()) {
    if (m.value.is_string()) out.Set(m.key, m.value.as_string());
  }
  return out;
}

Value NewObject(absl::string_view api_version, absl::string_view kind, absl::string_view name,
                absl::string_view ns) {
  return Value::MakeObject({{"apiVersion", api_version},
                            {"kind", kind},
                            {"metadata", Value::MakeObject({{"name", name}, {"namespace", ns}})}});
}

}  // namespace hekla::ray::builders
