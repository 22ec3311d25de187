#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pkg/sim/auditor.h"
#include "pkg/sim/faults/fault_transport.h"

namespace hekla::sim {

// One run of a random cluster against the scheduler under faults. Everything follows from the seed.
struct FuzzOptions {
  uint64_t seed = 1;
  int steps = 400;
  // Off: a well-behaved network and no restarts; the auditor then checks gangs, too.
  bool faults = true;
};

struct FuzzOutcome {
  int64_t steps = 0;
  int64_t faults = 0;
  int64_t bindings = 0;
  int64_t cycles = 0;
  std::vector<Violation> violations;
  std::vector<std::string>
      trail;  // what was done, one line per step, for the one who has to find out
};

// Drives workload (gangs that arrive, grow, end, are deleted), nodes (added, cordoned, shrunk,
// lost), queues (made, re-weighted), faults (FaultPlan drawn from the seed, lost watch history,
// broken connections, scheduler killed and restarted) for `steps` steps, audits after every one;
// then lets faults stop and checks that nothing feasible stays pending. Source: design.md sections
// 6 and 8.
FuzzOutcome RunFuzz(const FuzzOptions& options);

// The line that repeats the run.
std::string Reproduction(const FuzzOptions& options);

}  // namespace hekla::sim
