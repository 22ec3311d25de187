#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/string_map.h"
#include "pkg/apis/ray/raycluster.h"

// Start parameters of a Ray node and the `ray start` line made from them.
// Source: spec ray-cluster 6.7.
namespace hekla::ray::builders {

// Parameters that follow from the `resources` and `labels` fields of a group. They replace given
// ones. Amounts that do not parse are skipped.
void ApplyResourcesAndLabels(const apis::meta::StringMap& resources,
                             const apis::meta::StringMap& labels, apis::meta::StringMap& params);

// Defaults for missing keys; `block` is always true. `address` is for workers (`<fqdn>:<port>`).
void ApplyHeadDefaults(apis::meta::StringMap& params);
void ApplyWorkerDefaults(absl::string_view address, apis::meta::StringMap& params);

// Fills `num-cpus`, `memory`, `num-gpus` and accelerators from the resources of the Ray container.
void AutofillFromContainer(const apis::json::Value& container, apis::meta::StringMap& params);

// `ray start --head ` or `ray start ` with all parameters, sorted; ends in a blank.
std::string RayStartCommand(bool head, const apis::meta::StringMap& params);

// Resource names that count as GPUs: ending in `gpu`, or NVIDIA MIG slices.
bool IsGpuResource(absl::string_view name);

// The head's GCS port: start parameter `port`, else 6379. As text, since it is only passed on.
std::string HeadPort(const apis::meta::StringMap& head_params);
// A numeric port parameter, else the fallback.
int32_t PortParam(const apis::meta::StringMap& params, absl::string_view key, int32_t fallback);

}  // namespace hekla::ray::builders
