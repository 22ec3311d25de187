#include "pkg/cache/ingest/resources.h"

#include <algorithm>

#include "absl/strings/match.h"

namespace hekla::cache {
namespace {

using apis::core::Container;
using apis::core::ContainerStatus;
using apis::core::Pod;
using apis::meta::Quantity;
using apis::meta::ResourceList;
using model::Resource;
using model::ResourceDim;

constexpr int64_t kDefaultCpuMilli = 100;
constexpr int64_t kDefaultMemoryBytes = 200LL * 1024 * 1024;

int64_t AmountIn(const Quantity& q, model::ResourceUnit unit) {
  switch (unit) {
    case model::ResourceUnit::kMilliCores:
    case model::ResourceUnit::kMilli:
      return q.MilliValue();
    case model::ResourceUnit::kBytes:
    case model::ResourceUnit::kCount:
      return q.Value();
  }
  return 0;
}

// Sums the containers of one pod under the rules for init containers and sidecars.
class RequestSum {
 public:
  RequestSum(const Pod& pod, model::ResourceLayout& layout, const RequestFeatures& features,
             bool fill_defaults)
      : pod_(pod),
        layout_(layout),
        features_(features),
        fill_defaults_(fill_defaults),
        infeasible_(IsResizeInfeasible(pod)) {}

  Resource Run() {
    Resource regular;
    for (const Container& c : pod_.spec.containers) {
      regular += Of(c, pod_.status.container_statuses);
    }
    Resource sidecars;  // those started so far
    Resource peak;      // the most that starting up needs at one time
    for (const Container& c : pod_.spec.init_containers) {
      Resource amount;
      if (c.restart_always) {
        amount = Of(c, pod_.status.init_container_statuses);
        regular += amount;
        sidecars += amount;
        peak.MaxWith(sidecars);
      } else {
        amount = Of(c, {});
        amount += sidecars;
        peak.MaxWith(amount);
      }
    }
    regular.MaxWith(peak);
    regular.Add(model::kPods, 1);
    if (features_.pod_level_resources) ReplaceByPodLevel(regular);
    regular += ToResource(pod_.spec.overhead, layout_);
    return regular;
  }

 private:
  Resource Of(const Container& c, const std::vector<ContainerStatus>& statuses) const {
    Resource amount = ToResource(c.requests, layout_);
    if (features_.in_place_resize) {
      for (const ContainerStatus& status : statuses) {
        if (status.name != c.name || !status.has_resources) continue;
        Resource actual = ToResource(status.requests, layout_);
        actual.MaxWith(ToResource(status.allocated, layout_));
        if (!infeasible_) actual.MaxWith(amount);
        amount = actual;
      }
    }
    if (fill_defaults_) {
      if (c.requests.Find("cpu") == nullptr) FillIn(amount, model::kCpu, kDefaultCpuMilli);
      if (c.requests.Find("memory") == nullptr) FillIn(amount, model::kMemory, kDefaultMemoryBytes);
    }
    return amount;
  }

  static void FillIn(Resource& amount, ResourceDim dim, int64_t fallback) {
    if (amount[dim] == 0) amount.Set(dim, fallback);
  }

  void ReplaceByPodLevel(Resource& amount) const {
    for (const auto& [name, quantity] : pod_.spec.pod_requests) {
      if (name != "cpu" && name != "memory" && !absl::StartsWith(name, "hugepages-")) continue;
      const ResourceDim dim = layout_.Intern(name);
      amount.Set(dim, AmountIn(quantity, layout_.unit(dim)));
    }
  }

  const Pod& pod_;
  model::ResourceLayout& layout_;
  const RequestFeatures& features_;
  const bool fill_defaults_;
  const bool infeasible_;
};

}  // namespace

bool IsResizeInfeasible(const Pod& pod) {
  const apis::meta::Condition* pending = pod.status.FindCondition("PodResizePending");
  return pending != nullptr && pending->reason == "Infeasible";
}

Resource ToResource(const ResourceList& list, model::ResourceLayout& layout) {
  Resource out;
  for (const auto& [name, quantity] : list) {
    if (!model::ResourceLayout::IsCountable(name)) continue;
    const ResourceDim dim = layout.Intern(name);
    out.Add(dim, AmountIn(quantity, model::ResourceLayout::UnitOf(name)));
  }
  return out;
}

model::ResourceLimit ToLimit(const ResourceList& list, model::ResourceLayout& layout) {
  model::ResourceLimit out;
  for (const auto& [name, quantity] : list) {
    if (!model::ResourceLayout::IsCountable(name)) continue;
    const ResourceDim dim = layout.Intern(name);
    out.Set(dim, AmountIn(quantity, model::ResourceLayout::UnitOf(name)));
  }
  return out;
}

Resource PodRequest(const Pod& pod, model::ResourceLayout& layout,
                    const RequestFeatures& features) {
  return RequestSum(pod, layout, features, /*fill_defaults=*/false).Run();
}

std::pair<int64_t, int64_t> NonZeroRequest(const Pod& pod, model::ResourceLayout& layout,
                                           const RequestFeatures& features) {
  const Resource amount = RequestSum(pod, layout, features, /*fill_defaults=*/true).Run();
  return {amount[model::kCpu], amount[model::kMemory]};
}

}  // namespace hekla::cache
