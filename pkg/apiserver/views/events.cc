#include "pkg/apiserver/views/events.h"

#include <utility>

namespace hekla::apiserver::views {
namespace {

using apis::json::Value;

struct Rename {
  absl::string_view core;
  absl::string_view v1;
  bool drop_empty;  // left out of the events.k8s.io form when empty
};

// In the order in which events.k8s.io/v1 writes its members.
constexpr Rename kMembers[] = {
    {"eventTime", "eventTime", false},
    {"series", "series", true},
    {"reportingComponent", "reportingController", true},
    {"reportingInstance", "reportingInstance", true},
    {"action", "action", true},
    {"reason", "reason", true},
    {"involvedObject", "regarding", false},
    {"related", "related", true},
    {"message", "note", true},
    {"type", "type", true},
    {"source", "deprecatedSource", false},
    {"firstTimestamp", "deprecatedFirstTimestamp", false},
    {"lastTimestamp", "deprecatedLastTimestamp", false},
    {"count", "deprecatedCount", true},
};

// In the order in which core/v1 writes them.
constexpr absl::string_view kCoreOrder[] = {
    "involvedObject",     "reason",           "message", "source",
    "firstTimestamp",     "lastTimestamp",    "count",   "type",
    "eventTime",          "series",           "action",  "related",
    "reportingComponent", "reportingInstance"};

bool Empty(const Value& value) {
  return value.is_null() || (value.is_string() && value.as_string().empty()) || value == Value(0);
}

}  // namespace

Value EventToV1(const Value& core) {
  Value out = Value::MakeObject(
      {{"kind", "Event"}, {"apiVersion", "events.k8s.io/v1"}, {"metadata", core.At("metadata")}});
  for (const Rename& r : kMembers) {
    const Value& value = core.At(r.core);
    if (r.drop_empty && Empty(value)) continue;
    out.Set(r.v1, value);
  }
  return out;
}

Value EventFromV1(const Value& event) {
  Value out = Value::MakeObject(
      {{"kind", "Event"}, {"apiVersion", "v1"}, {"metadata", event.At("metadata")}});
  for (absl::string_view name : kCoreOrder) {
    for (const Rename& r : kMembers) {
      if (r.core != name) continue;
      const Value* value = event.Find(r.v1);
      const bool text = name == "reportingComponent" || name == "reportingInstance";
      const bool object = name == "source" || name == "involvedObject";
      if (value != nullptr) {
        out.Set(name, *value);
      } else if (text) {
        out.Set(name, "");
      } else if (object) {
        out.Set(name, Value::MakeObject());
      } else if (name == "firstTimestamp" || name == "lastTimestamp" || name == "eventTime") {
        out.Set(name, Value());
      }
    }
  }
  return out;
}

absl::string_view CoreFieldName(absl::string_view name) {
  static constexpr std::pair<absl::string_view, absl::string_view> kNames[] = {
      {"regarding.kind", "involvedObject.kind"},
      {"regarding.namespace", "involvedObject.namespace"},
      {"regarding.name", "involvedObject.name"},
      {"regarding.uid", "involvedObject.uid"},
      {"regarding.apiVersion", "involvedObject.apiVersion"},
      {"regarding.resourceVersion", "involvedObject.resourceVersion"},
      {"regarding.fieldPath", "involvedObject.fieldPath"},
      {"reportingController", "reportingComponent"},
  };
  for (const auto& [v1, core] : kNames) {
    if (v1 == name) return core;
  }
  return name;
}

}  // namespace hekla::apiserver::views
