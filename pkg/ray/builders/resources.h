#pragma once

#include <cstdint>

#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apis/ray/raycluster.h"

// Arithmetic of replicas and resources. Source: spec ray-cluster 5.2.
namespace hekla::ray::builders {

// Pods a group shall have: replicas clamped to [min, max], times hosts; 0 when suspended.
int64_t DesiredWorkers(const apis::ray::WorkerGroupSpec& group);
int64_t MinWorkers(const apis::ray::WorkerGroupSpec& group);
int64_t MaxWorkers(const apis::ray::WorkerGroupSpec& group);

// Totals over the groups that are not suspended. The maximum is capped at 2^31 - 1.
int32_t DesiredWorkerReplicas(const apis::ray::RayCluster& cluster);
int32_t MinWorkerReplicas(const apis::ray::RayCluster& cluster);
int32_t MaxWorkerReplicas(const apis::ray::RayCluster& cluster);

// Requests, else limits, of the containers of a pod template, summed per resource.
apis::meta::ResourceList PodResources(const apis::json::Value& pod_template);
// Head and workers. Quirk: uses `replicas` as written, not clamped.
apis::meta::ResourceList DesiredResources(const apis::ray::RayCluster& cluster);
// Head and the minimum of every group.
apis::meta::ResourceList MinResources(const apis::ray::RayCluster& cluster);

// Sum over all GPU-like resources.
apis::meta::Quantity TotalGpu(const apis::meta::ResourceList& resources);

// Fills the three counts that follow from the spec and the four quantities of a status.
void FillDesired(const apis::ray::RayCluster& cluster, apis::ray::RayClusterStatus& status);

}  // namespace hekla::ray::builders
