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

std::string Played(absl::string_view text, int64_t faults) {
  const auto script = Script::Parse(text);
  if (!script.ok()) return script.status().ToString();
  const FuzzOutcome outcome = PlayScript(*script);
  EXPECT_EQ(outcome.faults, faults);
  std::string found;
  for (const Violation& v : outcome.violations) absl::StrAppend(&found, v.rule, ": ", v.text, "\n");
  return found;
}

// The word of a node's end is under way when the process stops, and arrives while it stands still.
TEST(FuzzTest, WhatIsLateWhenAProcessStopsIsNotKnownWhenItGoesOn) {
  EXPECT_EQ(Played(R"({"seed":19,"faults":true}
{"do":"node","name":"n0","cpu":8}
{"do":"node","name":"n1","cpu":8}
{"do":"node","name":"n2","cpu":2}
{"do":"kill","life":0,"after":1}
{"do":"cordon","name":"n1","after":1}
{"do":"down","name":"n1","after":1}
{"do":"node","name":"n6","cpu":4,"after":1}
{"do":"gang","name":"g15","min":3,"milli":1000,"run":[31,54,24,0],"after":30000}
{"do":"cordon","name":"n1","after":1}
{"do":"node","name":"n16","cpu":5,"after":1}
{"do":"gang","name":"g19","min":1,"milli":1500,"run":[38],"after":30000}
{"do":"node","name":"n20","cpu":6,"after":1}
{"do":"remove-node","name":"n20","after":1}
{"do":"wait","after":300}
{"do":"freeze","life":0,"ms":11115,"after":1}
{"do":"pod","name":"p31","milli":500,"run":31,"after":30000}
{"fault":"stream-lag","at":"CHUNK /api/v1/nodes #20","us":2818739}
)",
                   1),
            "");
}

// All pods are listed anew, slowly; meanwhile a condition is written into one (another node does
// not fit it either), and then it is deleted. The list comes without it, and so does the next node.
TEST(FuzzTest, APodThatGoesDuringAListIsGone) {
  EXPECT_EQ(Played(R"({"seed":1,"faults":true}
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
)",
                   2),
            "");
}

}  // namespace
}  // namespace hekla::sim
