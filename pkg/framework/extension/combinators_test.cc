#include "pkg/framework/extension/combinators.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace hekla::framework {
namespace {

using model::TaskId;

struct Voter {
  Vote vote;
  int asked = 0;
  Vote Ask(int) {
    ++asked;
    return vote;
  }
};

bool VoteOf(std::vector<std::vector<Vote>> tiers) {
  VoteAll<int> point;
  std::vector<std::unique_ptr<Voter>> voters;
  for (size_t tier = 0; tier < tiers.size(); ++tier) {
    for (Vote v : tiers[tier]) {
      voters.push_back(std::make_unique<Voter>(Voter{v}));
      point.AddEntry(
          {Callback<Vote(int)>::Bind<&Voter::Ask>(*voters.back()), static_cast<int32_t>(tier), 0});
    }
  }
  return point(0);
}

// Spec scheduler-core, E11.
TEST(VoteAllTest, APermitEndsTheSearchAndARejectIsFinal) {
  EXPECT_TRUE(VoteOf({{Vote::kPermit, Vote::kAbstain}, {Vote::kReject}}));
  EXPECT_FALSE(VoteOf({{Vote::kPermit, Vote::kReject}}));
  EXPECT_FALSE(VoteOf({{Vote::kAbstain}, {Vote::kReject}}));
  EXPECT_TRUE(VoteOf({{Vote::kAbstain}, {Vote::kAbstain}}));
  EXPECT_TRUE(VoteOf({}));
}

struct Boolean {
  bool value;
  bool Ask(int) { return value; }
};

template <typename PointType>
bool BoolOf(std::vector<std::pair<int, bool>> answers) {
  PointType point;
  std::vector<std::unique_ptr<Boolean>> all;
  for (auto [tier, value] : answers) {
    all.push_back(std::make_unique<Boolean>(Boolean{value}));
    point.AddEntry({Callback<bool(int)>::Bind<&Boolean::Ask>(*all.back()), tier, 0});
  }
  return point(0);
}

TEST(TierAllTest, TheFirstTierWithFunctionsDecides) {
  EXPECT_TRUE(BoolOf<TierAll<int>>({{0, true}, {1, false}}));
  EXPECT_TRUE(BoolOf<TierAll<int>>({{1, true}, {2, false}}));
  EXPECT_FALSE(BoolOf<TierAll<int>>({{0, true}, {0, false}, {1, true}}));
  EXPECT_FALSE(BoolOf<TierAll<int>>({}));
}

TEST(AllPassTest, EveryTierMustAgree) {
  EXPECT_TRUE(BoolOf<AllPass<int>>({}));
  EXPECT_TRUE(BoolOf<AllPass<int>>({{0, true}, {1, true}}));
  EXPECT_FALSE(BoolOf<AllPass<int>>({{0, true}, {1, false}}));
}

TEST(AnyTrueTest, OneIsEnough) {
  EXPECT_FALSE(BoolOf<AnyTrue<int>>({}));
  EXPECT_TRUE(BoolOf<AnyTrue<int>>({{0, false}, {3, true}}));
}

struct Victims {
  VictimAnswer answer;
  int asked = 0;
  VictimAnswer Ask(int) {
    ++asked;
    return answer;
  }
};

// One letter per task; "-" abstains, "" is an empty answer, "." no function.
std::string VictimsOf(std::vector<std::pair<int, std::string>> answers, int* last_asked = nullptr) {
  TierIntersect<int> point;
  std::vector<std::unique_ptr<Victims>> all;
  for (const auto& [tier, letters] : answers) {
    if (letters == ".") continue;
    auto v = std::make_unique<Victims>();
    v->answer.vote = letters == "-" ? Vote::kAbstain : Vote::kPermit;
    if (letters != "-") {
      for (char c : letters) v->answer.victims.push_back(TaskId(static_cast<uint32_t>(c)));
    }
    all.push_back(std::move(v));
    point.AddEntry({Callback<VictimAnswer(int)>::Bind<&Victims::Ask>(*all.back()), tier, 0});
  }
  std::string out;
  for (TaskId t : point(0)) out.push_back(static_cast<char>(t.value()));
  if (last_asked != nullptr) *last_asked = all.back()->asked;
  return out;
}

// Spec scheduler-core, E10: plugins P, Q, S in tier 1, R in tier 2.
TEST(TierIntersectTest, QuirkEmptyAnswersAndEmptyIntersectionsAreNoVeto) {
  const auto rows = [](std::string p, std::string q, std::string s, std::string r) {
    return VictimsOf({{0, p}, {0, q}, {0, s}, {1, r}});
  };
  EXPECT_EQ(rows("ab", "bc", "-", "c"), "b");
  EXPECT_EQ(rows("ab", "", "a", "c"), "c");
  EXPECT_EQ(rows("a", "b", "c", "."), "c");
  EXPECT_EQ(rows("a", "b", "-", "c"), "c");
  EXPECT_EQ(rows("-", "-", "-", "-"), "");
  int asked = 0;
  VictimsOf({{0, "ab"}, {0, ""}, {0, "a"}}, &asked);
  EXPECT_EQ(asked, 0);  // nobody is asked behind an empty answer in the same tier
}

struct Comparer {
  int value;
  int Ask(int, int) { return value; }
};

TEST(FirstNonZeroTest, TheFirstOpinionCounts) {
  Comparer zero{0}, less{-3}, more{4};
  FirstNonZero<int, int> point;
  EXPECT_EQ(point(1, 2), 0);
  using Call = Callback<int(int, int)>;
  point.AddEntry({Call::Bind<&Comparer::Ask>(zero), 0, 0});
  point.AddEntry({Call::Bind<&Comparer::Ask>(less), 0, 1});
  point.AddEntry({Call::Bind<&Comparer::Ask>(more), 1, 2});
  EXPECT_EQ(point(1, 2), -3);
}

struct Lister {
  std::vector<TaskId> tasks;
  std::vector<TaskId> Ask(int) { return tasks; }
};

TEST(TierUnionTest, TheFirstTierWithVictimsDecides) {
  Lister none, ab{{TaskId(1), TaskId(2)}}, bc{{TaskId(2), TaskId(3)}}, d{{TaskId(4)}};
  TierUnion<int> point;
  using Call = Callback<std::vector<TaskId>(int)>;
  point.AddEntry({Call::Bind<&Lister::Ask>(none), 0, 0});
  point.AddEntry({Call::Bind<&Lister::Ask>(ab), 1, 1});
  point.AddEntry({Call::Bind<&Lister::Ask>(bc), 1, 2});
  point.AddEntry({Call::Bind<&Lister::Ask>(d), 2, 3});
  EXPECT_EQ(point(0), (std::vector<TaskId>{TaskId(1), TaskId(2), TaskId(3)}));
}

struct Number {
  double value;
  double Ask(int) { return value; }
};

TEST(SumTest, NothingIsZero) {
  Sum<int> point;
  EXPECT_EQ(point(0), 0);
  Number a{1.5}, b{2};
  using Call = Callback<double(int)>;
  point.AddEntry({Call::Bind<&Number::Ask>(a), 0, 0});
  point.AddEntry({Call::Bind<&Number::Ask>(b), 1, 1});
  EXPECT_EQ(point(0), 3.5);
  FirstProvider<double, int> first;
  EXPECT_EQ(first(0), 0);
  first.AddEntry({Call::Bind<&Number::Ask>(b), 0, 0});
  first.AddEntry({Call::Bind<&Number::Ask>(a), 0, 1});
  EXPECT_EQ(first(0), 2);
}

}  // namespace
}  // namespace hekla::framework
