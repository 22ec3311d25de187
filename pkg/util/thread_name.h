#pragma once

#include <string>

namespace hekla::util {

// Names the calling thread; tools show the first 15 characters.
void SetThreadName(const std::string& name);

}  // namespace hekla::util
