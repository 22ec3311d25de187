#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apiserver/core.h"

// What a real server's built-in admission plug-ins do to objects before they are validated.
// Source: spec kube-machinery 3.17.
namespace hekla::apiserver {

absl::Status AdmitCreate(Core& core, const Resource& resource, absl::string_view ns,
                         apis::json::Value& object);
absl::Status AdmitUpdate(Core& core, const Resource& resource, const apis::json::Value& old,
                         apis::json::Value& object);
// A pod that is taken as written gets the priority of its class where it has none.
void FillImportedPod(Core& core, apis::json::Value& pod);

}  // namespace hekla::apiserver
