#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/status/field_errors.h"

// Defaults and rules of pod specs, alone and inside templates.
// Source: spec kube-machinery 3.16.
namespace hekla::apiserver::kinds {

// What every pod spec gets, in templates, too.
void SetPodSpecDefaults(apis::json::Value& spec);
// What only pods themselves get: requests from limits, service links.
void SetPodOnlyDefaults(apis::json::Value& spec);
// "Guaranteed", "Burstable" or "BestEffort".
absl::string_view QosClassOf(const apis::json::Value& spec);

void ValidatePodSpec(const apis::json::Value& spec, const std::string& path, FieldErrors& errors);
void ValidateTolerations(const apis::json::Value& tolerations, const std::string& path,
                         FieldErrors& errors);
void ValidateAffinity(const apis::json::Value& affinity, const std::string& path,
                      FieldErrors& errors);
void ValidateContainers(const apis::json::Value& spec, const std::string& path,
                        FieldErrors& errors);
void ValidateTaints(const apis::json::Value& taints, const std::string& path, FieldErrors& errors);
// One requirement of a pod or label selector ("matchExpressions") at `path`.
void ValidateSelector(const apis::json::Value& selector, const std::string& path,
                      FieldErrors& errors);

}  // namespace hekla::apiserver::kinds
