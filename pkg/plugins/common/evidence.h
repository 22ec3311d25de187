#pragma once

#include <string>

#include "pkg/framework/evidence.h"
#include "pkg/plugins/common/amounts.h"

namespace hekla::plugins {

// Amounts as rows of a check; rows are the dimensions with asked > 0. Exceeded as by Exceeding():
// pods never are.
framework::LimitCheck MakeLimitCheck(std::string limit, std::string owner,
                                     absl::Span<const double> counted,
                                     absl::Span<const double> asked,
                                     absl::Span<const double> limits, const UnitScale& scale);

// Amounts that are not zero, in units of the layout.
framework::QueueFacts::Amount MakeQueueAmount(std::string name, absl::Span<const double> amounts,
                                              const UnitScale& scale);

}  // namespace hekla::plugins
