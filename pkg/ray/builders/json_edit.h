#pragma once

#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/lookup.h"
#include "pkg/apis/meta/string_map.h"

// Small pieces of Kubernetes JSON, for the builders.
namespace hekla::ray::builders {

apis::json::Value Strings(std::initializer_list<absl::string_view> items);
apis::json::Value EnvValue(absl::string_view name, absl::string_view value);
// From a field of the pod: metadata.name, status.podIP, ...
apis::json::Value EnvField(absl::string_view name, absl::string_view path);
// The label of the pod.
apis::json::Value EnvLabel(absl::string_view name, absl::string_view label);

using apis::meta::FindNamed;

bool HasEnv(const apis::json::Value& container, absl::string_view name);
void AddEnv(apis::json::Value& container, apis::json::Value entry);
void AddEnvIfAbsent(apis::json::Value& container, apis::json::Value entry);
bool HasMountAt(const apis::json::Value& container, absl::string_view path);
void AddMount(apis::json::Value& container, absl::string_view volume, absl::string_view path,
              bool read_only = false);

// Into `volumes` of a pod's spec, unless one of that name is there.
void AddVolumeIfAbsent(apis::json::Value volume, apis::json::Value& spec);

// Appends every item of `items`, where that is an array.
void AppendAll(const apis::json::Value& items, apis::json::Value& list);

// requests = limits = these amounts.
apis::json::Value FixedResources(absl::string_view cpu, absl::string_view memory);

// `labels` into metadata.labels of `object`; removed when empty.
void SetLabels(const apis::meta::StringMap& labels, apis::json::Value& object);
apis::meta::StringMap ToStringMap(const apis::json::Value& object);

// An object with apiVersion, kind, name and namespace.
apis::json::Value NewObject(absl::string_view api_version, absl::string_view kind,
                            absl::string_view name, absl::string_view ns);

}  // namespace hekla::ray::builders
