#pragma once

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/quantity.h"
#include "pkg/apis/ray/raycluster.h"

// What the batch schedulers have in common.
namespace hekla::ray::batchscheduler {

void SetPodLabel(absl::string_view key, absl::string_view value, apis::json::Value& pod);
void SetPodAnnotation(absl::string_view key, absl::string_view value, apis::json::Value& pod);
void SetSchedulerName(absl::string_view name, apis::json::Value& pod);
// Copies a label of the cluster to the pod, under another key where given; not when empty.
void CopyLabel(const apis::ray::RayCluster& cluster, absl::string_view key, absl::string_view to,
               apis::json::Value& pod);

}  // namespace hekla::ray::batchscheduler
