#include "pkg/controller/handler.h"

#include <utility>

#include "pkg/controller/object_helpers.h"
#include "pkg/controller/queue.h"

namespace hekla::controller {
namespace {

using apis::json::Value;

void AppendOwners(const Value& object, const OwnerType& type, std::vector<Request>& out) {
  const Value& owners = object.At("metadata").At("ownerReferences");
  if (!owners.is_array()) return;
  for (const Value& owner : owners.as_array()) {
    if (owner.GetString("kind") != type.kind) continue;
    if (GroupOf(owner.GetString("apiVersion")) != type.group) continue;
    if (type.controller_only && !owner.GetBool("controller")) continue;
    out.push_back(Request{.ns = type.namespaced ? std::string(NamespaceOf(object)) : std::string(),
                          .name = std::string(owner.GetString("name"))});
  }
}

}  // namespace

EventHandler EnqueueSelf() {
  return [](const Event& event, std::vector<Request>& out) {
    out.push_back(RequestOf(*event.object));
  };
}

EventHandler EnqueueOwner(OwnerType owner) {
  return [owner = std::move(owner)](const Event& event, std::vector<Request>& out) {
    if (event.before != nullptr) AppendOwners(*event.before, owner, out);
    AppendOwners(*event.object, owner, out);
  };
}

EventHandler EnqueueMapped(std::function<std::vector<Request>(const Value&)> map) {
  return [map = std::move(map)](const Event& event, std::vector<Request>& out) {
    const auto append = [&](const Value& object) {
      for (Request& request : map(object)) out.push_back(std::move(request));
    };
    if (event.before != nullptr) append(*event.before);
    append(*event.object);
  };
}

int PriorityOf(const Event& event) {
  if (event.type == Event::Type::kCreate) return event.initial ? kLowPriority : 0;
  const bool resync = event.type == Event::Type::kUpdate && event.before != nullptr &&
                      ResourceVersion(*event.before) == ResourceVersion(*event.object);
  return resync ? kLowPriority : 0;
}

}  // namespace hekla::controller
