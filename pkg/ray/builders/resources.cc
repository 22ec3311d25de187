#include "pkg/ray/builders/resources.h"

#include <algorithm>
#include <cstdint>

#include "pkg/ray/builders/start_params.h"

namespace hekla::ray::builders {

using apis::json::Member;
using apis::json::Value;
using apis::meta::Quantity;
using apis::meta::ResourceList;
using apis::ray::RayCluster;
using apis::ray::WorkerGroupSpec;

namespace {

int64_t Min(const WorkerGroupSpec& group) { return group.min_replicas.value_or(0); }
int64_t Max(const WorkerGroupSpec& group) { return group.max_replicas.value_or(INT32_MAX); }

int32_t Capped(int64_t total) {
  return static_cast<int32_t>(std::clamp<int64_t>(total, INT32_MIN, INT32_MAX));
}

template <typename F>
int64_t SumOverGroups(const RayCluster& cluster, F pods) {
  int64_t total = 0;
  for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
    if (!group.suspended()) total += pods(group);
  }
  return total;
}

// The sum keeps the suffix style of the first amount that is not zero.
void Add(absl::string_view name, const Quantity& amount, int64_t times, ResourceList& total) {
  const Quantity* before = total.Find(name);
  const Quantity::Int128 nano = amount.nano() * times;
  if (before == nullptr || before->is_zero()) {
    total.Set(name, Quantity::FromNano(nano, amount.format()));
  } else {
    total.Set(name, Quantity::FromNano(before->nano() + nano, before->format()));
  }
}

// Amounts of a group without replicas are named all the same, as 0.
void AddTimes(const ResourceList& amounts, int64_t times, ResourceList& total) {
  for (const auto& [name, amount] : amounts) Add(name, amount, times, total);
}

void AddContainer(const Value& container, ResourceList& total) {
  const Value& requests = container.At("resources").At("requests");
  const Value& limits = container.At("resources").At("limits");
  const auto add_all = [&](const Value& list, const Value* except) {
    if (!list.is_object()) return;
    for (const Member& m : list.as_object()) {
      if (except != nullptr && except->Has(m.key)) continue;
      const auto amount =
          Quantity::Parse(m.value.is_string() ? m.value.as_string() : apis::json::Dump(m.value));
      if (amount.ok()) Add(m.key, *amount, 1, total);
    }
  };
  add_all(requests, nullptr);
  add_all(limits, &requests);
}

template <typename F>
ResourceList HeadAndGroups(const RayCluster& cluster, F replicas) {
  ResourceList total = PodResources(cluster.spec.head.pod_template);
  for (const WorkerGroupSpec& group : cluster.spec.worker_groups) {
    if (group.suspended()) continue;
    AddTimes(PodResources(group.pod_template), int64_t{group.num_of_hosts} * replicas(group),
             total);
  }
  return total;
}

}  // namespace

int64_t DesiredWorkers(const WorkerGroupSpec& group) {
  if (group.suspended()) return 0;
  int64_t replicas = group.replicas.value_or(INT32_MIN);
  if (replicas < Min(group)) {
    replicas = Min(group);
  } else if (replicas > Max(group)) {
    replicas = Max(group);
  }
  return replicas * group.num_of_hosts;
}

int64_t MinWorkers(const WorkerGroupSpec& group) { return Min(group) * group.num_of_hosts; }

int64_t MaxWorkers(const WorkerGroupSpec& group) { return Max(group) * group.num_of_hosts; }

int32_t DesiredWorkerReplicas(const RayCluster& cluster) {
  return Capped(SumOverGroups(cluster, DesiredWorkers));
}

int32_t MinWorkerReplicas(const RayCluster& cluster) {
  return Capped(SumOverGroups(cluster, MinWorkers));
}

int32_t MaxWorkerReplicas(const RayCluster& cluster) {
  return Capped(SumOverGroups(cluster, MaxWorkers));
}

ResourceList PodResources(const Value& pod_template) {
  ResourceList total;
  const Value& containers = pod_template.At("spec").At("containers");
  if (!containers.is_array()) return total;
  for (const Value& container : containers.as_array()) AddContainer(container, total);
  return total;
}

ResourceList DesiredResources(const RayCluster& cluster) {
  return HeadAndGroups(cluster,
                       [](const WorkerGroupSpec& g) { return int64_t{g.replicas.value_or(0)}; });
}

ResourceList MinResources(const RayCluster& cluster) { return HeadAndGroups(cluster, Min); }

Quantity TotalGpu(const ResourceList& resources) {
  ResourceList total;
  for (const auto& [name, amount] : resources) {
    if (IsGpuResource(name)) Add("gpu", amount, 1, total);
  }
  return total.Get("gpu");
}

void FillDesired(const RayCluster& cluster, apis::ray::RayClusterStatus& status) {
  status.desired_worker_replicas = DesiredWorkerReplicas(cluster);
  status.min_worker_replicas = MinWorkerReplicas(cluster);
  status.max_worker_replicas = MaxWorkerReplicas(cluster);
  const ResourceList resources = DesiredResources(cluster);
  status.desired_cpu = resources.Get("cpu");
  status.desired_memory = resources.Get("memory");
  status.desired_gpu = TotalGpu(resources);
  status.desired_tpu = resources.Get("google.com/tpu");
}

}  // namespace hekla::ray::builders
