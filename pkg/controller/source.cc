#include "pkg/controller/source.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace hekla::controller {

void Deliver(const Source& source, const Event& event, bool low_priority, PriorityQueue& queue) {
  for (const Predicate& predicate : source.predicates) {
    if (!predicate(event)) return;
  }
  std::vector<Request> keys;
  source.handler(event, keys);
  AddOptions options;
  if (low_priority) options.priority = PriorityOf(event);
  for (auto it = keys.begin(); it != keys.end(); ++it) {
    if (std::find(keys.begin(), it, *it) == it) queue.Add(*it, options);
  }
}

kube::Handler<apis::json::Value> SourceHandler(Source source, bool low_priority,
                                               PriorityQueue* queue) {
  auto shared = std::make_shared<const Source>(std::move(source));
  const auto deliver = [shared, low_priority, queue](const Event& event) {
    Deliver(*shared, event, low_priority, *queue);
  };
  kube::Handler<apis::json::Value> handler;
  handler.on_add = [deliver](const ObjectPtr& object, bool initial) {
    deliver({.type = Event::Type::kCreate, .object = object, .initial = initial});
  };
  handler.on_update = [deliver](const ObjectPtr& before, const ObjectPtr& now) {
    deliver({.type = Event::Type::kUpdate, .object = now, .before = before});
  };
  handler.on_delete = [deliver](const ObjectPtr& object, bool missed) {
    deliver({.type = Event::Type::kDelete, .object = object, .missed = missed});
  };
  return handler;
}

}  // namespace hekla::controller
