#include <iostream>
#include <string>
#include <vector>

#include "cmd/ray-operator/log_writer.h"
#include "cmd/ray-operator/options.h"
#include "cmd/ray-operator/wiring.h"
#include "pkg/util/build_info.h"

namespace ray_operator = hekla::cmd::ray_operator;

int main(int argc, char** argv) {
  absl::StatusOr<ray_operator::Options> options =
      ray_operator::ParseOptions(std::vector<std::string>(argv + 1, argv + argc));
  if (!options.ok()) {
    std::cerr << "Error: " << options.status().message() << "\n" << ray_operator::Usage();
    return 2;
  }
  if (options->help) {
    std::cout << ray_operator::Usage();
    return 0;
  }
  if (options->version) {
    std::cout << hekla::util::VersionText();
    return 0;
  }
  if (const absl::Status read = ray_operator::ReadConfigFile(*options); !read.ok()) {
    std::cerr << "Error: " << read.message() << "\n";
    return 1;
  }
  if (const absl::Status log = ray_operator::StartOperatorLog(*options); !log.ok()) {
    std::cerr << "Error: " << log.message() << "\n";
    return 1;
  }
  return ray_operator::RunOperator(*options);
}
