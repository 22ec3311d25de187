#pragma once

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/ray/raycluster.h"

namespace hekla::ray::builders {

// The owner reference with `controller` and `blockOwnerDeletion`.
apis::json::Value ControllerReference(const apis::ray::RayCluster& cluster);
// Makes it the only owner of `object`.
void SetController(const apis::ray::RayCluster& cluster, apis::json::Value& object);
// Whether the controller reference of a live object names this cluster by UID.
bool ControlledBy(const apis::ray::RayCluster& cluster, const apis::json::Value& object);

}  // namespace hekla::ray::builders
