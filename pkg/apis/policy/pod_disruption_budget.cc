#include "pkg/apis/policy/pod_disruption_budget.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace hekla::apis::policy {
namespace {

using meta::Reader;

void ReadIntOrPercent(const Reader& spec, absl::string_view key, std::string& out) {
  const json::Value* v = spec.value().Find(key);
  if (v == nullptr || v->is_null()) return;
  if (v->is_int()) {
    out = absl::StrCat(v->as_int());
  } else if (v->is_string()) {
    out = v->as_string();
  } else {
    spec.Fail(key, "expected a number or a percentage");
  }
}

}  // namespace

absl::StatusOr<PodDisruptionBudget> DecodePodDisruptionBudget(const json::Value& value) {
  PodDisruptionBudget out;
  const Reader root(value);
  meta::ReadObjectMeta(root, out.metadata);
  root.Object("spec", [&](Reader& spec) {
    meta::ReadLabelSelector(spec, "selector", out.selector);
    ReadIntOrPercent(spec, "minAvailable", out.min_available);
    ReadIntOrPercent(spec, "maxUnavailable", out.max_unavailable);
  });
  root.Object("status", [&](Reader& status) {
    status.Int("disruptionsAllowed", out.disruptions_allowed);
    status.Int("currentHealthy", out.current_healthy);
    status.Int("desiredHealthy", out.desired_healthy);
    status.Int("expectedPods", out.expected_pods);
    status.Object("disruptedPods", [&](Reader& pods) {
      for (const json::Member& m : pods.value().as_object()) out.disrupted_pods.push_back(m.key);
    });
  });
  if (!root.status().ok()) return root.status();
  std::sort(out.disrupted_pods.begin(), out.disrupted_pods.end());
  return out;
}

}  // namespace hekla::apis::policy
