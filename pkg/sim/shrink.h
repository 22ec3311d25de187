#pragma once

#include <functional>

#include "pkg/sim/fuzz.h"

namespace hekla::sim {

struct ShrinkOptions {
  // Whether the script still shows what is looked for.
  std::function<bool(const Script&)> fails;
  int most_runs = 500;
};

struct Shrunk {
  Script script;  // fails, too
  int runs = 0;
};

// Leaves out of a failing script what it does not need: whole stretches of actions and faults
// first, then single ones (delta debugging), then members of gangs and pauses. What is left fails,
// and with `most_runs` not used up nothing of it can be left out alone.
Shrunk Shrink(Script script, const ShrinkOptions& options);

// As above for a script that was recorded: it fails as long as the first rule that was broken is.
Shrunk ShrinkFailure(const FuzzOutcome& outcome, int most_runs = 500);

}  // namespace hekla::sim
