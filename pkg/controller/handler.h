#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pkg/controller/event.h"
#include "pkg/controller/reconciler.h"

// From news to keys.
// Source: spec kube-machinery 2.4.
namespace hekla::controller {

// Appends the keys that an event concerns; the source sees to it that each is queued once.
using EventHandler = std::function<void(const Event&, std::vector<Request>&)>;

// The object itself.
EventHandler EnqueueSelf();

struct OwnerType {
  std::string group = {};  // the version does not count
  std::string kind = {};
  bool namespaced = true;  // then the owner lives in the object's namespace
  // Only the reference with `controller: true` counts.
  bool controller_only = true;
};
// The owners of that type, of the old and the new state.
EventHandler EnqueueOwner(OwnerType owner);

// What `map` names, for the old and the new state.
EventHandler EnqueueMapped(std::function<std::vector<Request>(const apis::json::Value&)> map);

// The priority that an event's keys are queued with: kLowPriority for creations of the initial list
// and for updates that changed nothing (a resync), else 0.
int PriorityOf(const Event& event);

}  // namespace hekla::controller
