#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "glog/logging.h"

namespace hekla::util::testing {

// A new, empty folder for one test, removed with all it holds.
class TempFolder {
 public:
  TempFolder() : path_(std::filesystem::temp_directory_path() / "hekla-XXXXXX") {
    PCHECK(::mkdtemp(path_.data()) != nullptr) << path_;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace hekla::util::testing
