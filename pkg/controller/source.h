#pragma once

#include <vector>

#include "pkg/controller/handler.h"
#include "pkg/controller/predicate.h"
#include "pkg/controller/queue.h"
#include "pkg/kube/informer.h"
#include "pkg/kube/resource.h"

namespace hekla::controller {

// One kind that a controller watches: news that passes all predicates, in their order, becomes
// keys.
struct Source {
  kube::Resource resource = {};
  EventHandler handler = nullptr;
  std::vector<Predicate> predicates = {};
};

// Passes one event through a source into a queue. With `low_priority` off every key gets priority
// 0.
void Deliver(const Source& source, const Event& event, bool low_priority, PriorityQueue& queue);

// The handler that feeds `queue` from an informer. `queue` must outlive the informer's handler.
kube::Handler<apis::json::Value> SourceHandler(Source source, bool low_priority,
                                               PriorityQueue* queue);

}  // namespace hekla::controller
