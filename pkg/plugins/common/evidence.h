#pragma once

#include <string>

#include "pkg/framework/evidence.h"
#include "pkg/plugins/common/amounts.h"

namespace hekla::plugins {

// `check` with amounts as its rows, which are the dimensions with asked > 0. Exceeded as by
// Exceeding(): pods never are.
framework::LimitCheck MakeLimitCheck(framework::LimitCheck check, absl::Span<const double> counted,
                                     absl::Span<const double> asked,
                                     absl::Span<const double> limits, const UnitScale& scale);

// Amounts that are not zero, in units of the layout.
framework::QueueFacts::Amount MakeQueueAmount(std::string name, absl::Span<const double> amounts,
                                              const UnitScale& scale);

}  // namespace hekla::plugins
