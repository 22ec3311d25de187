#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pkg/apis/ray/event_reasons.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/ray/builders/pod.h"
#include "pkg/ray/builders/resources.h"
#include "pkg/ray/controllers/raycluster/plan.h"
#include "pkg/util/random.h"

// Groups whose replicas have several hosts: replicas come and go as a whole.
namespace hekla::ray::controllers::raycluster {
namespace {

using apis::json::Value;
using apis::ray::RayCluster;
using apis::ray::WorkerGroupSpec;
using controller::ObjectPtr;

// As for single pods, in replicas of a few hosts.
constexpr int64_t kMaxReplicasPerPass = 100;

struct Replica {
  std::string name;
  int64_t index = -1;
  std::vector<ObjectPtr> pods;
};

// In the order of their indices, then names. Pods without the label count for nothing.
std::vector<Replica> Replicas(const std::vector<ObjectPtr>& pods) {
  std::map<std::string, Replica> by_name;
  for (const ObjectPtr& pod : pods) {
    const std::string name(controller::LabelOf(*pod, apis::ray::kReplicaNameLabel));
    if (name.empty()) continue;
    Replica& replica = by_name[name];
    replica.name = name;
    if (!absl::SimpleAtoi(controller::LabelOf(*pod, apis::ray::kReplicaIndexLabel),
                          &replica.index)) {
      replica.index = -1;
    }
    replica.pods.push_back(pod);
  }
  std::vector<Replica> out;
  for (auto& [name, replica] : by_name) out.push_back(std::move(replica));
  std::stable_sort(out.begin(), out.end(),
                   [](const Replica& a, const Replica& b) { return a.index < b.index; });
  return out;
}

void DeleteReplica(const Observed& observed, const WorkerGroupSpec& group, const Replica& replica,
                   absl::string_view reason, Plan& plan) {
  for (const ObjectPtr& pod : replica.pods) {
    const std::string name(controller::NameOf(*pod));
    const std::string text = absl::StrCat(" worker Pod ", observed.cluster.ns(), "/", name,
                                          " for group ", group.group_name);
    Write write =
        DeletePodNamed(name, group.group_name, absl::StrCat("Deleted", text, ": ", reason));
    write.failed = {apis::ray::kEventWarning, apis::ray::kFailedToDeleteWorkerPod,
                    apis::ray::kActionDelete,
                    absl::StrCat("Failed deleting", text, StateTail(*pod), ", ")};
    write.missing_is_fine = true;
    plan.writes.push_back(std::move(write));
  }
}

// Step 1: one incomplete replica per pass.
bool PlanIncomplete(const Observed& observed, const WorkerGroupSpec& group,
                    const std::vector<Replica>& replicas, Plan& plan) {
  for (const Replica& replica : replicas) {
    if (static_cast<int32_t>(replica.pods.size()) >= group.num_of_hosts) continue;
    DeleteReplica(observed, group, replica, "cleanup of incomplete multi-host group", plan);
    plan.writes.push_back(Fail(absl::StrCat("deleted the incomplete replica ", replica.name,
                                            " of worker group ", group.group_name)));
    return true;
  }
  return false;
}

// Step 2: replicas with an unhealthy pod; the others are returned.
std::vector<Replica> PlanUnhealthy(const Observed& observed, const WorkerGroupSpec& group,
                                   std::vector<Replica> replicas, Plan& plan) {
  std::vector<Replica> healthy;
  for (Replica& replica : replicas) {
    std::optional<Unhealthy> why;
    for (const ObjectPtr& pod : replica.pods) {
      why = JudgePod(*pod);
      if (why.has_value()) break;
    }
    if (why.has_value()) {
      DeleteReplica(observed, group, replica, why->reason, plan);
    } else {
      healthy.push_back(std::move(replica));
    }
  }
  return healthy;
}

// Step 3: replicas of which the autoscaler named a pod.
bool PlanNamed(const Observed& observed, const WorkerGroupSpec& group,
               const std::vector<Replica>& replicas, Plan& plan) {
  const std::set<std::string> named(group.workers_to_delete.begin(), group.workers_to_delete.end());
  size_t count = 0;
  for (const Replica& replica : replicas) {
    const bool marked =
        std::any_of(replica.pods.begin(), replica.pods.end(), [&named](const ObjectPtr& pod) {
          return named.contains(std::string(controller::NameOf(*pod)));
        });
    if (!marked) continue;
    DeleteReplica(observed, group, replica, "autoscaler scale-down request", plan);
    count += replica.pods.size();
  }
  if (count == 0) return false;
  plan.writes.push_back(Fail(absl::StrCat("deleted ", count, " worker pods of group ",
                                          group.group_name, " as the autoscaler asked")));
  return true;
}

void PlanNewReplica(const Observed& observed, const PlanInput& input, const WorkerGroupSpec& group,
                    int32_t index, Plan& plan) {
  const RayCluster& cluster = observed.cluster;
  const std::string name = absl::StrCat(group.group_name, "-", input.replica_suffix());
  for (int32_t host = 0; host < group.num_of_hosts; ++host) {
    Value pod = builders::BuildWorkerPod(cluster, group, input.options->build,
                                         builders::WorkerIndex{index, name, host});
    if (input.batch != nullptr) input.batch->DecoratePod(cluster, group.group_name, pod);
    Write write = CreatePod(std::move(pod), group.group_name);
    write.marker = apis::ray::kFailedCreateWorkerPod;
    write.done = {apis::ray::kEventNormal, apis::ray::kCreatedWorkerPod, apis::ray::kActionCreate,
                  "Created worker Pod "};
    write.failed = {apis::ray::kEventWarning, apis::ray::kFailedToCreateWorkerPod,
                    apis::ray::kActionCreate,
                    absl::StrCat("Failed to create worker Pod for the cluster ", cluster.ns(), "/",
                                 cluster.name(), ", ")};
    plan.writes.push_back(std::move(write));
  }
}

}  // namespace

bool PlanMultiHostGroup(const Observed& observed, const PlanInput& input,
                        const WorkerGroupSpec& group, Plan& plan) {
  std::vector<Replica> replicas = Replicas(observed.GroupPods(group.group_name));
  if (PlanIncomplete(observed, group, replicas, plan)) return false;
  replicas = PlanUnhealthy(observed, group, std::move(replicas), plan);
  if (PlanNamed(observed, group, replicas, plan)) return false;
  const int64_t wanted = builders::DesiredWorkers(group) / group.num_of_hosts;
  int64_t missing = wanted - static_cast<int64_t>(replicas.size());
  if (missing > 0) {
    if (CertificatesMissing(observed)) {
      plan.writes.push_back(Fail("mTLS certificates are not ready"));
      return false;
    }
    std::set<int64_t> used;
    for (const Replica& replica : replicas) used.insert(replica.index);
    missing = std::min(missing, kMaxReplicasPerPass);
    for (int32_t index = 0; missing > 0; ++index) {
      if (used.contains(index)) continue;
      PlanNewReplica(observed, input, group, index, plan);
      --missing;
    }
  } else if (missing < 0 && MayDeleteSurplus(observed, input)) {
    if (const uint64_t seed = input.options->surplus_seed; seed != 0) {
      std::sort(replicas.begin(), replicas.end(), [seed](const Replica& a, const Replica& b) {
        return util::StableHash(a.name, seed) < util::StableHash(b.name, seed);
      });
    }
    for (size_t i = 0; i < static_cast<size_t>(-missing); ++i) {
      DeleteReplica(observed, group, replicas[i], "scaling down", plan);
    }
  }
  return true;
}

}  // namespace hekla::ray::controllers::raycluster
