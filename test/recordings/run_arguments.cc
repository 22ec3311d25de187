#include "test/recordings/run_arguments.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "pkg/util/testing/shared_folder.h"

namespace hekla::recordings {
namespace {

std::vector<std::string> SharedFiles(const Program& program) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator(util::testing::SharedFolder() / program.folder, error)) {
    if (entry.path().extension() == program.extension) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::optional<int> ReadArguments(const Program& program, int argc, char** argv, RunArguments& out) {
  out.differences = program.differences;
  bool shared = false, bad = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--differences" && i + 1 < argc) {
      out.differences = argv[++i];
      out.differences_given = true;
    } else if (program.takes_only && argument == "--only" && i + 1 < argc) {
      out.only = argv[++i];
    } else if (argument == "-v") {
      out.verbose = true;
    } else if (argument == "--shared") {
      shared = true;
    } else if (!argument.empty() && argument[0] == '-') {
      bad = true;
    } else {
      out.files.push_back(argument);
    }
  }
  if (shared && !bad) {
    out.files = SharedFiles(program);
    if (out.files.empty()) {
      std::cout << "recordings are not present\n";
      return 0;
    }
  }
  if (bad || out.files.empty()) {
    std::cerr << program.usage << "\n";
    return 2;
  }
  return std::nullopt;
}

}  // namespace hekla::recordings
