#include "pkg/apiserver/kubelet/pod_state.h"

#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pkg/apiserver/kubelet/node_objects.h"

namespace hekla::apiserver::kubelet {
namespace {

using apis::json::Value;

constexpr int64_t kDefaultGrace = 30;

void Containers(const Value& list, std::vector<PodPlan::Container>& out) {
  if (!list.is_array()) return;
  for (const Value& container : list.as_array()) {
    out.push_back(
        {std::string(container.GetString("name")), std::string(container.GetString("image"))});
  }
}

bool OwnedByJob(const Value& pod) {
  const Value& owners = pod.At("metadata").At("ownerReferences");
  if (!owners.is_array()) return false;
  for (const Value& owner : owners.as_array()) {
    if (owner.GetString("kind") == "Job") return true;
  }
  return false;
}

Value Condition(absl::string_view type, bool holds, absl::string_view reason, absl::Time now) {
  Value out = Value::MakeObject({{"type", type},
                                 {"status", holds ? "True" : "False"},
                                 {"lastProbeTime", Value()},
                                 {"lastTransitionTime", TimeText(now)}});
  if (!reason.empty()) out.Set("reason", reason);
  return out;
}

Value ContainerStatus(const PodPlan::Container& container, bool ready, Value state) {
  return Value::MakeObject({{"name", container.name},
                            {"state", std::move(state)},
                            {"lastState", Value::MakeObject()},
                            {"ready", ready},
                            {"restartCount", 0},
                            {"image", container.image},
                            {"imageID", ""},
                            {"started", ready}});
}

Value Terminated(int exit_code, absl::Time started, absl::Time now) {
  return Value::MakeObject(
      {{"terminated", Value::MakeObject({{"exitCode", exit_code},
                                         {"reason", exit_code == 0 ? "Completed" : "Error"},
                                         {"startedAt", TimeText(started)},
                                         {"finishedAt", TimeText(now)}})}});
}

}  // namespace

PodFacts PodFacts::Of(const Value& pod) {
  PodFacts out;
  const Value& metadata = pod.At("metadata");
  const Value& spec = pod.At("spec");
  const Value& status = pod.At("status");
  out.ns = std::string(metadata.GetString("namespace"));
  out.name = std::string(metadata.GetString("name"));
  out.uid = std::string(metadata.GetString("uid"));
  out.node = std::string(spec.GetString("nodeName"));
  const absl::string_view phase = status.GetString("phase");
  if (phase == "Running") out.stage = Stage::kRunning;
  if (phase == "Succeeded" || phase == "Failed") out.stage = Stage::kEnded;
  out.deleted = !metadata.At("deletionTimestamp").is_null();
  out.grace_seconds = metadata.GetInt("deletionGracePeriodSeconds",
                                      spec.GetInt("terminationGracePeriodSeconds", kDefaultGrace));
  const Value& annotations = metadata.At("annotations");
  double seconds = 0;
  if (absl::SimpleAtod(annotations.GetString(kRunSecondsAnnotation), &seconds) && seconds >= 0 &&
      std::isfinite(seconds)) {
    out.run_seconds = seconds;
  }
  if (!absl::SimpleAtoi(annotations.GetString(kExitCodeAnnotation), &out.exit_code)) {
    out.exit_code = 0;
  }
  const int64_t deadline = spec.GetInt("activeDeadlineSeconds", -1);
  if (deadline >= 0) out.deadline_seconds = static_cast<double>(deadline);
  out.job = OwnedByJob(pod);
  const std::string started(status.GetString("startTime"));
  if (started.empty() || !absl::ParseTime(absl::RFC3339_full, started, &out.started, nullptr)) {
    out.started = absl::InfinitePast();
  }
  return out;
}

bool PodFacts::SameAs(const PodFacts& other) const {
  return uid == other.uid && node == other.node && stage == other.stage &&
         deleted == other.deleted && job == other.job && grace_seconds == other.grace_seconds &&
         run_seconds == other.run_seconds && deadline_seconds == other.deadline_seconds &&
         exit_code == other.exit_code;
}

std::unique_ptr<PodPlan> PlanOf(const Value& pod) {
  auto plan = std::make_unique<PodPlan>();
  const Value& spec = pod.At("spec");
  Containers(spec.At("containers"), plan->containers);
  Containers(spec.At("initContainers"), plan->init_containers);
  const Value& gates = spec.At("readinessGates");
  if (gates.is_array()) {
    for (const Value& gate : gates.as_array()) {
      plan->readiness_gates.emplace_back(gate.GetString("conditionType"));
    }
  }
  plan->host_network = spec.GetBool("hostNetwork");
  plan->pod_ip = std::string(pod.At("status").GetString("podIP"));
  return plan;
}

Value StartPatch(const PodPlan& plan, absl::string_view host_ip, absl::Time now) {
  Value conditions = Value::MakeArray();
  for (const char* type : {"Initialized", "Ready", "ContainersReady"}) {
    conditions.Append(Condition(type, true, "", now));
  }
  for (const std::string& gate : plan.readiness_gates) {
    conditions.Append(Condition(gate, true, "", now));
  }
  Value containers = Value::MakeArray();
  for (const PodPlan::Container& container : plan.containers) {
    Value running = Value::MakeObject({{"startedAt", TimeText(now)}});
    containers.Append(
        ContainerStatus(container, true, Value::MakeObject({{"running", std::move(running)}})));
  }
  const std::string pod_ip(plan.host_network ? host_ip : absl::string_view(plan.pod_ip));
  Value status =
      Value::MakeObject({{"phase", "Running"},
                         {"startTime", TimeText(now)},
                         {"hostIP", host_ip},
                         {"hostIPs", Value::MakeArray({Value::MakeObject({{"ip", host_ip}})})},
                         {"podIP", pod_ip},
                         {"podIPs", Value::MakeArray({Value::MakeObject({{"ip", pod_ip}})})},
                         {"conditions", std::move(conditions)},
                         {"containerStatuses", std::move(containers)}});
  if (!plan.init_containers.empty()) {
    Value inits = Value::MakeArray();
    for (const PodPlan::Container& container : plan.init_containers) {
      Value done = ContainerStatus(container, true, Terminated(0, now, now));
      done.Set("started", false);
      inits.Append(std::move(done));
    }
    status.Set("initContainerStatuses", std::move(inits));
  }
  return Value::MakeObject({{"status", std::move(status)}});
}

Value EndPatch(const PodPlan& plan, End end, int exit_code, absl::Time started, absl::Time now) {
  const bool succeeded = end == End::kSucceeded;
  const char* reason = succeeded ? "PodCompleted" : "PodFailed";
  Value conditions = Value::MakeArray();
  if (succeeded) conditions.Append(Condition("Initialized", true, reason, now));
  conditions.Append(Condition("Ready", false, reason, now));
  conditions.Append(Condition("ContainersReady", false, reason, now));
  Value containers = Value::MakeArray();
  for (const PodPlan::Container& container : plan.containers) {
    containers.Append(ContainerStatus(container, false, Terminated(exit_code, started, now)));
  }
  Value status = Value::MakeObject({{"phase", succeeded ? "Succeeded" : "Failed"},
                                    {"conditions", std::move(conditions)},
                                    {"containerStatuses", std::move(containers)}});
  if (end == End::kDeadline) {
    status.Set("reason", "DeadlineExceeded");
    status.Set("message", "Pod was active on the node longer than the specified deadline");
  }
  return Value::MakeObject({{"status", std::move(status)}});
}

}  // namespace hekla::apiserver::kubelet
