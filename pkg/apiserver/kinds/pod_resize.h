#pragma once

#include "pkg/apis/json/value.h"
#include "pkg/apiserver/status/field_errors.h"

// What `pods/resize` changes: cpu and memory of containers, regular ones and sidecars.
// Source: kube-apiserver 1.36, strategy and validation of the sub-resource.
namespace hekla::apiserver::kinds {

// Leaves of the changed pod what the sub-resource is for: resources and resize policies. Everything
// else is as it was, without a word; containers that were renamed, reordered, added or removed stay
// as they came and are refused by the validation.
void PrepareResize(apis::json::Value& pod, const apis::json::Value& old);
// Beside the rules of every pod.
void ValidateResize(const apis::json::Value& pod, const apis::json::Value& old,
                    FieldErrors& errors);

}  // namespace hekla::apiserver::kinds
