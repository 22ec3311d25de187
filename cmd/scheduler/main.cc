#include <iostream>
#include <string>
#include <vector>

#include "cmd/scheduler/options.h"
#include "cmd/scheduler/wiring.h"
#include "pkg/util/build_info.h"
#include "pkg/util/logging.h"

namespace scheduler = hekla::cmd::scheduler;

int main(int argc, char** argv) {
  const absl::StatusOr<scheduler::Options> options =
      scheduler::ParseOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!options.ok()) {
    std::cerr << "Error: " << options.status().message() << "\n" << scheduler::Usage();
    return 2;
  }
  if (options->help) {
    std::cout << scheduler::Usage();
    return 0;
  }
  if (options->version) {
    std::cout << hekla::util::VersionText();
    return 0;
  }
  if (const absl::Status valid = scheduler::ValidateOptions(*options); !valid.ok()) {
    std::cerr << "Error: " << valid.message() << "\n";
    return 1;
  }
  hekla::util::StartLogging(argv[0], options->log);
  return scheduler::RunScheduler(*options);
}
