#include "pkg/plugins/common/evidence.h"

#include <utility>

namespace hekla::plugins {

framework::LimitCheck MakeLimitCheck(framework::LimitCheck check, absl::Span<const double> counted,
                                     absl::Span<const double> asked,
                                     absl::Span<const double> limits, const UnitScale& scale) {
  for (size_t d = 0; d < asked.size(); ++d) {
    if (asked[d] <= 0) continue;
    framework::LimitCheck::Row row;
    row.dim = static_cast<model::ResourceDim>(d);
    row.asked = asked[d] / scale[d];
    row.counted = At(counted, d) / scale[d];
    row.limit = At(limits, d) / scale[d];
    row.exceeded = row.dim != model::kPods && At(counted, d) + asked[d] > At(limits, d);
    check.rows.push_back(row);
  }
  return check;
}

framework::QueueFacts::Amount MakeQueueAmount(std::string name, absl::Span<const double> amounts,
                                              const UnitScale& scale) {
  framework::QueueFacts::Amount out;
  out.name = std::move(name);
  for (size_t d = 0; d < amounts.size(); ++d) {
    if (amounts[d] < kTolerance) continue;
    out.amounts.emplace_back(static_cast<model::ResourceDim>(d), amounts[d] / scale[d]);
  }
  return out;
}

}  // namespace hekla::plugins
