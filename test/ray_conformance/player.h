#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "test/ray_conformance/case_file.h"
#include "test/ray_conformance/compare.h"

namespace hekla::ray_conformance {

// Plays a recording on the code of production: embedded API server, the operator's own objects,
// virtual time. Returns what came out otherwise.
// Errors: a recording that cannot be played.
absl::StatusOr<std::vector<Difference>> Play(const Case& recorded);

}  // namespace hekla::ray_conformance
