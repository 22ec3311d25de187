#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pkg/apis/core/pod.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/model/dictionary.h"
#include "pkg/model/resource.h"

// Quantities to integer amounts. Source: spec scheduler-core 8.2, 8.4.
namespace hekla::cache {

// Names that take no part are dropped; each amount is rounded up to its unit.
model::Resource ToResource(const apis::meta::ResourceList& list, model::ResourceLayout& layout);
// Only the named dimensions are limited.
model::ResourceLimit ToLimit(const apis::meta::ResourceList& list, model::ResourceLayout& layout);

// Which features of Kubernetes take part in the request of a pod.
struct RequestFeatures {
  bool pod_level_resources = true;
  bool in_place_resize = true;
};

// A resize that the node cannot grant: what runs counts, not what is asked for.
bool IsResizeInfeasible(const apis::core::Pod& pod);

// What the pod needs on its node: containers, init containers in order, sidecars, pod-level
// requests, overhead, and one pod.
model::Resource PodRequest(const apis::core::Pod& pod, model::ResourceLayout& layout,
                           const RequestFeatures& features);

// CPU (milli-cores) and memory (bytes) as scorers count them: containers without a request for one
// of them count 100 milli-cores or 200 MiB.
std::pair<int64_t, int64_t> NonZeroRequest(const apis::core::Pod& pod,
                                           model::ResourceLayout& layout,
                                           const RequestFeatures& features);

}  // namespace hekla::cache
