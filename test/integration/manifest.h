#pragma once

#include <string>
#include <vector>

#include "pkg/apis/json/value.h"

namespace hekla::test {

// The objects of a YAML file, by its path from the repository's root.
std::vector<apis::json::Value> ObjectsIn(const std::string& path);

}  // namespace hekla::test
