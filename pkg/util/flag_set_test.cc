#include "pkg/util/flag_set.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hekla::util {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Values {
  bool elect = true;
  int workers = 20;
  double qps = 2000;
  std::string conf;
  absl::Duration period = absl::Seconds(1);
  std::vector<std::string> names = {"volcano"};
  std::vector<std::string> selector;
};

class FlagSetTest : public ::testing::Test {
 protected:
  FlagSetTest() {
    flags_.Bool("leader-elect", &values_.elect, "Elect.");
    flags_.Int("worker-threads", &values_.workers, "Workers.");
    flags_.Double("kube-api-qps", &values_.qps, "Rate.");
    flags_.String("scheduler-conf", &values_.conf, "File.");
    flags_.Duration("schedule-period", &values_.period, "Pause.");
    flags_.List("scheduler-name", &values_.names, FlagSet::ListForm::kRepeated, "Names.");
    flags_.List("node-selector", &values_.selector, FlagSet::ListForm::kComma, "Labels.");
    flags_.Int("v", &values_.workers, "Verbosity.");
  }
  std::string Error(const std::vector<std::string>& arguments) {
    return std::string(flags_.Parse(arguments).status().message());
  }

  Values values_;
  FlagSet flags_;
};

TEST_F(FlagSetTest, ValuesFollowAnEqualsSignOrABlank) {
  ASSERT_TRUE(flags_
                  .Parse({"--scheduler-conf=/a=b", "--schedule-period", "1m30s",
                          "-kube-api-qps=0.5", "--leader-elect=false"})
                  .ok());
  EXPECT_EQ(values_.conf, "/a=b");
  EXPECT_EQ(values_.period, absl::Seconds(90));
  EXPECT_EQ(values_.qps, 0.5);
  EXPECT_FALSE(values_.elect);
}

TEST_F(FlagSetTest, UnderscoresCountAsDashes) {
  ASSERT_TRUE(flags_.Parse({"--scheduler_conf=x"}).ok());
  EXPECT_EQ(values_.conf, "x");
  EXPECT_TRUE(flags_.Given("scheduler-conf"));
  EXPECT_FALSE(flags_.Given("leader-elect"));
}

TEST_F(FlagSetTest, QuirkBoolTakesNoValueBehindABlank) {
  values_.elect = false;
  const auto rest = flags_.Parse({"--leader-elect", "false"});
  ASSERT_TRUE(rest.ok());
  EXPECT_TRUE(values_.elect);
  EXPECT_THAT(*rest, ElementsAre("false"));
}

TEST_F(FlagSetTest, WhatIsNoFlagIsCollected) {
  const auto rest = flags_.Parse({"2>&1", "-v=3", "-", "--", "--leader-elect=false"});
  ASSERT_TRUE(rest.ok());
  EXPECT_THAT(*rest, ElementsAre("2>&1", "-", "--leader-elect=false"));
  EXPECT_TRUE(values_.elect);
}

TEST_F(FlagSetTest, OneLetterFlagsTakeTheirValueInEveryForm) {
  for (const std::vector<std::string>& form :
       {std::vector<std::string>{"-v=7"}, {"-v", "7"}, {"-v7"}, {"--v=7"}}) {
    values_.workers = 0;
    ASSERT_TRUE(flags_.Parse(form).ok());
    EXPECT_EQ(values_.workers, 7);
  }
}

TEST_F(FlagSetTest, RepeatedListReplacesItsDefaultAndKeepsCommas) {
  ASSERT_TRUE(flags_.Parse({"--scheduler-name=a,b", "--scheduler-name", "c"}).ok());
  EXPECT_THAT(values_.names, ElementsAre("a,b", "c"));
}

TEST_F(FlagSetTest, CommaListCollects) {
  ASSERT_TRUE(flags_.Parse({"--node-selector=a:b,c:d", "--node-selector=e:f"}).ok());
  EXPECT_THAT(values_.selector, ElementsAre("a:b", "c:d", "e:f"));
}

TEST_F(FlagSetTest, ErrorsNameTheFlag) {
  EXPECT_EQ(Error({"--nonsense=1"}), "unknown flag: --nonsense");
  EXPECT_EQ(Error({"--scheduler-conf"}), "flag needs an argument: --scheduler-conf");
  EXPECT_EQ(Error({"--worker-threads=x"}),
            "invalid argument \"x\" for --worker-threads: not a whole number");
  EXPECT_EQ(Error({"--leader-elect=maybe"}),
            "invalid argument \"maybe\" for --leader-elect: not a boolean");
  for (const char* bad : {"1", "-1s", "inf", ""}) {
    EXPECT_THAT(Error({std::string("--schedule-period=") + bad}), HasSubstr("not a duration"));
  }
  EXPECT_EQ(Error({"-x3"}), "unknown flag: --x3");
}

TEST_F(FlagSetTest, UsageShowsDefaultsInOrder) {
  const std::string usage = flags_.Usage();
  EXPECT_THAT(usage, HasSubstr("  --scheduler-name (default [volcano])\n        Names.\n"));
  EXPECT_LT(usage.find("--kube-api-qps"), usage.find("--leader-elect"));
  EXPECT_FALSE(flags_.help());
  ASSERT_TRUE(flags_.Parse({"--help"}).ok());
  EXPECT_TRUE(flags_.help());
}

TEST_F(FlagSetTest, CustomAndAlias) {
  std::string seen;
  flags_.Custom(
      "gates", "",
      [&](absl::string_view text) {
        seen = std::string(text);
        return text == "bad" ? absl::InvalidArgumentError("no such gate") : absl::OkStatus();
      },
      "Gates.");
  flags_.Alias("g", "gates");
  ASSERT_TRUE(flags_.Parse({"-g", "A=true"}).ok());
  EXPECT_EQ(seen, "A=true");
  EXPECT_EQ(Error({"--gates=bad"}), "invalid argument \"bad\" for --gates: no such gate");
}

}  // namespace
}  // namespace hekla::util
