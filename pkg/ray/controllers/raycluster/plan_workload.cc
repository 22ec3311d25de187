#include "absl/strings/str_cat.h"
#include "pkg/controller/object_helpers.h"
#include "pkg/ray/batchscheduler/kubernetes_was/kubernetes_was.h"
#include "pkg/ray/builders/owner.h"
#include "pkg/ray/controllers/common/kinds.h"
#include "pkg/ray/controllers/raycluster/plan.h"

// Workload and PodGroup of Kubernetes' own gang scheduling. Neither can be changed: what does not
// fit is deleted, the PodGroup before its Workload, one per pass, and made anew.
// Source: spec ray-cluster 11.6.
namespace hekla::ray::controllers::raycluster {
namespace {

namespace bs = batchscheduler;
using apis::json::Value;
using apis::ray::RayCluster;

std::string Title(const Value& object) {
  return absl::StrCat(object.GetString("kind"), " ", controller::NamespaceOf(object), "/",
                      controller::NameOf(object));
}

void Create(const kube::Resource& resource, Value object, Plan& plan) {
  Write write;
  write.verb = Write::Verb::kCreate;
  write.resource = &resource;
  write.object = std::move(object);
  plan.writes.push_back(std::move(write));
}

void Delete(const kube::Resource& resource, const Value& object, Plan& plan) {
  Write write;
  write.verb = Write::Verb::kDelete;
  write.resource = &resource;
  write.name = std::string(controller::NameOf(object));
  write.uid = std::string(controller::UidOf(object));
  write.missing_is_fine = true;
  plan.writes.push_back(std::move(write));
}

// Its protection would keep it until the last pod of the gang is gone.
void DeletePodGroup(const Value& group, Plan& plan) {
  Value released = group;
  if (controller::RemoveFinalizer(released, bs::kPodGroupProtectionFinalizer)) {
    Write write;
    write.verb = Write::Verb::kUpdate;
    write.resource = &WorkloadPodGroups();
    write.object = std::move(released);
    write.missing_is_fine = true;
    plan.writes.push_back(std::move(write));
  }
  Delete(WorkloadPodGroups(), group, plan);
}

bool EndWith(std::string failure, Plan& plan) {
  plan.writes.push_back(Fail(std::move(failure)));
  return false;
}

// The cluster is no gang, or no longer.
bool PlanCleanup(const Observed& observed, Plan& plan) {
  const Value* const group = observed.workload_pod_group.get();
  if (group != nullptr && builders::ControlledBy(observed.cluster, *group)) {
    DeletePodGroup(*group, plan);
    return EndWith(absl::StrCat("waiting for ", Title(*group), " to be deleted"), plan);
  }
  const Value* const workload = observed.workload.get();
  if (workload != nullptr && builders::ControlledBy(observed.cluster, *workload)) {
    Delete(Workloads(), *workload, plan);
  }
  return true;
}

}  // namespace

bool PlanWorkload(const Observed& observed, Plan& plan) {
  const RayCluster& cluster = observed.cluster;
  if (!bs::WantsWorkload(cluster)) return PlanCleanup(observed, plan);
  const Value* const workload = observed.workload.get();
  const Value* const group = observed.workload_pod_group.get();
  for (const Value* const live : {workload, group}) {
    if (live == nullptr || builders::ControlledBy(cluster, *live)) continue;
    return EndWith(
        absl::StrCat(Title(*live), " already exists and is not controlled by RayCluster ",
                     cluster.name()),
        plan);
  }
  if (workload == nullptr) {
    Create(Workloads(), bs::BuildWorkload(cluster), plan);
  } else if (!bs::WorkloadFits(*workload, cluster)) {
    if (group != nullptr) {
      DeletePodGroup(*group, plan);
    } else {
      Delete(Workloads(), *workload, plan);
    }
    return EndWith(absl::StrCat(Title(*workload), " has another size and is replaced"), plan);
  }
  if (group == nullptr) {
    Create(WorkloadPodGroups(), bs::BuildWorkloadPodGroup(cluster), plan);
  } else if (!bs::WorkloadPodGroupFits(*group, cluster)) {
    DeletePodGroup(*group, plan);
    return EndWith(absl::StrCat(Title(*group), " has another size and is replaced"), plan);
  }
  return true;
}

}  // namespace hekla::ray::controllers::raycluster
