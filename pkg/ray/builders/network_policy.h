#pragma once

#include <optional>
#include <vector>

#include "pkg/apis/json/value.h"
#include "pkg/apis/ray/raycluster.h"

// NetworkPolicies of a RayCluster. Source: spec ray-cluster 8.1.
namespace hekla::ray::builders {

// Head first, then every worker group in order. Empty without `spec.networkPolicy`.
std::vector<apis::json::Value> BuildNetworkPolicies(const apis::ray::RayCluster& cluster);

// The update a live policy needs: the whole object to put, nothing when spec (port protocols
// default to TCP) and labels agree.
std::optional<apis::json::Value> UpdatedNetworkPolicy(const apis::json::Value& live,
                                                      const apis::json::Value& wanted);

}  // namespace hekla::ray::builders
