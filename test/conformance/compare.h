#pragma once

#include <string>
#include <vector>

#include "test/conformance/outcome.h"

namespace hekla::conformance {

// Where a result differs from what was recorded: one "field: expected …, found …" each. What
// upstream was not certain of in its runs (a list of values, several full results) agrees with any
// of the values seen.
std::vector<std::string> Compare(const apis::json::Value& decided, const Result& result);

}  // namespace hekla::conformance
