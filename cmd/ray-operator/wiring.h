#pragma once

#include "absl/status/status.h"
#include "cmd/ray-operator/options.h"

namespace hekla::cmd::ray_operator {

// Reads the file of --config, if there is one, in place of what the flags said.
// Errors: kNotFound, kInvalidArgument, with the file's name.
absl::Status ReadConfigFile(Options& options);

// Puts threads, sockets and signals around the operator's objects and runs them until SIGTERM or
// SIGINT; a second signal ends the process at once.
// Returns the exit code: 0 stopped in order; 1 it cannot run (configuration, API server, an address
// in use), the lease is lost, or reconciles did not end in 30 s.
int RunOperator(const Options& options);

}  // namespace hekla::cmd::ray_operator
