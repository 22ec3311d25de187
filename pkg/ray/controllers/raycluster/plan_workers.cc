#include <algorithm>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/ray/event_reasons.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/ray/builders/names.h"
#include "pkg/ray/builders/pod.h"
#include "pkg/ray/builders/resources.h"
#include "pkg/ray/controllers/raycluster/plan.h"
#include "pkg/util/random.h"

// Worker groups, one after the other.
namespace hekla::ray::controllers::raycluster {
namespace {

using apis::json::Value;
using apis::ray::RayCluster;
using apis::ray::WorkerGroupSpec;
using controller::ObjectPtr;

// Pods made in one pass; the rest follows when the cache shows these. Bounds the memory of a plan
// for a group of any size.
constexpr int64_t kMaxCreatesPerPass = 500;

// All pods of a group that sleeps.
Write DeleteGroup(const Observed& observed, const WorkerGroupSpec& group,
                  const std::vector<ObjectPtr>& pods) {
  const RayCluster& cluster = observed.cluster;
  Write write = DeletePods(pods, builders::GroupSelector(cluster.name(), group.group_name));
  write.marker = apis::ray::kFailedDeleteWorkerPod;
  write.done = {apis::ray::kEventNormal, apis::ray::kDeletedWorkerPod, apis::ray::kActionDelete,
                absl::StrCat("Deleted all pods for suspended worker group ", group.group_name,
                             " in RayCluster ", cluster.ns(), "/", cluster.name())};
  write.failed = {apis::ray::kEventWarning, apis::ray::kFailedToDeleteWorkerPodCollection,
                  apis::ray::kActionDelete,
                  absl::StrCat("Failed deleting worker Pods for suspended group ", group.group_name,
                               " in RayCluster ", cluster.ns(), "/", cluster.name(), ", ")};
  return write;
}

EventNote FailedDelete(std::string text) {
  return {apis::ray::kEventWarning, apis::ray::kFailedToDeleteWorkerPod, apis::ray::kActionDelete,
          std::move(text)};
}

// Returns the number of unhealthy pods; each is deleted.
int PlanUnhealthy(const Observed& observed, const WorkerGroupSpec& group,
                  const std::vector<ObjectPtr>& pods, Plan& plan) {
  int count = 0;
  for (const ObjectPtr& pod : pods) {
    const std::optional<Unhealthy> why = JudgePod(*pod);
    if (!why.has_value()) continue;
    ++count;
    const std::string name(controller::NameOf(*pod));
    const std::string text =
        absl::StrCat(" worker Pod ", observed.cluster.ns(), "/", name, why->event_tail);
    Write write = DeletePodNamed(name, group.group_name, absl::StrCat("Deleted", text));
    write.failed = FailedDelete(absl::StrCat("Failed deleting", text, ", "));
    plan.writes.push_back(std::move(write));
  }
  return count;
}

// Pods named by the autoscaler. Quirk: deleted whatever they are.
std::set<std::string> PlanNamed(const Observed& observed, const WorkerGroupSpec& group,
                                Plan& plan) {
  std::set<std::string> names;
  for (const std::string& name : group.workers_to_delete) {
    names.insert(name);
    const std::string text = absl::StrCat(" pod ", observed.cluster.ns(), "/", name);
    Write write = DeletePodNamed(name, group.group_name, absl::StrCat("Deleted", text));
    write.failed = FailedDelete(absl::StrCat("Failed deleting", text, ", "));
    write.missing_is_fine = true;
    plan.writes.push_back(std::move(write));
  }
  return names;
}

int64_t IndexLabel(const Value& pod, absl::string_view label) {
  int64_t index = -1;
  if (!absl::SimpleAtoi(controller::LabelOf(pod, label), &index)) return -1;
  return index;
}

void PlanSurplus(const Observed& observed, uint64_t seed, const WorkerGroupSpec& group,
                 std::vector<ObjectPtr> running, int64_t surplus, Plan& plan) {
  // Never the head before a worker; what does not run before what does; oldest first; among those
  // of one second by their place in the group, then by who has stood still for longest.
  const auto key = [seed](const ObjectPtr& pod) {
    int64_t version = 0;
    (void)absl::SimpleAtoi(controller::ResourceVersion(*pod), &version);
    const uint64_t chance = seed == 0 ? 0 : util::StableHash(controller::UidOf(*pod), seed);
    return std::make_tuple(
        controller::LabelOf(*pod, apis::ray::kNodeTypeLabel) == apis::ray::kHeadNode, chance,
        pod->At("status").GetString("phase") == "Running", controller::CreationTimeOf(*pod),
        IndexLabel(*pod, apis::ray::kReplicaIndexLabel),
        IndexLabel(*pod, apis::ray::kHostIndexLabel), version,
        std::string(controller::NameOf(*pod)));
  };
  std::sort(running.begin(), running.end(),
            [&key](const ObjectPtr& a, const ObjectPtr& b) { return key(a) < key(b); });
  for (int64_t i = 0; i < surplus; ++i) {
    const std::string name(controller::NameOf(*running[static_cast<size_t>(i)]));
    const std::string text = absl::StrCat(" Pod ", observed.cluster.ns(), "/", name);
    Write write = DeletePodNamed(name, group.group_name, absl::StrCat("Deleted", text));
    write.failed = FailedDelete(absl::StrCat("Failed deleting", text, ", "));
    write.missing_is_done = true;
    plan.writes.push_back(std::move(write));
  }
}

Write CreateWorker(const Observed& observed, const PlanInput& input, const WorkerGroupSpec& group,
                   const std::optional<builders::WorkerIndex>& index) {
  const RayCluster& cluster = observed.cluster;
  Value pod = builders::BuildWorkerPod(cluster, group, input.options->build, index);
  if (input.batch != nullptr) input.batch->DecoratePod(cluster, group.group_name, pod);
  Write write = CreatePod(std::move(pod), group.group_name);
  write.marker = apis::ray::kFailedCreateWorkerPod;
  write.done = {apis::ray::kEventNormal, apis::ray::kCreatedWorkerPod, apis::ray::kActionCreate,
                "Created worker Pod "};
  write.failed = {apis::ray::kEventWarning, apis::ray::kFailedToCreateWorkerPod,
                  apis::ray::kActionCreate,
                  absl::StrCat("Failed to create worker Pod for the cluster ", cluster.ns(), "/",
                               cluster.name(), ", ")};
  return write;
}

void PlanMissing(const Observed& observed, const PlanInput& input, const WorkerGroupSpec& group,
                 const std::vector<ObjectPtr>& running, int64_t missing, Plan& plan) {
  std::set<int64_t> used;
  for (const ObjectPtr& pod : running) {
    used.insert(IndexLabel(*pod, apis::ray::kReplicaIndexLabel));
  }
  int32_t next = 0;
  for (int64_t i = 0; i < missing; ++i) {
    std::optional<builders::WorkerIndex> index;
    if (input.options->build.multi_host_indexing) {
      while (used.contains(next)) ++next;
      index = builders::WorkerIndex{next++, "", 0};
    }
    plan.writes.push_back(CreateWorker(observed, input, group, index));
  }
}

// Quirk: the listing of a group called `headgroup` includes the head pod, which counts as one of
// its workers, also one that this pass makes.
int64_t HeadsMade(const WorkerGroupSpec& group, const Plan& plan) {
  if (group.group_name != apis::ray::kHeadGroup) return 0;
  return std::count_if(plan.writes.begin(), plan.writes.end(), [](const Write& write) {
    return write.verb == Write::Verb::kCreate && write.expects.has_value() &&
           write.expects->group.empty();
  });
}

// False: an error ends the step.
bool PlanSinglePods(const Observed& observed, const PlanInput& input, const WorkerGroupSpec& group,
                    const std::vector<ObjectPtr>& pods, Plan& plan) {
  const int unhealthy = PlanUnhealthy(observed, group, pods, plan);
  if (unhealthy > 0) {
    plan.writes.push_back(Fail(
        absl::StrCat("deleted ", unhealthy, " unhealthy worker pods of group ", group.group_name)));
    return false;
  }
  const std::set<std::string> named = PlanNamed(observed, group, plan);
  std::vector<ObjectPtr> running;
  for (const ObjectPtr& pod : pods) {
    if (!named.contains(std::string(controller::NameOf(*pod)))) running.push_back(pod);
  }
  const int64_t missing = builders::DesiredWorkers(group) - static_cast<int64_t>(running.size()) -
                          HeadsMade(group, plan);
  if (missing > 0) {
    if (CertificatesMissing(observed)) {
      plan.writes.push_back(Fail("mTLS certificates are not ready"));
      return false;
    }
    PlanMissing(observed, input, group, running, std::min(missing, kMaxCreatesPerPass), plan);
  } else if (missing < 0 && MayDeleteSurplus(observed, input)) {
    PlanSurplus(observed, input.options->surplus_seed, group, std::move(running), -missing, plan);
  }
  return true;
}

}  // namespace

void PlanWorkers(const Observed& observed, const PlanInput& input, Plan& plan) {
  for (const WorkerGroupSpec& group : observed.cluster.spec.worker_groups) {
    if (input.waiting.contains(group.group_name)) continue;
    const std::vector<ObjectPtr> pods = observed.GroupPods(group.group_name);
    if (group.suspended()) {
      plan.writes.push_back(DeleteGroup(observed, group, pods));
      continue;
    }
    const bool go_on = group.multi_host() && input.options->build.multi_host_indexing
                           ? PlanMultiHostGroup(observed, input, group, plan)
                           : PlanSinglePods(observed, input, group, pods, plan);
    if (!go_on) return;
  }
}

}  // namespace hekla::ray::controllers::raycluster
