#pragma once

#include <cstdlib>
#include <filesystem>

namespace hekla::util::testing {

// Where recordings of upstream's behaviour may lie, which are no part of the repository: the folder
// that HEKLA_SHARED names, else ../shared beside the repository. It need not exist.
inline std::filesystem::path SharedFolder() {
  const char* folder = std::getenv("HEKLA_SHARED");
  return folder != nullptr ? folder : "../shared";
}

}  // namespace hekla::util::testing
