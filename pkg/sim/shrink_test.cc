#include "pkg/sim/shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hekla::sim {
namespace {

using testing::HasSubstr;

Script Numbers(int count) {
  Script script;
  for (int i = 0; i < count; ++i) {
    script.actions.push_back(Action::MakeObject({{"do", "wait"}, {"number", i}, {"after", 20}}));
  }
  return script;
}

bool Has(const Script& script, int number) {
  for (const Action& action : script.actions) {
    if (action.GetInt("number") == number) return true;
  }
  return false;
}

TEST(ShrinkTest, FindsTheThreeOfAThousandThatMatter) {
  ShrinkOptions options;
  options.fails = [](const Script& s) { return Has(s, 17) && Has(s, 400) && Has(s, 999); };
  const Shrunk shrunk = Shrink(Numbers(1000), options);
  ASSERT_EQ(shrunk.script.actions.size(), 3u) << shrunk.script.ToText();
  EXPECT_TRUE(options.fails(shrunk.script));
  EXPECT_EQ(shrunk.script.actions[0].GetInt("after"), 1);
  EXPECT_LT(shrunk.runs, 300);
}

TEST(ShrinkTest, KeepsTheFaultThatMatters) {
  Script script = Numbers(10);
  for (int i = 0; i < 50; ++i) {
    script.placed_faults.push_back({absl::StrCat("GET /x #", i), {FaultKind::kRefused}});
  }
  ShrinkOptions options;
  options.fails = [](const Script& s) {
    for (const PlacedFault& fault : s.placed_faults) {
      if (fault.place == "GET /x #31") return Has(s, 5);
    }
    return false;
  };
  const Shrunk shrunk = Shrink(script, options);
  EXPECT_EQ(shrunk.script.actions.size(), 1u);
  EXPECT_EQ(shrunk.script.placed_faults.size(), 1u);
}

TEST(ShrinkTest, AnswersWithAFailingScriptWhenItsRunsAreUsedUp) {
  ShrinkOptions options;
  options.most_runs = 10;
  options.fails = [](const Script& s) { return Has(s, 3); };
  const Shrunk shrunk = Shrink(Numbers(1000), options);
  EXPECT_EQ(shrunk.runs, 10);
  EXPECT_TRUE(Has(shrunk.script, 3));
}

// Somebody binds a pod behind the scheduler's back, in the middle of a storm of a hundred steps.
TEST(ShrinkTest, APlantedBindingIsFoundAndShrunkToAFewLines) {
  FuzzOptions options;
  options.seed = 5;
  options.steps = 100;
  options.record = true;
  FuzzOutcome outcome = RunFuzz(options);
  ASSERT_TRUE(outcome.violations.empty());
  Script script = outcome.script;
  // Larger than any node, so that the scheduler leaves it alone.
  script.actions.push_back(
      *apis::json::Parse(R"({"do":"pod","name":"prey","milli":1000000,"run":0})"));
  script.actions.push_back(
      *apis::json::Parse(R"({"do":"bind","name":"prey","node":"n0","after":20})"));
  outcome = PlayScript(script);
  ASSERT_FALSE(outcome.violations.empty());
  EXPECT_EQ(outcome.violations.front().rule, "undecided");
  EXPECT_GT(script.placed_faults.size(), 20u);

  outcome.script = script;
  const Shrunk shrunk = ShrinkFailure(outcome);
  EXPECT_LE(shrunk.script.actions.size(), 2u) << shrunk.script.ToText();
  EXPECT_TRUE(shrunk.script.placed_faults.empty()) << shrunk.script.ToText();

  const auto read = Script::Parse(shrunk.script.ToText());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(PlayScript(*read).violations.front().rule, "undecided");
}

TEST(ScriptTest, WhatWasRecordedPlaysAsItRan) {
  FuzzOptions options;
  options.seed = 11;
  options.steps = 80;
  options.record = true;
  const FuzzOutcome ran = RunFuzz(options);
  const auto script = Script::Parse(ran.script.ToText());
  ASSERT_TRUE(script.ok()) << script.status();
  const FuzzOutcome played = PlayScript(*script);
  EXPECT_EQ(ran.trail, played.trail);
  EXPECT_EQ(ran.faults, played.faults);
  EXPECT_EQ(ran.bindings, played.bindings);
  EXPECT_EQ(ran.cycles, played.cycles);
}

TEST(ScriptTest, AWrongLineIsNamed) {
  const auto error = [](absl::string_view text) {
    return std::string(Script::Parse(text).status().message());
  };
  EXPECT_EQ(error(""), "an empty script");
  EXPECT_THAT(error("{\"do\":\"wait\"}"), HasSubstr("line 1: the first line must have a seed"));
  EXPECT_THAT(error("# x\n{\"seed\":1}\n{\"fault\":\"odd\",\"at\":\"x\"}"),
              HasSubstr("line 3: not a fault"));
  EXPECT_THAT(error("{\"seed\":1}\n{"), HasSubstr("line 2: "));
}

}  // namespace
}  // namespace hekla::sim
