#include "pkg/sim/ray/ray_fuzz.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hekla::sim {
namespace {

// The sanitizers take ten times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int64_t kSteps = 10000;
constexpr int kClusters = 50;
#else
constexpr int64_t kSteps = 200000;
constexpr int kClusters = 1000;
#endif

std::string Findings(const RayFuzzOptions& options, const RayFuzzOutcome& outcome) {
  std::string text;
  for (const Violation& v : outcome.violations) absl::StrAppend(&text, v.rule, ": ", v.text, "\n");
  if (!text.empty()) absl::StrAppend(&text, "again: ", RayReproduction(options), "\n");
  return text;
}

// HEKLA_RAY_FUZZ_STEPS asks for more, HEKLA_RAY_FUZZ_SEED for other runs.
int64_t FromEnvironment(const char* name, int64_t fallback) {
  const char* text = std::getenv(name);
  int64_t value = fallback;
  if (text != nullptr && !absl::SimpleAtoi(text, &value)) return fallback;
  return value;
}

TEST(RayFuzzTest, NothingIsFoundUnderFaults) {
  const int64_t wanted = FromEnvironment("HEKLA_RAY_FUZZ_STEPS", kSteps);
  const auto before = static_cast<uint64_t>(FromEnvironment("HEKLA_RAY_FUZZ_SEED", 1)) - 1;
  int64_t steps = 0, faults = 0, pods = 0, lives = 0;
  uint64_t seed = before;
  while (steps < wanted) {
    RayFuzzOptions options;
    options.seed = ++seed;
    const RayFuzzOutcome outcome = RunRayFuzz(options);
    EXPECT_EQ(Findings(options, outcome), "");
    steps += outcome.steps;
    faults += outcome.faults;
    pods += outcome.pods;
    lives += outcome.lives;
  }
  // The runs are worth something: calls failed, operators died, and pods were made all the same.
  EXPECT_GT(faults, kSteps / 200);
  EXPECT_GT(lives, static_cast<int64_t>(seed - before));
  EXPECT_GT(pods, kSteps / 400);
  std::cout << seed - before << " seeds, " << steps << " steps, " << faults << " faults, " << lives
            << " lives, " << pods << " pods\n";
}

// Seed 324: a group was dropped whose last pod had not shown yet; its expectation woke the cluster
// every millisecond, for ever.
TEST(RayFuzzTest, ADroppedGroupDoesNotKeepTheOperatorBusy) {
  RayFuzzOptions options;
  options.seed = 324;
  EXPECT_LT(RunRayFuzz(options).steps, 100000);
}

TEST(RayFuzzTest, NothingIsFoundOnAQuietNetwork) {
  for (uint64_t seed = 1001; seed <= 1005; ++seed) {
    RayFuzzOptions options;
    options.seed = seed;
    options.faults = false;
    EXPECT_EQ(Findings(options, RunRayFuzz(options)), "");
  }
}

TEST(RayFuzzTest, TheSameSeedIsTheSameRun) {
  RayFuzzOptions options;
  options.seed = 7;
  options.actions = 40;
  const RayFuzzOutcome first = RunRayFuzz(options);
  const RayFuzzOutcome second = RunRayFuzz(options);
  EXPECT_EQ(first.trail, second.trail);
  EXPECT_EQ(first.steps, second.steps);
}

// A thousand clusters at once, the operator killed in the middle, twenty times at another place.
TEST(RayFuzzTest, AKilledOperatorEndsWhereOneThatLivesDoes) {
  const std::vector<std::string> expected = EndStateOfCreation(kClusters, 0, 1);
  // Per cluster: itself, a service, a head and two workers.
  ASSERT_EQ(expected.size(), 5u * kClusters);
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    // Four calls and more per cluster.
    const int64_t kill_after = 7 + static_cast<int64_t>(seed) * kClusters / 5;
    EXPECT_TRUE(EndStateOfCreation(kClusters, kill_after, seed) == expected)
        << "killed after call " << kill_after << ", seed " << seed;
  }
}

}  // namespace
}  // namespace hekla::sim
