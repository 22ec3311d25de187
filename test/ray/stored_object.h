#pragma once

#include <string>
#include <vector>

#include "pkg/apis/json/value.h"

namespace hekla::ray {

// Where an object as we send it and the same object as a server stored it disagree. What the
// server fills in (defaults, addresses, status) may stand there in addition.
std::vector<std::string> DifferencesFromStored(apis::json::Value sent, apis::json::Value stored);

}  // namespace hekla::ray
