#pragma once

#include <string>

#include "pkg/apis/json/value.h"

namespace hekla::ray {

// What a server that knows config/crd/ray.io_rayclusters.yaml does with a new RayCluster: checks
// it, drops what the schema does not know, fills in defaults. Returns what is wrong; "" = stored.
std::string StoreAsRayCluster(apis::json::Value& cluster);

}  // namespace hekla::ray
