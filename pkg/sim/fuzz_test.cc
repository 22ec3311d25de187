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

// All pods are listed anew, slowly; meanwhile a condition is written into one (another node does
// not fit it either), and then it is deleted. The list comes without it, and so does the next node.
TEST(FuzzTest, APodThatGoesDuringAListIsGone) {
  const auto script = Script::Parse(R"({"seed":1,"faults":true}
{"do":"queue","name":"q1","weight":1,"after":300}
{"do":"node","name":"n1","cpu":1,"after":300}
{"do":"gang","name":"g1","min":1,"milli":3000,"run":[0],"after":1000}
{"do":"history","after":1}
{"do":"connections","after":1500}
{"do":"node","name":"n2","cpu":1,"after":500}
{"do":"delete-pod","name":"g1-0","after":9000}
{"do":"node","name":"n3","cpu":8,"after":5000}
{"fault":"stream-broken","at":"CHUNK /api/v1/pods #5"}
{"fault":"slow","at":"GET /api/v1/pods #1","us":4500000}
)");
  ASSERT_TRUE(script.ok()) << script.status();
  const FuzzOutcome outcome = PlayScript(*script);
  ASSERT_EQ(outcome.faults, 2);
  for (const Violation& v : outcome.violations) ADD_FAILURE() << v.rule << ": " << v.text;
}

}  // namespace
}  // namespace hekla::sim
