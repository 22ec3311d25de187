#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pkg/sim/auditor.h"

namespace hekla::sim {

// One run of random RayClusters against the operator under faults. Everything follows from the
// seed.
struct RayFuzzOptions {
  uint64_t seed = 1;
  // Things that happen to the cluster; the operator's own steps in between are counted too.
  int actions = 120;
  bool faults = true;
  // Clusters with autoscaling, TLS and NetworkPolicies, and a batch scheduler drawn from the seed.
  bool extras = true;
};

struct RayFuzzOutcome {
  // Executor tasks and reconciles; every change is audited in between.
  int64_t steps = 0;
  int64_t reconciles = 0;
  int64_t faults = 0;
  int64_t lives = 0;                        // of the operator
  int64_t leaders = 0;                      // how often the lease changed hands
  int64_t pods = 0;                         // made
  std::map<std::string, int64_t> children;  // what is left in the end, by kind
  std::vector<Violation> violations;
  std::vector<std::string> trail;
};

// Clusters arrive, scale, suspend, change their templates, end; pods run, fail, are evicted, lose
// their node; calls meet conflicts, failures with and without effect; watches lag and break; the
// operator is killed after any call or stands still, with a standby that takes over its lease or a
// new one.
// Then faults stop and it is checked that the world is as it should be.
RayFuzzOutcome RunRayFuzz(const RayFuzzOptions& options);

// The line that repeats the run.
std::string RayReproduction(const RayFuzzOptions& options);

}  // namespace hekla::sim
