#include <iostream>
#include <string>
#include <vector>

#include "cmd/heklactl/subcommands.h"
#include "pkg/util/build_info.h"

namespace {

using hekla::cmd::heklactl::Subcommand;

constexpr Subcommand kSubcommands[] = {
    {"playground", "API server, hollow nodes and scheduler in one process, for kubectl",
     hekla::cmd::heklactl::RunPlayground},
    {"simulate", "schedule manifests or a trace in simulated time, with the production code",
     hekla::cmd::heklactl::RunSimulate},
    {"explain", "why a pod or PodGroup waits: from the running scheduler, or from manifests",
     hekla::cmd::heklactl::RunExplain},
    {"hollow-nodes",
     "nodes without machines for any API server; their pods run as far as it can see",
     hekla::cmd::heklactl::RunHollowNodes},
    {"fuzz", "random clusters under faults in simulated time, audited after every step",
     hekla::cmd::heklactl::RunFuzz},
};

void PrintUsage(std::ostream& out) {
  out << "Usage: heklactl <command> [flags]\n\nCommands:\n";
  for (const Subcommand& command : kSubcommands) {
    out << "  " << command.name << std::string(14 - command.name.size(), ' ') << command.help
        << "\n";
  }
  out << "  version       versions of this program\n\n'heklactl <command> --help' lists its "
         "flags.\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string name = arguments.empty() ? "" : arguments[0];
  if (name == "version" || name == "--version") {
    std::cout << hekla::util::VersionText();
    return 0;
  }
  if (name == "help" || name == "--help" || name == "-h") {
    PrintUsage(std::cout);
    return 0;
  }
  for (const Subcommand& command : kSubcommands) {
    if (name == command.name) return command.run({arguments.begin() + 1, arguments.end()});
  }
  if (!name.empty()) std::cerr << "heklactl: unknown command \"" << name << "\"\n";
  PrintUsage(std::cerr);
  return 2;
}
