#pragma once

#include "pkg/apis/json/value.h"
#include "pkg/apis/ray/raycluster.h"

// What the autoscaler container needs to change its RayCluster. Source: spec ray-cluster 7.5.
namespace hekla::ray::builders {

apis::json::Value BuildAutoscalerServiceAccount(const apis::ray::RayCluster& cluster);
apis::json::Value BuildAutoscalerRole(const apis::ray::RayCluster& cluster);
apis::json::Value BuildAutoscalerRoleBinding(const apis::ray::RayCluster& cluster);

}  // namespace hekla::ray::builders
