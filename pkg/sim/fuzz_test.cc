#include "pkg/sim/fuzz.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace hekla::sim {
namespace {

// More of it runs in test/simulation.
TEST(FuzzTest, NothingIsFoundUnderFaults) {
  FuzzOutcome sum;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    FuzzOptions options;
    options.seed = seed;
    options.steps = 60;
    const FuzzOutcome outcome = RunFuzz(options);
    EXPECT_EQ(Findings(options, outcome), "");
    EXPECT_GE(outcome.steps, 60);
    sum.faults += outcome.faults;
    sum.bindings += outcome.bindings;
    sum.leaders += outcome.leaders;
  }
  // The runs are worth something: calls did fail, leaders changed, and pods were bound all the
  // same.
  EXPECT_GT(sum.faults, 300);
  EXPECT_GT(sum.bindings, 100);
  EXPECT_GT(sum.leaders, 2);
}

TEST(FuzzTest, GangsAreWholeOnAQuietNetwork) {
  for (uint64_t seed = 101; seed <= 104; ++seed) {
    FuzzOptions options;
    options.seed = seed;
    options.steps = 60;
    options.faults = false;
    EXPECT_EQ(Findings(options, RunFuzz(options)), "");
  }
}

TEST(FuzzTest, TheSameSeedIsTheSameRun) {
  for (const uint64_t seed : {7, 8}) {
    FuzzOptions options;
    options.seed = seed;
    options.steps = 40;
    const FuzzOutcome a = RunFuzz(options), b = RunFuzz(options);
    EXPECT_EQ(a.trail, b.trail);
    EXPECT_EQ(a.faults, b.faults);
    EXPECT_EQ(a.bindings, b.bindings);
    EXPECT_EQ(a.cycles, b.cycles);
  }
}

}  // namespace
}  // namespace hekla::sim
