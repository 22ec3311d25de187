// The scheduler under virtual time, a bad network and a cluster that does not keep still.
//   HEKLA_SIMULATION_STEPS  steps in all (260000)
//   HEKLA_SIMULATION_SEEDS  runs among which they are divided (125)
//   HEKLA_SIMULATION_FIRST  seed of the first run (1)
//   HEKLA_SIMULATION_SHRINK runs with which the first failing one is shrunk (0); the script is
//   printed
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "glog/logging.h"
#include "pkg/sim/fuzz.h"
#include "pkg/sim/shrink.h"

namespace hekla::sim {
namespace {

int64_t FromEnvironment(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  int64_t value = fallback;
  if (text != nullptr && !absl::SimpleAtoi(text, &value)) return fallback;
  return value;
}

void ShrinkAndPrint(FuzzOptions options, int runs) {
  options.record = true;
  const Shrunk shrunk = ShrinkFailure(RunFuzz(options), runs);
  std::cout << "shrunk in " << shrunk.runs << " runs to\n" << shrunk.script.ToText();
  const FuzzOutcome outcome = PlayScript(shrunk.script);
  for (const std::string& line : outcome.trail) std::cout << line << "\n";
  for (const Violation& v : outcome.violations) {
    std::cout << absl::FormatTime("%H:%M:%E6S", v.time, absl::UTCTimeZone()) << " " << v.rule
              << ": " << v.text << "\n";
  }
}

// Every third or so of the runs has two schedulers, every sixth a quiet network; see DrawShape.
TEST(SimulationTest, NothingIsFound) {
  const int64_t steps = FromEnvironment("HEKLA_SIMULATION_STEPS", 260000);
  const int64_t seeds =
      FromEnvironment("HEKLA_SIMULATION_SEEDS", std::min<int64_t>(125, steps / 200 + 1));
  const auto first = static_cast<uint64_t>(FromEnvironment("HEKLA_SIMULATION_FIRST", 1));
  int64_t shrink = FromEnvironment("HEKLA_SIMULATION_SHRINK", 0);
  FLAGS_minloglevel = 3;  // what goes wrong is meant to
  const absl::Time start = absl::Now();
  FuzzOutcome sum;
  for (uint64_t seed = first; seed < first + static_cast<uint64_t>(seeds); ++seed) {
    FuzzOptions options;
    options.seed = seed;
    options.steps = static_cast<int>(steps / seeds);
    options.faults = seed % 6 != 0;
    const FuzzOutcome outcome = RunFuzz(options);
    EXPECT_EQ(Findings(options, outcome), "");
    if (!outcome.violations.empty() && shrink > 0) {
      ShrinkAndPrint(options, static_cast<int>(std::exchange(shrink, 0)));
    }
    sum.steps += outcome.steps;
    sum.faults += outcome.faults;
    sum.bindings += outcome.bindings;
    sum.cycles += outcome.cycles;
    sum.leaders += outcome.leaders;
    sum.settling_cycles = std::max(sum.settling_cycles, outcome.settling_cycles);
    if (!outcome.violations.empty()) break;
  }
  std::cout << seeds << " seeds, " << sum.steps << " steps, " << sum.faults << " faults, "
            << sum.cycles << " cycles, " << sum.bindings << " bindings, " << sum.leaders
            << " changes of the leader, at most " << sum.settling_cycles << " cycles to settle, in "
            << absl::Now() - start << "\n";
  if (HasFailure()) return;
  // The runs are worth something: calls failed, leaders changed, and pods were bound all the same.
  EXPECT_GE(sum.steps, steps - seeds);
  EXPECT_GT(sum.faults, sum.steps / 10);
  EXPECT_GT(sum.bindings, sum.steps / 10);
  if (seeds >= 10) {
    EXPECT_GT(sum.leaders, seeds / 2);
  }
}

}  // namespace
}  // namespace hekla::sim
