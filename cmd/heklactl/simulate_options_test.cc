#include "cmd/heklactl/simulate_options.h"

#include <gtest/gtest.h>

#include "pkg/util/testing/status_matchers.h"

namespace hekla::cmd::heklactl {
namespace {

using util::testing::StatusIs;

TEST(SimulateOptionsTest, TraceImpliesTheKubelet) {
  auto options = ParseSimulateOptions({"--trace", "p.csv", "--trace-format", "openb", "--nodes",
                                       "n.csv", "--until-idle", "-o", "json"});
  HEKLA_ASSERT_OK(options);
  EXPECT_TRUE(options->kubelet);
  EXPECT_EQ(options->output, SimulateOptions::Output::kJson);
}

TEST(SimulateOptionsTest, ContradictionsAreNamed) {
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(ParseSimulateOptions({"--cycles=2", "--until-idle", "a.yaml"}),
              StatusIs(code, "exclude each other"));
  EXPECT_THAT(ParseSimulateOptions({"--cycles=-1", "a.yaml"}),
              StatusIs(code, "--cycles must not be negative"));
  EXPECT_THAT(ParseSimulateOptions({}), StatusIs(code, "nothing to simulate"));
  EXPECT_THAT(ParseSimulateOptions({"--trace", "p.csv"}),
              StatusIs(code, "--trace-format must be openb, not \"\""));
  EXPECT_THAT(ParseSimulateOptions({"--nodes", "n.csv", "a.yaml"}), StatusIs(code, "need --trace"));
  EXPECT_THAT(ParseSimulateOptions({"--trace-time-scale=10", "a.yaml"}),
              StatusIs(code, "--trace-time-scale need --trace"));
  EXPECT_THAT(ParseSimulateOptions({"--trace-time-scale=0", "a.yaml"}),
              StatusIs(code, "--trace-time-scale must be at least 1"));
  EXPECT_THAT(ParseSimulateOptions({"-o", "xml", "a.yaml"}), StatusIs(code, "json, table, none"));
  EXPECT_THAT(ParseSimulateOptions({"--nonsense", "a.yaml"}), StatusIs(code, "nonsense"));
}

}  // namespace
}  // namespace hekla::cmd::heklactl
