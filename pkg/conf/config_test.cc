#include "pkg/conf/config.h"

#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hekla::conf {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const Known& Names() {
  static const Known* const known =
      new Known{.actions = {"enqueue", "allocate", "backfill"},
                .plugins = {"gang", "drf", "proportion", "binpack", "priority", "conformance",
                            "overcommit", "predicates", "nodeorder"}};
  return *known;
}

Config Parsed(absl::string_view text) {
  absl::StatusOr<Config> config = ParseConfig(text, "s.conf", Names());
  EXPECT_TRUE(config.ok()) << config.status();
  return config.ok() ? *std::move(config) : Config();
}

std::string ErrorOf(absl::string_view text) {
  return std::string(ParseConfig(text, "s.conf", Names()).status().message());
}

TEST(ConfigTest, BuiltInIsUpstreamsDefaultAndTheShippedFile) {
  const Config config = Parsed(BuiltInConfigText());
  EXPECT_THAT(config.actions, ElementsAre("enqueue", "allocate", "backfill"));
  ASSERT_EQ(config.tiers.size(), 2u);
  EXPECT_EQ(config.tiers[0].size(), 3u);
  EXPECT_EQ(config.tiers[1].size(), 5u);
  EXPECT_EQ(config.tiers[1][4].name, "nodeorder");
  EXPECT_THAT(config.warnings, IsEmpty());

  std::stringstream shipped;
  shipped << std::ifstream("config/scheduler/volcano-scheduler.conf").rdbuf();
  EXPECT_THAT(shipped.str(), HasSubstr(std::string(BuiltInConfigText())));
}

// Spec scheduler-core E22.
TEST(ConfigTest, ActionsAreTrimmedAndCaseSensitive) {
  EXPECT_THAT(Parsed("actions: \"allocate , backfill\"").actions,
              ElementsAre("allocate", "backfill"));
  EXPECT_EQ(ErrorOf("actions: \"enqueue, allocate,\""),
            "s.conf:1: actions: failed to find Action ; accepted: enqueue, allocate, backfill");
  EXPECT_THAT(ErrorOf("\nactions: Allocate"),
              HasSubstr("s.conf:2: actions: failed to find Action Allocate;"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("failed to find Action ;"));
  EXPECT_THAT(ErrorOf("actions: preempt"), HasSubstr("Action preempt (not supported yet);"));
}

TEST(ConfigTest, PluginFlagsAndArguments) {
  const Config config = Parsed(R"(
actions: allocate
tiers:
- plugins:
  - name: gang
    enablePreemptable: false
    enableHierarchy: yes
    enabledOverused: false
  - name: binpack
    arguments:
      binpack.weight: 10
)");
  const framework::PluginOption& gang = config.tiers[0][0];
  EXPECT_FALSE(gang.enabled.preemptable);
  EXPECT_TRUE(gang.enabled.hierarchy);
  EXPECT_FALSE(gang.enabled.overused);
  EXPECT_TRUE(gang.enabled.job_order);
  EXPECT_FALSE(gang.enabled.cluster_order);
  EXPECT_EQ(config.tiers[0][1].arguments.values().GetInt("binpack.weight"), 10);
  EXPECT_THAT(config.warnings, IsEmpty());
}

TEST(ConfigTest, UnknownPluginIsAnErrorWithPlaceAndAcceptedNames) {
  EXPECT_EQ(ErrorOf("actions: allocate\ntiers:\n- plugins:\n  - name: gnag\n"),
            "s.conf:4: tiers[0].plugins[0].name: failed to find plugin gnag; accepted: gang, drf, "
            "proportion, binpack, priority, conformance, overcommit, predicates, nodeorder");
  EXPECT_THAT(ErrorOf("actions: allocate\ntiers:\n- plugins:\n  - name: tdm\n"),
              HasSubstr("plugin tdm (not supported yet);"));
}

TEST(ConfigTest, WrongTypesAreErrorsWithPlace) {
  EXPECT_EQ(ErrorOf("actions: [allocate]"), "s.conf:1: actions: is a list, accepted: a string");
  EXPECT_EQ(ErrorOf("actions: allocate\ntiers: 3"),
            "s.conf:2: tiers: is a number, accepted: a list");
  EXPECT_EQ(ErrorOf("actions: allocate\ntiers:\n- plugins:\n  - name: gang\n"
                    "    enableJobOrder: \"yes\"\n"),
            "s.conf:5: tiers[0].plugins[0].enableJobOrder: is a string, accepted: true or false");
  EXPECT_EQ(ErrorOf("- a"), "s.conf:1: is a list, accepted: a map");
  EXPECT_THAT(ErrorOf("actions: allocate\ntiers: ["), HasSubstr("s.conf: "));
}

TEST(ConfigTest, QuirkWrongPrefixIsIgnoredButReported) {
  const Config config = Parsed(
      "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n    enableOverused: false\n"
      "    enabledJobOrder: false\n    enableNothing: true\n");
  EXPECT_TRUE(config.tiers[0][0].enabled.overused);
  EXPECT_TRUE(config.tiers[0][0].enabled.job_order);
  EXPECT_THAT(
      config.warnings,
      ElementsAre("s.conf:5: tiers[0].plugins[0].enableOverused: without effect, the key is "
                  "enabledOverused",
                  "s.conf:6: tiers[0].plugins[0].enabledJobOrder: without effect, the key is "
                  "enableJobOrder",
                  "s.conf:7: tiers[0].plugins[0].enableNothing: unknown key, without effect"));
}

TEST(ConfigTest, HierarchyBesideProportion) {
  const std::string drf = "  - name: drf\n    enableHierarchy: true\n";
  EXPECT_EQ(ErrorOf("actions: allocate\ntiers:\n- plugins:\n" + drf + "  - name: proportion\n"),
            "s.conf:3: tiers[0]: proportion and drf with hierarchy enabled conflicts");
  EXPECT_EQ(
      Parsed("actions: allocate\ntiers:\n- plugins:\n" + drf + "- plugins:\n  - name: proportion\n")
          .warnings.size(),
      1u);
}

TEST(ConfigTest, FirstConfigurationOfAnActionWins) {
  const Config config = Parsed(
      "actions: allocate\nmetrics: {type: prometheus, interval: 30}\nconfigurations:\n"
      "- name: allocate\n  arguments: {a: 1}\n- name: allocate\n  arguments: {a: 2}\n");
  EXPECT_EQ(config.ArgumentsOf("allocate").values().GetInt("a"), 1);
  EXPECT_TRUE(config.ArgumentsOf("backfill").values().is_null());
  EXPECT_THAT(config.metrics, ElementsAre(Pair("interval", "30"), Pair("type", "prometheus")));
}

TEST(ConfigTest, UnknownTopLevelKeysAreReported) {
  EXPECT_THAT(Parsed("actions: allocate\nqueues: []\n").warnings,
              ElementsAre(HasSubstr("s.conf:2: queues: unknown key")));
}

}  // namespace
}  // namespace hekla::conf
