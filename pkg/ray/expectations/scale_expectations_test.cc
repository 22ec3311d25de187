#include "pkg/ray/expectations/scale_expectations.h"

#include <set>

#include "gtest/gtest.h"

namespace hekla::ray::expectations {
namespace {

class ScaleExpectationsTest : public ::testing::Test {
 protected:
  bool Satisfied(const std::string& group) {
    return expectations_.Satisfied(
        "ns/c", group, [this](const std::string& pod) { return cache_.contains(pod); }, now_);
  }
  void Expect(const std::string& group, const std::string& pod, Action action) {
    expectations_.Expect("ns/c", group, pod, action, now_);
  }

  ScaleExpectations expectations_;
  std::set<std::string> cache_;
  absl::Duration now_ = absl::Seconds(1000);
};

TEST_F(ScaleExpectationsTest, NothingIsExpectedAtFirst) { EXPECT_TRUE(Satisfied("w")); }

TEST_F(ScaleExpectationsTest, ACreationIsSettledWhenTheCacheShowsThePod) {
  Expect("w", "w-1", Action::kCreate);
  EXPECT_FALSE(Satisfied("w"));
  cache_.insert("w-1");
  EXPECT_TRUE(Satisfied("w"));
  cache_.erase("w-1");
  EXPECT_TRUE(Satisfied("w")) << "settled once, forgotten";
}

// Spec example E22.
TEST_F(ScaleExpectationsTest, ACreationThatNeverShowsIsGivenUpAfterThirtySeconds) {
  Expect("w", "w-1", Action::kCreate);
  EXPECT_EQ(expectations_.NextTimeout("ns/c", {"", "w"}), now_ + absl::Seconds(30));
  EXPECT_EQ(expectations_.NextTimeout("ns/c", {"other"}), std::nullopt);
  now_ += absl::Milliseconds(29999);
  EXPECT_FALSE(Satisfied("w"));
  now_ += absl::Milliseconds(1);
  EXPECT_TRUE(Satisfied("w"));
  EXPECT_EQ(expectations_.size(), 0u);
}

TEST_F(ScaleExpectationsTest, ADeletionWaitsHoweverLong) {
  cache_.insert("w-1");
  Expect("w", "w-1", Action::kDelete);
  EXPECT_EQ(expectations_.NextTimeout("ns/c", {"w"}), std::nullopt);
  now_ += absl::Hours(1);
  EXPECT_FALSE(Satisfied("w"));
  cache_.clear();
  EXPECT_TRUE(Satisfied("w"));
}

TEST_F(ScaleExpectationsTest, GroupsDoNotWaitForEachOther) {
  Expect("", "head-1", Action::kCreate);
  Expect("w", "w-1", Action::kCreate);
  EXPECT_FALSE(Satisfied(""));
  EXPECT_FALSE(Satisfied("w"));
  EXPECT_TRUE(Satisfied("other"));
  cache_.insert("head-1");
  EXPECT_TRUE(Satisfied(""));
  EXPECT_FALSE(Satisfied("w"));
}

TEST_F(ScaleExpectationsTest, OneOpenRecordHoldsTheWholeGroup) {
  Expect("w", "w-1", Action::kCreate);
  Expect("w", "w-2", Action::kCreate);
  cache_.insert("w-1");
  EXPECT_FALSE(Satisfied("w"));
  cache_.insert("w-2");
  EXPECT_TRUE(Satisfied("w"));
}

TEST_F(ScaleExpectationsTest, ALaterRecordOfAPodReplacesTheEarlierOne) {
  Expect("w", "w-1", Action::kCreate);
  Expect("w", "w-1", Action::kDelete);
  EXPECT_TRUE(Satisfied("w")) << "not in the cache: deleted";
}

TEST_F(ScaleExpectationsTest, ACreationIsNewUntilItShowsOrPatienceEnds) {
  const auto just_created = [this](const std::set<std::string>& groups) {
    return expectations_.JustCreated(
        "ns/c", groups, [this](const std::string& pod) { return cache_.contains(pod); }, now_,
        absl::Seconds(1));
  };
  EXPECT_FALSE(just_created({"w"}));
  Expect("w", "w-1", Action::kCreate);
  Expect("x", "x-1", Action::kDelete);
  EXPECT_TRUE(just_created({"", "w"}));
  EXPECT_FALSE(just_created({"", "x"})) << "a deletion";
  cache_.insert("w-1");
  EXPECT_FALSE(just_created({"w"}));
  cache_.clear();
  now_ += absl::Seconds(1);
  EXPECT_FALSE(just_created({"w"}));
  EXPECT_EQ(expectations_.size(), 2u) << "nothing is dropped";
}

TEST_F(ScaleExpectationsTest, AForgottenClusterWaitsForNothing) {
  Expect("w", "w-1", Action::kCreate);
  expectations_.Expect("ns/other", "w", "x-1", Action::kCreate, now_);
  expectations_.Forget("ns/c");
  EXPECT_TRUE(Satisfied("w"));
  EXPECT_EQ(expectations_.size(), 1u);
}

}  // namespace
}  // namespace hekla::ray::expectations
