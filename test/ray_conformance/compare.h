#pragma once

#include <string>
#include <vector>

#include "test/ray_conformance/case_file.h"
#include "test/ray_conformance/dump.h"

namespace hekla::ray_conformance {

// One place where we did otherwise: the path into the file of the case, what it says, what we did.
struct Difference {
  std::string path;
  std::string expected;
  std::string found;
};

// Compares one step, as the recordings' README says: objects, status and cluster exactly; `deleted`
// and events as sets, without counts; what differed between recordings not at all.
void CompareStep(const Case& recorded, size_t step, const Dump& dump,
                 const apis::json::Value& response, std::vector<Difference>& out);

}  // namespace hekla::ray_conformance
