#include "pkg/ray/batchscheduler/yunikorn/yunikorn.h"

#include <string>
#include <utility>

#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/ray/go_form.h"
#include "pkg/ray/batchscheduler/pod_edit.h"
#include "pkg/ray/builders/resources.h"

namespace hekla::ray::batchscheduler {

using apis::json::Value;
using apis::ray::RayCluster;
using apis::ray::WorkerGroupSpec;

namespace {

constexpr absl::string_view kAppIdLabel = "yunikorn.apache.org/app-id";
constexpr absl::string_view kQueueLabel = "yunikorn.apache.org/queue";
constexpr absl::string_view kTaskGroupsAnnotation = "yunikorn.apache.org/task-groups";
constexpr absl::string_view kTaskGroupNameAnnotation = "yunikorn.apache.org/task-group-name";

// Members in this order, empty ones left out; `minResource` is always there.
Value TaskGroup(absl::string_view name, const Value& pod_template, int64_t members) {
  const Value& spec = pod_template.At("spec");
  Value out = Value::MakeObject();
  Value amounts = apis::meta::EncodeResources(builders::PodResources(pod_template));
  out.Set("minResource", amounts.is_object() ? std::move(amounts) : Value::MakeObject());
  for (absl::string_view key : {"nodeSelector", "affinity"}) {
    if (spec.At(key).size() > 0 || (key == "affinity" && spec.At(key).is_object())) {
      out.Set(key, spec.At(key));
    }
  }
  out.Set("name", name);
  if (spec.At("tolerations").size() > 0) out.Set("tolerations", spec.At("tolerations"));
  out.Set("minMember", members);
  return out;
}

// Quirk: suspended groups count, and minReplicas whatever the autoscaler does.
std::string TaskGroups(const RayCluster& cluster) {
  const absl::string_view given = cluster.metadata.annotations.Get(kTaskGroupsAnnotation);
  if (!given.empty()) return std::string(given);
  // The order and presence of members is that of upstream's typed structs.
  const Value form = apis::ray::GoTemplates(cluster);
  Value groups = Value::MakeArray();
  groups.Append(TaskGroup(apis::ray::kHeadGroup, form.as_array()[0], 1));
  size_t i = 0;
  for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
    groups.Append(TaskGroup(group.group_name, form.as_array()[++i], builders::MinWorkers(group)));
  }
  return apis::ray::GoDump(groups);
}

}  // namespace

absl::StatusOr<std::optional<Value>> YunikornScheduler::BuildPodGroup(const RayCluster&) const {
  return std::nullopt;
}

std::optional<Value> YunikornScheduler::UpdatedPodGroup(const Value&, const Value&) const {
  return std::nullopt;
}

void YunikornScheduler::DecoratePod(const RayCluster& cluster, absl::string_view group,
                                    Value& pod) const {
  CopyLabel(cluster, kAppIdLabel, "applicationId", pod);
  CopyLabel(cluster, kQueueLabel, "queue", pod);
  SetSchedulerName(kName, pod);
  // Quirk: the label counts with any value, `false` too.
  if (!cluster.metadata.labels.Has(apis::ray::kGangSchedulingLabel)) return;
  SetPodAnnotation(kTaskGroupsAnnotation, TaskGroups(cluster), pod);
  SetPodAnnotation(kTaskGroupNameAnnotation, group, pod);
}

}  // namespace hekla::ray::batchscheduler
