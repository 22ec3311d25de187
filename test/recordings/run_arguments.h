#pragma once

#include <optional>
#include <string>
#include <vector>

// Command line of a program that plays recordings:
//   NAME [--differences F] [-v] [--only CASE] [--shared] FILE...
namespace hekla::recordings {

struct RunArguments {
  std::vector<std::string> files;
  std::string differences;  // file of the listed cases
  bool differences_given = false;
  bool verbose = false;
  std::string only;  // one case; "": all
};

struct Program {
  std::string usage;        // "usage: ..."
  std::string differences;  // where --differences is not given
  std::string folder;       // of the shared recordings, below SharedFolder()
  std::string extension;    // of a recording
  bool takes_only = false;
};

// Reads them; with --shared the files are those of the folder, sorted. Returns the exit code where
// the program is over already: 2 with the usage text, 0 where the shared recordings are absent.
std::optional<int> ReadArguments(const Program& program, int argc, char** argv, RunArguments& out);

}  // namespace hekla::recordings
