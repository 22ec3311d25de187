#include "pkg/ray/controllers/raycluster/status.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/lookup.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/ray/builders/resources.h"
#include "pkg/ray/builders/services.h"

namespace hekla::ray::controllers::raycluster {
namespace {

using apis::json::Value;
using apis::meta::Condition;
using apis::ray::RayClusterStatus;
using controller::ObjectPtr;

constexpr absl::string_view kTrue = "True";
constexpr absl::string_view kFalse = "False";

absl::string_view PhaseOf(const Value& pod) { return pod.At("status").GetString("phase"); }

// Null where there is none.
const Value& ReadyOf(const Value& pod) { return apis::meta::ConditionOf(pod, "Ready"); }

// Quirk: a running pod without a Ready condition passes.
bool AllRunning(const std::vector<ObjectPtr>& pods) {
  return !pods.empty() && std::all_of(pods.begin(), pods.end(), [](const ObjectPtr& pod) {
    const Value& ready = ReadyOf(*pod);
    return PhaseOf(*pod) == "Running" && (ready.is_null() || ready.GetString("status") == kTrue);
  });
}

Condition Make(absl::string_view type, bool on, absl::string_view reason, absl::string_view message,
               absl::Time now) {
  return Condition{std::string(type), std::string(on ? kTrue : kFalse), std::string(reason),
                   std::string(message), now};
}

// The first container that waits or has ended says more than `ContainersNotReady`.
void ExplainNotReady(const Value& pod, Condition& condition) {
  const Value& statuses = pod.At("status").At("containerStatuses");
  if (!statuses.is_array()) return;
  for (const Value& status : statuses.as_array()) {
    for (const char* state : {"waiting", "terminated"}) {
      const Value& detail = status.At("state").At(state);
      if (!detail.is_object()) continue;
      // An empty reason would make the server refuse the whole status.
      if (!detail.GetString("reason").empty()) {
        condition.reason = std::string(detail.GetString("reason"));
      }
      absl::StrAppend(&condition.message, condition.message.empty() ? "" : "; ",
                      status.GetString("name"), ": ", detail.GetString("message"));
      return;
    }
  }
}

Condition HeadReady(const Value* head, absl::Time now) {
  if (head == nullptr) {
    return Make(apis::ray::kHeadPodReady, false, apis::ray::kHeadPodNotFound, "Head Pod not found",
                now);
  }
  const Value& ready = ReadyOf(*head);
  if (ready.is_null()) {
    return Make(apis::ray::kHeadPodReady, false, apis::ray::kUnknownReason, "", now);
  }
  Condition condition;
  condition.type = std::string(apis::ray::kHeadPodReady);
  condition.status = std::string(ready.GetString("status"));
  condition.reason = std::string(ready.GetString("reason"));
  condition.message = std::string(ready.GetString("message"));
  condition.last_transition_time = now;
  if (condition.reason.empty()) {
    condition.reason = std::string(condition.status == kTrue ? apis::ray::kHeadPodRunningAndReady
                                                             : apis::ray::kUnknownReason);
  } else if (condition.reason == "ContainersNotReady") {
    ExplainNotReady(*head, condition);
  }
  return condition;
}

// The stored stage of a suspension: the first of the two conditions that is True.
absl::string_view StageOf(const std::vector<Condition>& conditions) {
  for (const Condition& c : conditions) {
    if (c.status == kTrue && c.type == apis::ray::kSuspending) return apis::ray::kSuspending;
    if (c.status == kTrue && c.type == apis::ray::kSuspended) return apis::ray::kSuspended;
  }
  return "";
}

void SetSuspended(RayClusterStatus& status, bool on, absl::Time now) {
  apis::ray::SetCondition(status.conditions,
                          Make(apis::ray::kSuspended, on, apis::ray::kSuspended, "", now));
}
void SetSuspending(RayClusterStatus& status, bool on, absl::Time now) {
  apis::ray::SetCondition(status.conditions,
                          Make(apis::ray::kSuspending, on, apis::ray::kSuspending, "", now));
}

void UpdateSuspension(const Observed& observed, absl::string_view stage, RayClusterStatus& status,
                      absl::Time now) {
  const std::optional<bool>& suspend = observed.cluster.spec.suspend;
  if (stage.empty()) {
    SetSuspended(status, false, now);
    SetSuspending(status, suspend.value_or(false), now);
  } else if (stage == apis::ray::kSuspending) {
    // A suspension that has begun is completed, whatever the spec says by now.
    if (!observed.pods.empty()) return;
    apis::ray::SetCondition(status.conditions,
                            Make(apis::ray::kProvisioned, false, apis::ray::kPodsProvisioning,
                                 "RayCluster has been suspended", now));
    SetSuspending(status, false, now);
    SetSuspended(status, true, now);
  } else if (suspend.has_value() && !*suspend) {
    SetSuspended(status, false, now);
  }
}

void UpdateConditions(const Observed& observed, const Value* head, RayClusterStatus& status,
                      absl::Time now) {
  const absl::string_view stage = StageOf(observed.cluster.status.conditions);
  apis::ray::SetCondition(status.conditions, HeadReady(head, now));
  if (!apis::ray::IsConditionTrue(status, apis::ray::kProvisioned) &&
      stage != apis::ray::kSuspended) {
    apis::ray::SetCondition(
        status.conditions,
        AllRunning(observed.pods)
            ? Make(apis::ray::kProvisioned, true, apis::ray::kAllPodsRunningFirstTime,
                   "All Ray Pods are ready for the first time", now)
            : Make(apis::ray::kProvisioned, false, apis::ray::kPodsProvisioning,
                   "RayCluster Pods are being provisioned for first time", now));
  }
  UpdateSuspension(observed, stage, status, now);
}

void UpdateReplicaFailure(const std::optional<StepError>& error, RayClusterStatus& status,
                          absl::Time now) {
  if (!error.has_value()) {
    apis::ray::RemoveCondition(status.conditions, apis::ray::kReplicaFailure);
  } else if (!error->marker.empty()) {
    apis::ray::SetCondition(
        status.conditions,
        Make(apis::ray::kReplicaFailure, true, error->marker,
             absl::StrCat(error->marker, "\n", absl::string_view(error->status.message())), now));
  }
}

void CountWorkers(const Observed& observed, RayClusterStatus& status) {
  status.ready_worker_replicas = 0;
  status.available_worker_replicas = 0;
  for (const ObjectPtr& pod : observed.pods) {
    if (controller::LabelOf(*pod, apis::ray::kNodeTypeLabel) != apis::ray::kWorkerNode) continue;
    if (PhaseOf(*pod) != "Running") continue;
    ++status.available_worker_replicas;
    if (ReadyOf(*pod).GetString("status") == kTrue) ++status.ready_worker_replicas;
  }
}

absl::Status UpdateHead(const Observed& observed, const Value* head, RayClusterStatus& status) {
  const std::string cluster = absl::StrCat(observed.cluster.ns(), "/", observed.cluster.name());
  if (observed.head_services.size() != 1) {
    return absl::FailedPreconditionError(absl::StrCat("RayCluster ", cluster, " has ",
                                                      observed.head_services.size(),
                                                      " head services, expected 1"));
  }
  const Value& service = *observed.head_services.front();
  builders::MergeEndpoints(service, status.endpoints);
  apis::ray::HeadInfo info;
  if (head != nullptr) {
    info.pod_ip = std::string(head->At("status").GetString("podIP"));
    info.pod_name = std::string(controller::NameOf(*head));
  }
  info.service_name = std::string(controller::NameOf(service));
  const absl::string_view address = service.At("spec").GetString("clusterIP");
  if (address.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("head service of RayCluster ", cluster, " has no cluster IP"));
  }
  info.service_ip = address == "None" ? info.pod_ip : std::string(address);
  status.head = std::move(info);
  return absl::OkStatus();
}

void NoteTransition(const std::string& before, RayClusterStatus& status, absl::Time now) {
  if (status.state == before) return;
  auto& times = status.state_transition_times;
  const auto it = std::find_if(times.begin(), times.end(),
                               [&status](const auto& t) { return t.first == status.state; });
  if (it != times.end()) {
    it->second = now;
    return;
  }
  times.emplace_back(status.state, now);
  std::sort(times.begin(), times.end());
}

}  // namespace

absl::StatusOr<RayClusterStatus> ComputeStatus(const Observed& observed,
                                               const std::optional<StepError>& step_error,
                                               bool with_conditions, absl::Time now) {
  const apis::ray::RayCluster& cluster = observed.cluster;
  RayClusterStatus status = cluster.status;
  if (with_conditions) UpdateReplicaFailure(step_error, status, now);
  status.observed_generation = cluster.metadata.generation;
  builders::FillDesired(cluster, status);
  CountWorkers(observed, status);
  if (!step_error.has_value() &&
      static_cast<int64_t>(observed.pods.size()) ==
          static_cast<int64_t>(status.desired_worker_replicas) + 1 &&
      AllRunning(observed.pods)) {
    status.state = std::string(apis::ray::kStateReady);
    status.reason.clear();
  }
  const std::vector<ObjectPtr> heads = observed.Heads();
  if (heads.size() > 1) {
    return absl::FailedPreconditionError(absl::StrCat("RayCluster ", cluster.ns(), "/",
                                                      cluster.name(), " has ", heads.size(),
                                                      " head pods, expected 1"));
  }
  const Value* head = heads.empty() ? nullptr : heads.front().get();
  if (with_conditions) UpdateConditions(observed, head, status, now);
  if (cluster.spec.suspend.value_or(false) && observed.pods.empty()) {
    status.state = std::string(apis::ray::kStateSuspended);
  }
  if (const absl::Status filled = UpdateHead(observed, head, status); !filled.ok()) return filled;
  status.last_update_time = now;
  NoteTransition(cluster.status.state, status, now);
  return status;
}

bool OnlyProgress(const RayClusterStatus& before, const RayClusterStatus& now) {
  if (before.state != now.state) return false;
  // The first status: that the head is ready before its workers are is no more than progress.
  if (before.conditions.empty()) {
    return std::none_of(now.conditions.begin(), now.conditions.end(), [](const Condition& c) {
      return c.status == kTrue && c.type != apis::ray::kHeadPodReady;
    });
  }
  return before.conditions.size() == now.conditions.size() &&
         std::equal(before.conditions.begin(), before.conditions.end(), now.conditions.begin(),
                    [](const Condition& a, const Condition& b) {
                      return a.type == b.type && a.status == b.status &&
                             a.type != apis::ray::kReplicaFailure;
                    });
}

}  // namespace hekla::ray::controllers::raycluster
