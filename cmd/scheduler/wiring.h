#pragma once

#include "cmd/scheduler/options.h"

namespace hekla::cmd::scheduler {

// Puts threads, sockets and signals around the scheduler's objects and runs them until SIGTERM or
// SIGINT; a second signal ends the process at once.
// Returns the exit code: 0 stopped in order; 1 it cannot run (API server's configuration, an
// address in use, leadership lost); 2 the scheduler's configuration is wrong.
int RunScheduler(const Options& options);

}  // namespace hekla::cmd::scheduler
