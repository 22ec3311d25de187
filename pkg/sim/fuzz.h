#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pkg/sim/auditor.h"
#include "pkg/sim/faults/fault_book.h"
#include "pkg/sim/storm.h"

namespace hekla::sim {

// Everything that happened in a run, so that it can be played again, or parts of it. As text: one
// JSON object per line, the seed first.
struct Script {
  uint64_t seed = 1;
  bool faults = true;
  std::vector<Action> actions;
  std::vector<PlacedFault> placed_faults;

  std::string ToText() const;
  // Errors: kInvalidArgument naming the line.
  static absl::StatusOr<Script> Parse(absl::string_view text);
};

// One run of a random cluster against the scheduler under faults. Everything follows from the seed.
struct FuzzOptions {
  uint64_t seed = 1;
  int steps = 400;
  // Off: a well-behaved network and no restarts; the auditor then checks that gangs arrive whole.
  bool faults = true;
  bool record = false;  // the outcome has a script
};

struct FuzzOutcome {
  int64_t steps = 0;  // things that happened, each followed by an audit
  int64_t faults = 0;
  int64_t bindings = 0;
  int64_t cycles = 0;
  int64_t leaders = 0;  // how often the lease changed hands
  int64_t settling_cycles = 0;
  std::vector<Violation> violations;
  // What was done, one line per step, for the one who has to find out.
  std::vector<std::string> trail;
  Script script;
};

// Drives workload (gangs that arrive, grow, end, are deleted), nodes (added, cordoned, lost,
// flapping, resized), queues (made, re-weighted, capped, deleted), configurations, faults (a plan
// drawn from the seed, an API server that restarts and forgets, broken connections, schedulers that
// are killed, stand still, stand for election) for `steps` steps, audits after every one; then lets
// faults stop and checks that nothing feasible stays pending. Source: design.md sections 6 and 8.
FuzzOutcome RunFuzz(const FuzzOptions& options);
// Plays what a run has recorded, or what is left of it.
FuzzOutcome PlayScript(const Script& script);

// The line that repeats the run.
std::string Reproduction(const FuzzOptions& options);
// One line per finding, and the one that repeats the run; "" where nothing was found.
std::string Findings(const FuzzOptions& options, const FuzzOutcome& outcome);

}  // namespace hekla::sim
