#include "pkg/plugins/common/jobs.h"

#include <algorithm>

namespace hekla::plugins {

model::Resource AmountsOf(const model::ResourceLimit& limit) {
  model::Resource amounts;
  for (size_t d = 0; d < limit.size(); ++d) {
    const auto dim = static_cast<model::ResourceDim>(d);
    if (limit.Has(dim)) amounts.Set(dim, limit.Or(dim, 0));
  }
  return amounts;
}

void SubtractDownToZero(model::Resource& amounts, const model::Resource& what) {
  for (size_t d = 0; d < amounts.size(); ++d) {
    const auto dim = static_cast<model::ResourceDim>(d);
    amounts.Set(dim, std::max<int64_t>(amounts[dim] - what[dim], 0));
  }
}

bool RunningWithMinimumMet(const model::JobTable& jobs, model::JobId j) {
  return jobs.phase[j] == model::PodGroupPhase::kRunning && MinResources(jobs, j) != nullptr &&
         jobs.counts[j].Sum(model::kAllocatedStatuses) >= jobs.spec[j]->min_member;
}

model::Resource PromisedAmounts(const model::JobTable& jobs, model::JobId job) {
  const model::ResourceLimit* minimum = MinResources(jobs, job);
  if (minimum == nullptr) return {};
  if (jobs.phase[job] != model::PodGroupPhase::kInqueue && !RunningWithMinimumMet(jobs, job)) {
    return {};
  }
  model::Resource promised = AmountsOf(*minimum);
  SubtractDownToZero(promised, jobs.allocated[job]);
  SubtractDownToZero(promised, jobs.gated[job]);
  return promised;
}

model::Resource ElasticAmounts(const model::JobTable& jobs, model::JobId job) {
  model::Resource amounts = jobs.allocated[job];
  if (const model::ResourceLimit* minimum = MinResources(jobs, job)) {
    SubtractDownToZero(amounts, AmountsOf(*minimum));
  }
  return amounts;
}

}  // namespace hekla::plugins
