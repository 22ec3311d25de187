#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace hekla::cmd::heklactl {

using Arguments = std::vector<std::string>;

// One subcommand of heklactl; each lives in a source of its own.
struct Subcommand {
  absl::string_view name;
  absl::string_view help;  // one line
  // Arguments behind the subcommand's name; returns the exit code: 0, 1 (failed), 2 (bad input).
  int (*run)(const Arguments& arguments);
};

int RunPlayground(const Arguments& arguments);
int RunSimulate(const Arguments& arguments);
int RunHollowNodes(const Arguments& arguments);
int RunExplain(const Arguments& arguments);
int RunFuzz(const Arguments& arguments);

}  // namespace hekla::cmd::heklactl
