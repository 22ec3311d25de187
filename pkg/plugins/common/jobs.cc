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

}  // namespace hekla::plugins
