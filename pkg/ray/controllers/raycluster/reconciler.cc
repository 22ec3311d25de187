#include "pkg/ray/controllers/raycluster/reconciler.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"
#include "pkg/apis/ray/event_reasons.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/kube/api_status.h"
#include "pkg/ray/batchscheduler/kubernetes_was/kubernetes_was.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/controllers/common/kinds.h"
#include "pkg/ray/controllers/raycluster/status.h"
#include "pkg/util/status_macros.h"

namespace hekla::ray::controllers::raycluster {
namespace {

using apis::json::Value;
using controller::ObjectPtr;
using controller::Result;

// After a status that was written or put off.
constexpr absl::Duration kSoon = absl::Seconds(2);
// So long is a status put off while the cache does not show the pods that were just made: it would
// be out of date when written, and their arrival leads to another pass. Not longer, so that a group
// that grows for minutes shows its progress.
constexpr absl::Duration kPatience = absl::Seconds(1);
// So long a pod counts as young: while young pods start, their progress is not written step by
// step. Creation times are whole seconds.
constexpr absl::Duration kYouth = absl::Seconds(2);
constexpr size_t kSuffixLength = 5;

// All groups of the spec, and "", the head's.
std::set<std::string> GroupsOf(const apis::ray::RayCluster& cluster) {
  std::set<std::string> groups = {""};
  for (const auto& group : cluster.spec.worker_groups) groups.insert(group.group_name);
  return groups;
}

// By the server's clock a pod may come from the future: that is no reason to wait for it.
bool YoungPodsStart(const Observed& observed, absl::Time now) {
  return std::any_of(observed.pods.begin(), observed.pods.end(), [now](const ObjectPtr& pod) {
    return pod->At("status").GetString("phase") != "Running" &&
           absl::AbsDuration(now - controller::CreationTimeOf(*pod)) < kYouth;
  });
}

bool CreatesPods(const Plan& plan) {
  return std::any_of(plan.writes.begin(), plan.writes.end(), [](const Write& write) {
    return write.verb == Write::Verb::kCreate && write.resource == &Pods();
  });
}

}  // namespace

Reconciler::Reconciler(Deps deps, ClusterOptions options)
    : deps_(std::move(deps)), options_(std::move(options)), random_(deps_.seed) {}

Reconciler::~Reconciler() = default;

absl::StatusOr<Result> Reconciler::Reconcile(const controller::Request& request) {
  HEKLA_ASSIGN_OR_RETURN(ObjectPtr object,
                         deps_.client->GetIfThere(RayClusters(), request.ns, request.name));
  if (object == nullptr) {
    expectations_.Forget(request.Key());
    if (deps_.metrics != nullptr) deps_.metrics->Forget(request.ns, request.name);
    return Result();
  }
  absl::StatusOr<apis::ray::RayCluster> cluster = apis::ray::DecodeRayCluster(*object);
  if (!cluster.ok()) return Refuse(object, cluster.status());
  if (!apis::ray::ManagedByUs(*cluster)) return Result();
  // Validation comes before all reads: an invalid cluster costs nothing.
  if (auto result = Validate(*object, *cluster); result.has_value()) return *std::move(result);

  HEKLA_ASSIGN_OR_RETURN(Observed observed, Observe(*deps_.client, options_, deps_.batch,
                                                    std::move(object), *std::move(cluster)));
  PlanInput input = MakeInput(observed);
  Plan plan = MakePlan(observed, input);
  if (CreatesPods(plan) && MustLookPastCache(observed)) {
    HEKLA_RETURN_IF_ERROR(LookPastCache(observed, input));
    plan = MakePlan(observed, input);
  }
  const ApplyDeps apply{deps_.client, deps_.events, deps_.clock, &expectations_};
  const Outcome outcome = ApplyPlan(apply, observed, plan);
  if (outcome.uncertain) {
    absl::MutexLock lock(&mutex_);
    uncertain_.insert(observed.cluster.metadata.uid);
  }
  if (plan.status) return Conclude(std::move(observed), outcome);
  if (outcome.error.has_value()) return outcome.error->status;
  return Result::After(plan.requeue);
}

absl::StatusOr<Result> Reconciler::Refuse(const ObjectPtr& object, const absl::Status& why) {
  deps_.events->Emit(
      *object,
      {apis::ray::kEventWarning, apis::ray::kInvalidSpec, apis::ray::kActionValidate,
       absl::StrCat("The RayCluster spec is invalid ", controller::NamespaceOf(*object), "/",
                    controller::NameOf(*object), ": ", absl::string_view(why.message()))});
  return Result();
}

std::optional<absl::StatusOr<Result>> Reconciler::Validate(const Value& object,
                                                           const apis::ray::RayCluster& cluster) {
  const apis::ray::ValidationResult result =
      apis::ray::ValidateRayCluster(cluster, options_.gates, options_.cert_manager_present);
  const auto emit = [&](const apis::ray::Finding& finding) {
    deps_.events->Emit(object, {apis::ray::kEventWarning, finding.reason,
                                apis::ray::kActionValidate, finding.note});
  };
  if (result.warning.has_value()) emit(*result.warning);
  if (!result.failure.has_value()) return std::nullopt;
  emit(*result.failure);
  if (result.retry) {
    return absl::StatusOr<Result>(absl::FailedPreconditionError(result.failure->note));
  }
  return absl::StatusOr<Result>(Result());
}

expectations::ScaleExpectations::InCache Reconciler::InCache(const std::string& ns) const {
  return [this, ns](const std::string& pod) { return deps_.client->Get(Pods(), ns, pod).ok(); };
}

PlanInput Reconciler::MakeInput(const Observed& observed) {
  PlanInput input;
  input.options = &options_;
  input.batch = deps_.batch;
  input.now = deps_.clock->Now();
  input.secret_bytes = deps_.secret_bytes;
  input.replica_suffix = [this] {
    static constexpr absl::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
    absl::MutexLock lock(&mutex_);
    std::string out;
    while (out.size() < kSuffixLength) out += kLetters[random_.Below(kLetters.size())];
    return out;
  };
  const std::string cluster = observed.cluster.metadata.Key();
  bool given_up = false;
  const auto in_cache = InCache(observed.cluster.ns());
  const absl::Duration uptime = deps_.clock->Uptime();
  for (const std::string& group : GroupsOf(observed.cluster)) {
    if (!expectations_.Satisfied(cluster, group, in_cache, uptime, &given_up)) {
      input.waiting.insert(group);
    }
  }
  if (given_up) {
    absl::MutexLock lock(&mutex_);
    uncertain_.insert(observed.cluster.metadata.uid);
  }
  return input;
}

bool Reconciler::MustLookPastCache(const Observed& observed) {
  absl::MutexLock lock(&mutex_);
  return uncertain_.contains(observed.cluster.metadata.uid) ||
         !taken_over_.contains(observed.cluster.ns());
}

absl::Status Reconciler::LookPastCache(const Observed& observed, PlanInput& input) {
  const apis::ray::RayCluster& cluster = observed.cluster;
  bool whole = false;
  {
    absl::MutexLock lock(&mutex_);
    whole = !taken_over_.contains(cluster.ns());
  }
  kube::ListOptions selection;
  selection.label_selector = whole ? std::string(apis::ray::kClusterLabel)
                                   : absl::StrJoin(builders::AllPodsSelector(cluster.name()), ",",
                                                   absl::PairFormatter("="));
  HEKLA_ASSIGN_OR_RETURN(const std::vector<Value> live,
                         deps_.client->ListLive(Pods(), cluster.ns(), selection));
  for (const Value& pod : live) {
    const absl::string_view name = controller::NameOf(pod);
    if (deps_.client->Get(Pods(), cluster.ns(), name).ok()) continue;
    const bool head = controller::LabelOf(pod, apis::ray::kNodeTypeLabel) == apis::ray::kHeadNode;
    const std::string group(head ? "" : controller::LabelOf(pod, apis::ray::kGroupLabel));
    const absl::string_view owner = controller::LabelOf(pod, apis::ray::kClusterLabel);
    expectations_.Expect(absl::StrCat(cluster.ns(), "/", owner), group, std::string(name),
                         expectations::Action::kCreate, deps_.clock->Uptime());
    if (owner == cluster.name()) input.waiting.insert(group);
  }
  absl::MutexLock lock(&mutex_);
  uncertain_.erase(cluster.metadata.uid);
  if (whole) taken_over_.insert(cluster.ns());
  return absl::OkStatus();
}

absl::StatusOr<bool> Reconciler::WriteStatus(const Observed& observed,
                                             const std::optional<StepError>& error) {
  const absl::Time now = deps_.clock->Now();
  HEKLA_ASSIGN_OR_RETURN(const apis::ray::RayClusterStatus status,
                         ComputeStatus(observed, error, options_.status_conditions, now));
  if (!apis::ray::StatusNeedsWrite(observed.cluster.status, status)) return false;
  if (!error.has_value() && OnlyProgress(observed.cluster.status, status) &&
      YoungPodsStart(observed, now)) {
    return true;
  }
  Value object = *observed.object;
  apis::ray::WriteRayClusterStatus(status, object);
  HEKLA_RETURN_IF_ERROR(deps_.client->UpdateStatus(RayClusters(), object).status());
  const bool was = apis::ray::IsConditionTrue(observed.cluster.status, apis::ray::kProvisioned);
  if (deps_.metrics != nullptr && !was &&
      apis::ray::IsConditionTrue(status, apis::ray::kProvisioned)) {
    deps_.metrics->Provisioned(*observed.object, now);
  }
  return true;
}

absl::StatusOr<Result> Reconciler::Conclude(Observed observed, const Outcome& outcome) {
  absl::Status read = ObserveAgain(*deps_.client, observed);
  const std::string cluster = observed.cluster.metadata.Key();
  const std::set<std::string> groups = GroupsOf(observed.cluster);
  const absl::Duration now = deps_.clock->Uptime();
  // What was made just now shows later; its arrival leads to another pass.
  const bool too_early =
      (outcome.made_service && observed.head_services.empty()) ||
      (!outcome.error.has_value() &&
       expectations_.JustCreated(cluster, groups, InCache(observed.cluster.ns()), now, kPatience));
  absl::StatusOr<bool> again = false;
  if (read.ok() && !too_early) again = WriteStatus(observed, outcome.error);
  if (outcome.error.has_value()) return outcome.error->status;
  HEKLA_RETURN_IF_ERROR(read);
  if (!again.ok()) return again.status();
  if (*again || too_early) return Result::After(kSoon);
  absl::Duration after = options_.periodic;
  const auto timeout = expectations_.NextTimeout(cluster, groups);
  if (timeout.has_value()) {
    const absl::Duration left = std::max(*timeout - now, absl::Milliseconds(1));
    after = after > absl::ZeroDuration() ? std::min(after, left) : left;
  }
  return after > absl::ZeroDuration() ? Result::After(after) : Result();
}

std::vector<controller::Source> Sources(absl::string_view batch_scheduler) {
  std::vector<controller::Source> sources;
  controller::Source own;
  own.resource = RayClusters();
  own.handler = controller::EnqueueSelf();
  own.predicates = {controller::Or({controller::GenerationChanged(), controller::LabelChanged(),
                                    controller::AnnotationChanged()})};
  sources.push_back(std::move(own));
  std::vector<const kube::Resource*> children = {&Pods(), &Services(), &Secrets(), &Claims()};
  if (batch_scheduler == "volcano") children.push_back(&VolcanoPodGroups());
  if (batch_scheduler == batchscheduler::KubernetesWasScheduler::kName) {
    children.insert(children.end(), {&Workloads(), &WorkloadPodGroups()});
  }
  for (const kube::Resource* child : children) {
    controller::Source source;
    source.resource = *child;
    source.handler = controller::EnqueueOwner(
        {.group = std::string(apis::ray::kGroup), .kind = std::string(apis::ray::kRayClusterKind)});
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace hekla::ray::controllers::raycluster
