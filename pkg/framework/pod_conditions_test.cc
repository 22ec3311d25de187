#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "pkg/framework/testing/session_world.h"

namespace hekla::framework {
namespace {

using model::TaskId;
using model::TaskStatus;
using testing::SessionWorld;

class PodConditionsTest : public ::testing::Test {
 protected:
  PodConditionsTest() {
    w_.world.AddNode({.name = "n1"});
    w_.world.AddQueue("default");
    w_.world.AddJob("pg", 9);
  }
  TaskId Add(const std::string& name) { return w_.world.AddPod({.name = name, .job = "pg"}); }
  // The conditions that one cycle writes, such as "p0: 2 Pending".
  std::vector<std::string> Written() {
    w_.sink.Clear();
    w_.Cycle([](Session&) {});
    std::vector<std::string> out;
    for (const ports::PodConditionWrite& write : w_.sink.conditions) {
      const size_t from = write.message.find(", ") + 2;
      out.push_back(absl::StrCat(write.name, ": ",
                                 write.message.substr(from, write.message.find(",", from) - from)));
    }
    return out;
  }
  using Lines = std::vector<std::string>;

  SessionWorld w_;
};

// A gang's text changes with every member that comes: for those that have one already it waits.
TEST_F(PodConditionsTest, MembersThatComeAreToldAtOnceAndOthersInTheirTurn) {
  Add("p0");
  EXPECT_EQ(Written(), Lines{"p0: 1 Pending"});
  Add("p1");
  EXPECT_EQ(Written(), Lines{"p1: 2 Pending"});
  Add("p2");
  w_.clock.Advance(absl::Milliseconds(999));
  EXPECT_EQ(Written(), Lines{"p2: 3 Pending"});
  // The turn of the first two comes by itself, though nothing touches the job any more.
  w_.clock.Advance(absl::Milliseconds(1));
  EXPECT_EQ(Written(), (Lines{"p0: 3 Pending", "p1: 3 Pending"}));
  for (int i = 0; i < 5; ++i) {
    w_.clock.Advance(absl::Seconds(1));
    EXPECT_EQ(Written(), Lines{});
  }
}

TEST_F(PodConditionsTest, WordingWaitsLongerEveryTime) {
  Add("p0");
  Written();
  int written = 0;
  for (int second = 1; second <= 70; ++second) {
    Add(absl::StrCat("q", second));
    w_.clock.Advance(absl::Seconds(1));
    for (const std::string& line : Written()) written += line.rfind("p0: ", 0) == 0 ? 1 : 0;
  }
  EXPECT_EQ(written, 6);  // after 1, 3, 7, 15, 31 and 63 seconds
}

TEST_F(PodConditionsTest, AnotherReasonDoesNotWait) {
  const TaskId p0 = Add("p0");
  Written();
  w_.sink.Clear();
  w_.Cycle([&](Session& session) {
    Statement statement(session);
    statement.Allocate(p0, w_.world.cluster().FindNode("n1"));
    statement.Discard();
  });
  ASSERT_EQ(w_.sink.conditions.size(), 1u);
  EXPECT_EQ(w_.sink.conditions[0].reason, "Schedulable");
}

// What the pod shows may be about to change by what was sent last.
TEST_F(PodConditionsTest, TheFirstWordingIsSentAgainAfterAnother) {
  const auto p0 = [this] { return w_.world.MakePod({.name = "p0", .job = "pg"}); };
  w_.world.Apply(p0());
  EXPECT_EQ(Written(), Lines{"p0: 1 Pending"});
  auto shown = p0();
  const ports::PodConditionWrite& first = w_.sink.conditions.at(0);
  shown->scheduled_condition = {"False", first.reason, first.message};
  w_.world.Apply(shown);
  EXPECT_EQ(Written(), Lines{});
  const TaskId other = Add("p1");
  w_.clock.Advance(absl::Seconds(2));
  EXPECT_EQ(Written(), (Lines{"p0: 2 Pending", "p1: 2 Pending"}));
  w_.world.RemovePod(other);
  w_.clock.Advance(absl::Seconds(3));
  EXPECT_EQ(Written(), Lines{"p0: 1 Pending"});
}

// Of a process that was started anew.
TEST_F(PodConditionsTest, WhatThePodShowsAlreadyIsNotSent) {
  Add("p0");
  Written();
  SessionWorld other;
  other.world.AddNode({.name = "n1"});
  other.world.AddQueue("default");
  other.world.AddJob("pg", 9);
  auto shown = other.world.MakePod({.name = "p0", .job = "pg"});
  const ports::PodConditionWrite& first = w_.sink.conditions.at(0);
  shown->scheduled_condition = {"False", first.reason, first.message};
  other.world.Apply(shown);
  other.Cycle([](Session&) {});
  EXPECT_TRUE(other.sink.conditions.empty());
}

TEST_F(PodConditionsTest, APodThatIsBoundMeanwhileIsOwedNothing) {
  const TaskId p0 = Add("p0");
  Written();
  Add("p1");
  EXPECT_EQ(Written(), Lines{"p1: 2 Pending"});
  w_.world.Update(p0, TaskStatus::kBound, "n1");
  w_.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(Written(), Lines{"p1: 1 Bound"});
}

}  // namespace
}  // namespace hekla::framework
