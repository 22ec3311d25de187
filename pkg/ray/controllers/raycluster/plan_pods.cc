#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/apis/meta/lookup.h"
#include "pkg/apis/meta/time.h"
#include "pkg/apis/ray/event_reasons.h"
#include "pkg/apis/ray/go_form.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/ray/batchscheduler/kubernetes_was/kubernetes_was.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/owner.h"
#include "pkg/ray/builders/pod.h"
#include "pkg/ray/controllers/common/kinds.h"
#include "pkg/ray/controllers/raycluster/plan.h"

// Step 10: suspension, Recreate upgrades, batch scheduler, the head pod.
namespace hekla::ray::controllers::raycluster {
namespace {

using apis::json::Value;
using apis::ray::RayCluster;
using controller::ObjectPtr;

// "2026-01-02 03:04:05 +0000 UTC", as Go prints a time; its zero value where there is none.
std::string GoTime(const Value& text) {
  const absl::StatusOr<absl::Time> time =
      apis::meta::ParseTime(text.is_string() ? text.as_string() : "");
  if (!time.ok() || !apis::meta::IsSet(*time)) return "0001-01-01 00:00:00 +0000 UTC";
  return absl::FormatTime("%E4Y-%m-%d %H:%M:%S +0000 UTC", *time, absl::UTCTimeZone());
}

// `state.terminated` as Go prints it.
std::string TerminatedText(const Value& terminated) {
  if (!terminated.is_object()) return "nil";
  return absl::StrCat("&ContainerStateTerminated{ExitCode:", terminated.GetInt("exitCode"),
                      ",Signal:", terminated.GetInt("signal"),
                      ",Reason:", terminated.GetString("reason"),
                      ",Message:", terminated.GetString("message"),
                      ",StartedAt:", GoTime(terminated.At("startedAt")),
                      ",FinishedAt:", GoTime(terminated.At("finishedAt")),
                      ",ContainerID:", terminated.GetString("containerID"), ",}");
}

// The state `terminated` of the pod's first container; null where it is in another state.
const Value& RayTerminated(const Value& pod) {
  static const Value none;
  const Value& containers = pod.At("spec").At("containers");
  const Value& statuses = pod.At("status").At("containerStatuses");
  if (containers.size() == 0) return none;
  const Value* status =
      apis::meta::FindNamed(statuses, containers.as_array().front().GetString("name"));
  return status == nullptr ? none : status->At("state").At("terminated");
}

// All pods go, and go again, until none is left. `pods` and `why`: parts of the events.
void PlanDeleteAll(const Observed& observed, absl::string_view pods, absl::string_view why,
                   Plan& plan) {
  const RayCluster& cluster = observed.cluster;
  const std::string of = absl::StrCat(" for RayCluster ", cluster.ns(), "/", cluster.name());
  Write write = DeletePods(observed.pods, builders::AllPodsSelector(cluster.name()));
  write.marker = apis::ray::kFailedDeleteAllPods;
  write.done = {apis::ray::kEventNormal, apis::ray::kDeletedPod, apis::ray::kActionDelete,
                absl::StrCat("Deleted ", pods, of, why)};
  write.failed = {apis::ray::kEventWarning, apis::ray::kFailedToDeletePodCollection,
                  apis::ray::kActionDelete, absl::StrCat("Failed deleting Pods", why, of, ", ")};
  plan.writes.push_back(std::move(write));
}

// A pod that was made while the cache lagged shows only after the suspension was thought complete.
void PlanLatecomers(const Observed& observed, Plan& plan) {
  std::vector<ObjectPtr> late;
  for (const ObjectPtr& pod : observed.pods) {
    if (builders::ControlledBy(observed.cluster, *pod)) late.push_back(pod);
  }
  Write write = DeletePods(late, builders::AllPodsSelector(observed.cluster.name()));
  if (write.verb == Write::Verb::kDeleteCollection) plan.writes.push_back(std::move(write));
}

// Returns whether the pods are none of this pass's business any more.
bool PlanSuspension(const Observed& observed, const PlanInput& input, Plan& plan) {
  const RayCluster& cluster = observed.cluster;
  const bool wanted = cluster.spec.suspend.value_or(false);
  const bool conditions = input.options->status_conditions;
  // The first of the two that is True.
  absl::string_view stage;
  for (const apis::meta::Condition& c : cluster.status.conditions) {
    if (!conditions || c.status != "True") continue;
    if (c.type != apis::ray::kSuspending && c.type != apis::ray::kSuspended) continue;
    stage = c.type;
    break;
  }
  if (stage == apis::ray::kSuspending || (!conditions && wanted)) {
    PlanDeleteAll(observed, "Pods", " due to suspension", plan);
    return true;
  }
  if (stage == apis::ray::kSuspended) PlanLatecomers(observed, plan);
  // The condition is written first, and then acted upon.
  return conditions && (stage == apis::ray::kSuspended || wanted);
}

// Returns whether all pods are being replaced.
bool PlanRecreate(const Observed& observed, const PlanInput& input, const std::string& hash,
                  const std::vector<ObjectPtr>& heads, Plan& plan) {
  const RayCluster& cluster = observed.cluster;
  if (cluster.spec.upgrade_strategy_type.value_or("") != "Recreate" || heads.empty()) return false;
  const Value& head = *heads.front();
  const absl::string_view version =
      controller::AnnotationOf(head, apis::ray::kOperatorVersionAnnotation);
  if (!version.empty() && version != input.options->build.operator_version) {
    // Made by another operator, whose hashes may differ: adopted as it is.
    Value patch = Value::MakeObject();
    builders::SetUpgradeAnnotations(hash, input.options->build, patch);
    Write write;
    write.verb = Write::Verb::kMergePatch;
    write.resource = &Pods();
    write.name = std::string(controller::NameOf(head));
    write.object = std::move(patch);
    write.failing_is_fine = true;
    plan.writes.push_back(std::move(write));
    return false;
  }
  const absl::string_view old_hash =
      controller::AnnotationOf(head, apis::ray::kRecreateHashAnnotation);
  if (old_hash.empty() || old_hash == hash) return false;
  PlanDeleteAll(observed, "all Pods", " due to spec change with Recreate upgradeStrategy", plan);
  Write forget;
  forget.verb = Write::Verb::kForgetExpectations;
  plan.writes.push_back(std::move(forget));
  return true;
}

bool PlanPodGroup(const Observed& observed, const PlanInput& input, Plan& plan) {
  if (input.batch == nullptr) return true;
  if (input.batch->name() == batchscheduler::KubernetesWasScheduler::kName) {
    return PlanWorkload(observed, plan);
  }
  if (!observed.wanted_pod_group.ok()) {
    plan.writes.push_back(Fail(std::string(observed.wanted_pod_group.status().message())));
    return false;
  }
  const kube::Resource* kind = PodGroupsOf(input.batch->name());
  if (kind == nullptr || !observed.wanted_pod_group->has_value()) return true;
  Write write;
  write.resource = kind;
  if (observed.pod_group == nullptr) {
    write.verb = Write::Verb::kCreate;
    write.object = **observed.wanted_pod_group;
    write.exists_is_fine = true;
    plan.writes.push_back(std::move(write));
    return true;
  }
  std::optional<Value> updated =
      input.batch->UpdatedPodGroup(*observed.pod_group, **observed.wanted_pod_group);
  if (!updated.has_value()) return true;
  write.verb = Write::Verb::kUpdate;
  write.object = *std::move(updated);
  plan.writes.push_back(std::move(write));
  return true;
}

Write DeleteHead(const Observed& observed, const Value& head, const Unhealthy& why) {
  const std::string name(controller::NameOf(head));
  Write write = DeletePodNamed(
      name, "",
      absl::StrCat("Deleted head Pod ", observed.cluster.ns(), "/", name, why.event_tail));
  write.marker = apis::ray::kFailedDeleteHeadPod;
  write.done.reason = apis::ray::kDeletedHeadPod;
  write.failed = {apis::ray::kEventWarning, apis::ray::kFailedToDeleteHeadPod,
                  apis::ray::kActionDelete,
                  absl::StrCat("Failed deleting head Pod ", observed.cluster.ns(), "/", name,
                               why.event_tail, ", ")};
  return write;
}

void PlanNewHead(const Observed& observed, const PlanInput& input, const std::string& hash,
                 Plan& plan) {
  const RayCluster& cluster = observed.cluster;
  Value pod = builders::BuildHeadPod(cluster, input.options->build, hash);
  if (input.batch != nullptr) input.batch->DecoratePod(cluster, apis::ray::kHeadGroup, pod);
  Write write = CreatePod(std::move(pod), "");
  write.marker = apis::ray::kFailedCreateHeadPod;
  write.done = {apis::ray::kEventNormal, apis::ray::kCreatedHeadPod, apis::ray::kActionCreate,
                "Created head Pod "};
  write.failed = {apis::ray::kEventWarning, apis::ray::kFailedToCreateHeadPod,
                  apis::ray::kActionCreate,
                  absl::StrCat("Failed to create head Pod ", cluster.ns(), "/",
                               controller::NameOf(write.object), ", ")};
  plan.writes.push_back(std::move(write));
}

// False: the step ends here.
bool PlanHead(const Observed& observed, const PlanInput& input, const std::string& hash,
              const std::vector<ObjectPtr>& heads, Plan& plan) {
  const RayCluster& cluster = observed.cluster;
  if (input.waiting.contains("")) return true;
  if (heads.size() > 1) {
    plan.writes.push_back(
        Fail(absl::StrCat("RayCluster ", cluster.ns(), "/", cluster.name(), " has ", heads.size(),
                          " head pods, expected 1: ",
                          absl::StrJoin(heads, ", ", [](std::string* out, const ObjectPtr& head) {
                            absl::StrAppend(out, controller::NameOf(*head));
                          }))));
    return false;
  }
  if (heads.size() == 1) {
    const std::optional<Unhealthy> why = JudgePod(*heads.front());
    if (!why.has_value()) return true;
    plan.writes.push_back(DeleteHead(observed, *heads.front(), *why));
    plan.writes.push_back(Fail(why->reason));
    return false;
  }
  if (apis::ray::IsConditionTrue(cluster.status, apis::ray::kProvisioned) &&
      cluster.metadata.annotations.Get(apis::ray::kDisableHeadRestartAnnotation) == "true") {
    return false;
  }
  if (CertificatesMissing(observed)) {
    plan.writes.push_back(Fail("mTLS certificates are not ready"));
    return false;
  }
  PlanNewHead(observed, input, hash, plan);
  return true;
}

}  // namespace

std::string StateTail(const Value& pod) {
  return absl::StrCat("; Pod status: ", pod.At("status").GetString("phase"),
                      "; Pod restart policy: ", pod.At("spec").GetString("restartPolicy"),
                      "; Ray container terminated status: ", TerminatedText(RayTerminated(pod)));
}

std::optional<Unhealthy> JudgePod(const Value& pod) {
  const absl::string_view phase = pod.At("status").GetString("phase");
  const absl::string_view restart = pod.At("spec").GetString("restartPolicy");
  const absl::string_view type = controller::LabelOf(pod, apis::ray::kNodeTypeLabel);
  const absl::string_view name = controller::NameOf(pod);
  const Value& terminated = RayTerminated(pod);
  Unhealthy out;
  if (phase == "Failed" || phase == "Succeeded") {
    out.reason = absl::StrCat("The ", type, " Pod ", name, " status is ", phase,
                              " which is a terminal state. KubeRay will delete the Pod and create "
                              "new Pods in the next reconciliation if necessary.");
  } else if (phase == "Running" && restart == "Never" && terminated.is_object()) {
    out.reason =
        absl::StrCat("The Pod status of the ", type, " Pod ", name, " is ", phase,
                     ", and the Ray container terminated status is ", TerminatedText(terminated),
                     ". The container is unable to restart due to its restart policy ", restart,
                     ", so KubeRay will delete it.");
  } else {
    return std::nullopt;
  }
  out.event_tail = StateTail(pod);
  return out;
}

Write CreatePod(Value pod, const std::string& group) {
  Write write;
  write.verb = Write::Verb::kCreate;
  write.resource = &Pods();
  write.object = std::move(pod);
  write.names_object = true;
  write.expects = Write::Expectation{group, expectations::Action::kCreate};
  return write;
}

Write DeletePodNamed(const std::string& name, const std::string& group, std::string note) {
  Write write;
  write.verb = Write::Verb::kDelete;
  write.resource = &Pods();
  write.name = name;
  write.done = {apis::ray::kEventNormal, apis::ray::kDeletedWorkerPod, apis::ray::kActionDelete,
                std::move(note)};
  write.marker = apis::ray::kFailedDeleteWorkerPod;
  write.expects = Write::Expectation{group, expectations::Action::kDelete};
  return write;
}

bool MayDeleteSurplus(const Observed& observed, const PlanInput& input) {
  return !observed.cluster.spec.enable_in_tree_autoscaling || input.options->random_pod_delete;
}

bool CertificatesMissing(const Observed& observed) {
  return apis::ray::TlsEnabled(observed.cluster) && !observed.certificates_ready;
}

void PlanPods(const Observed& observed, const PlanInput& input, Plan& plan) {
  if (PlanSuspension(observed, input, plan)) return;
  const std::vector<ObjectPtr> heads = observed.Heads();
  // Needed for a new head and for the Recreate strategy only.
  std::string hash;
  if (heads.empty() || observed.cluster.spec.upgrade_strategy_type.value_or("") == "Recreate") {
    hash = apis::ray::UpgradeHash(observed.object->At("spec"));
  }
  if (PlanRecreate(observed, input, hash, heads, plan)) return;
  if (!PlanPodGroup(observed, input, plan)) return;
  if (PlanHead(observed, input, hash, heads, plan)) PlanWorkers(observed, input, plan);
}

}  // namespace hekla::ray::controllers::raycluster
