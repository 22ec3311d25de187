#include "pkg/ray/controllers/raycluster/plan.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/meta/lookup.h"
#include "pkg/apis/meta/time.h"
#include "pkg/apis/ray/event_reasons.h"
#include "pkg/apis/ray/go_form.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/pod.h"
#include "pkg/ray/controllers/common/kinds.h"

namespace hekla::ray::controllers::raycluster {
namespace {

using apis::json::Value;
using apis::ray::RayCluster;
using controller::ObjectPtr;

constexpr absl::Duration kAfterFinalizer = absl::Seconds(2);
constexpr absl::Duration kHeadStillThere = absl::Seconds(10);
constexpr absl::Duration kJobPoll = absl::Seconds(2);
constexpr int64_t kDefaultDeletionTimeoutSeconds = 300;

// The write of the whole object, as upstream's typed client makes it: empty values appear.
Write PutFinalizer(const Observed& observed, bool present) {
  Value object = apis::ray::GoObject(*observed.object);
  if (present) {
    controller::AddFinalizer(object, apis::ray::kRedisCleanupFinalizer);
  } else {
    controller::RemoveFinalizer(object, apis::ray::kRedisCleanupFinalizer);
  }
  Write write;
  write.verb = Write::Verb::kUpdate;
  write.resource = &RayClusters();
  write.object = std::move(object);
  write.missing_is_fine = !present;
  return write;
}

bool HasRedisFinalizer(const Observed& observed) {
  return controller::HasFinalizer(*observed.object, apis::ray::kRedisCleanupFinalizer);
}

absl::Duration DeletionTimeout(const RayCluster& cluster) {
  int64_t seconds = 0;
  if (!absl::SimpleAtoi(cluster.metadata.annotations.Get(apis::ray::kFtDeletionTimeoutAnnotation),
                        &seconds) ||
      seconds <= 0) {
    seconds = kDefaultDeletionTimeoutSeconds;
  }
  return absl::Seconds(seconds);
}

bool JobFinished(const Value& job) {
  constexpr absl::string_view kEnds[] = {"Complete", "Failed", "FailureTarget"};
  return std::any_of(std::begin(kEnds), std::end(kEnds), [&job](absl::string_view end) {
    return apis::meta::ConditionIsTrue(job, end);
  });
}

Write ForceNote(const RayCluster& cluster, absl::Duration age) {
  Write note;
  note.done = {
      apis::ray::kEventWarning, apis::ray::kForceDeletedStuckCluster, apis::ray::kActionCleanup,
      absl::StrCat("Force-removed GCS FT finalizer after ", apis::meta::GoDuration(age),
                   " due to Redis cleanup timeout; Redis storage namespace \"",
                   cluster.metadata.annotations.Get(apis::ray::kExternalStorageNamespaceAnnotation),
                   "\" may need manual cleanup")};
  return note;
}

Write CreateCleanupJob(const RayCluster& cluster, const PlanInput& input) {
  Write write;
  write.verb = Write::Verb::kCreate;
  write.resource = &Jobs();
  write.object = builders::BuildRedisCleanupJob(cluster, input.options->build);
  write.exists_is_fine = true;
  write.done = {apis::ray::kEventNormal, apis::ray::kCreatedRedisCleanupJob,
                apis::ray::kActionCreate, "Created Redis cleanup Job "};
  write.names_object = true;
  write.failed = {apis::ray::kEventWarning, apis::ray::kFailedToCreateRedisCleanupJob,
                  apis::ray::kActionCreate,
                  absl::StrCat("Failed to create Redis cleanup Job ", cluster.ns(), "/",
                               controller::NameOf(write.object), ", ")};
  return write;
}

// Deletes pods of one type while some are not terminating yet.
void DeleteLivePods(const Observed& observed, absl::string_view node_type, Plan& plan) {
  std::vector<ObjectPtr> pods;
  for (const ObjectPtr& pod : observed.pods) {
    if (controller::LabelOf(*pod, apis::ray::kNodeTypeLabel) == node_type) pods.push_back(pod);
  }
  Write write = DeletePods(pods, builders::NodeTypeSelector(observed.cluster.name(), node_type));
  if (write.verb == Write::Verb::kDeleteCollection) plan.writes.push_back(std::move(write));
}

Plan Nothing() {
  Plan plan;
  plan.status = false;
  return plan;
}

}  // namespace

Write Fail(std::string message) {
  Write write;
  write.verb = Write::Verb::kFail;
  write.failure = absl::FailedPreconditionError(message);
  return write;
}

Write DeletePods(const std::vector<ObjectPtr>& pods, const apis::meta::StringMap& selector) {
  Write write;
  const bool live = std::any_of(pods.begin(), pods.end(), [](const ObjectPtr& pod) {
    return !controller::IsTerminating(*pod);
  });
  if (!live) return write;
  write.verb = Write::Verb::kDeleteCollection;
  write.resource = &Pods();
  for (const auto& [key, value] : selector) write.labels.emplace_back(key, value);
  return write;
}

Plan PlanRedisCleanup(const Observed& observed, const PlanInput& input) {
  Plan plan = Nothing();
  const RayCluster& cluster = observed.cluster;
  DeleteLivePods(observed, apis::ray::kHeadNode, plan);
  DeleteLivePods(observed, apis::ray::kWorkerNode, plan);
  if (!observed.Heads().empty()) {
    plan.requeue = kHeadStillThere;
    return plan;
  }
  const absl::Duration age = input.now - cluster.metadata.deletion_timestamp;
  if (HasRedisFinalizer(observed) && age >= DeletionTimeout(cluster)) {
    plan.writes.push_back(PutFinalizer(observed, false));
    plan.writes.push_back(ForceNote(cluster, age));
    return plan;
  }
  if (!observed.cleanup_jobs.empty()) {
    if (JobFinished(*observed.cleanup_jobs.front())) {
      if (HasRedisFinalizer(observed)) plan.writes.push_back(PutFinalizer(observed, false));
    } else {
      plan.requeue = kJobPoll;
    }
    return plan;
  }
  plan.writes.push_back(CreateCleanupJob(cluster, input));
  plan.requeue = kJobPoll;
  return plan;
}

Plan MakePlan(const Observed& observed, const PlanInput& input) {
  const RayCluster& cluster = observed.cluster;
  const bool terminating = cluster.metadata.terminating();
  if (terminating && apis::ray::EmbeddedGcsStorage(cluster) && HasRedisFinalizer(observed)) {
    Plan plan = Nothing();
    plan.writes.push_back(PutFinalizer(observed, false));
    return plan;
  }
  const bool redis = apis::ray::GcsFaultToleranceEnabled(cluster) &&
                     !apis::ray::EmbeddedGcsStorage(cluster) && input.options->redis_cleanup;
  if (redis && terminating) return PlanRedisCleanup(observed, input);
  if (redis && !HasRedisFinalizer(observed)) {
    Plan plan = Nothing();
    plan.writes.push_back(PutFinalizer(observed, true));
    plan.requeue = kAfterFinalizer;
    return plan;
  }
  if (terminating) return Nothing();
  Plan plan;
  if (PlanResources(observed, input, plan)) PlanPods(observed, input, plan);
  return plan;
}

}  // namespace hekla::ray::controllers::raycluster
