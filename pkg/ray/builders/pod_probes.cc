// Liveness and readiness of the Ray container. Source: spec ray-cluster 6.14.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "pkg/ray/builders/json_edit.h"
#include "pkg/ray/builders/pod_draft.h"
#include "pkg/ray/builders/start_params.h"

namespace hekla::ray::builders {

using apis::json::Value;

namespace {

// From this version on the agent answers for all parts of a node.
constexpr apis::ray::RayVersion kUnifiedHealthVersion{2, 53, 0};

std::string Check(int timeout_seconds, int port, absl::string_view path) {
  return absl::StrFormat("wget --tries 1 -T %d -q -O- http://localhost:%d/%s | grep success",
                         timeout_seconds, port, path);
}

int ServePort(const Value& ray) {
  const Value* port = FindNamed(ray.At("ports"), apis::ray::kServePortName);
  return port == nullptr ? apis::ray::kServePort
                         : static_cast<int>(port->GetInt("containerPort", apis::ray::kServePort));
}

Value Exec(absl::string_view command) {
  return Value::MakeObject(
      {{"exec", Value::MakeObject({{"command", Strings({"bash", "-c", command})}})}});
}

struct Timing {
  int initial_delay;
  int failure_threshold;
};

Value WithTiming(Value probe, const PodDraft& draft, const Timing& timing) {
  probe.Set("initialDelaySeconds", timing.initial_delay);
  probe.Set("timeoutSeconds", draft.head() ? 5 : 2);
  probe.Set("periodSeconds", 5);
  probe.Set("successThreshold", 1);
  probe.Set("failureThreshold", timing.failure_threshold);
  return probe;
}

Value NodeProbe(const PodDraft& draft, int agent_port) {
  const auto version = apis::ray::ParseRayVersion(draft.cluster.spec.ray_version);
  if (version && *version >= kUnifiedHealthVersion) {
    return Value::MakeObject(
        {{"httpGet", Value::MakeObject({{"path", "/api/healthz"}, {"port", agent_port}})}});
  }
  std::string command = Check(2, agent_port, "api/local_raylet_healthz");
  if (draft.head()) {
    const int dashboard = PortParam(draft.params, "dashboard-port", apis::ray::kDashboardPort);
    absl::StrAppend(&command, " && ", Check(10, dashboard, "api/gcs_healthz"));
  }
  return Exec(command);
}

}  // namespace

void AddProbes(PodDraft& draft) {
  constexpr Timing kLiveness{30, 120};
  constexpr Timing kReadiness{10, 10};
  constexpr Timing kServeReadiness{10, 1};
  const int agent_port =
      PortParam(draft.params, "dashboard-agent-listen-port", apis::ray::kDashboardAgentPort);
  Value& ray = draft.ray();
  if (ray.At("livenessProbe").is_null()) {
    ray.Set("livenessProbe", WithTiming(NodeProbe(draft, agent_port), draft, kLiveness));
  }
  if (!ray.At("readinessProbe").is_null()) return;
  const bool serves =
      !draft.head() && apis::ray::CreatorKind(draft.cluster) == apis::ray::kRayServiceKind;
  if (serves) {
    const std::string command = absl::StrCat(Check(2, agent_port, "api/local_raylet_healthz"),
                                             " && ", Check(10, ServePort(ray), "-/healthz"));
    ray.Set("readinessProbe", WithTiming(Exec(command), draft, kServeReadiness));
  } else {
    ray.Set("readinessProbe", WithTiming(NodeProbe(draft, agent_port), draft, kReadiness));
  }
}

}  // namespace hekla::ray::builders
