#pragma once

#include "pkg/apis/json/value.h"

// Core events and events.k8s.io/v1 events are one store in two views.
// Source: spec kube-machinery 3.18.
namespace hekla::apiserver::views {

// A stored core event as events.k8s.io/v1 shows it.
apis::json::Value EventToV1(const apis::json::Value& core);
// An events.k8s.io/v1 event as it is stored.
apis::json::Value EventFromV1(const apis::json::Value& event);
// The core name of a field that selectors of events.k8s.io/v1 use: regarding.name ->
// involvedObject.name. Others are returned as they are.
absl::string_view CoreFieldName(absl::string_view name);

}  // namespace hekla::apiserver::views
