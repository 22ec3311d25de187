#include "pkg/cache/bind/write_channel.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/cache/bind/item_backoff.h"
#include "pkg/cache/status/message_throttle.h"
#include "pkg/util/manual_executor.h"

namespace hekla::cache {
namespace {

class WriteChannelTest : public ::testing::Test {
 protected:
  WriteChannelTest() : executor_(&clock_) {}

  WriteChannel Make(double window) {
    return WriteChannel(&executor_,
                        {.initial_window = window, .min_window = 2, .max_window = 1000});
  }
  // A call that notes its name and leaves its end to the test.
  WriteChannel::Call Note(std::string name) {
    return [this, name](WriteChannel::Done done) {
      begun_.push_back(name);
      ends_.push_back(std::move(done));
    };
  }
  void End(size_t index, absl::Status status = absl::OkStatus()) { ends_[index](status); }
  std::string Begun() const { return absl::StrJoin(begun_, " "); }

  util::FakeClock clock_;
  util::ManualExecutor executor_;
  std::vector<std::string> begun_;
  std::vector<WriteChannel::Done> ends_;
};

TEST_F(WriteChannelTest, UrgentLanesGoFirstWhenTheWindowIsFull) {
  WriteChannel channel = Make(1);
  channel.Submit(Lane::kCondition, Note("c1"));
  channel.Submit(Lane::kCondition, Note("c2"));
  channel.Submit(Lane::kStatus, Note("s"));
  channel.Submit(Lane::kEvict, Note("e"));
  channel.Submit(Lane::kBind, Note("b"));
  EXPECT_EQ(channel.pending(), 5u);
  // The window has grown to two after the first success.
  for (size_t i = 0; i < 5; ++i) End(i);
  EXPECT_EQ(Begun().substr(0, 7), "c1 b e ");
  EXPECT_EQ(channel.pending(), 0u);
  EXPECT_EQ(channel.in_flight(), 0u);
}

TEST_F(WriteChannelTest, NewerWriteReplacesAQueuedOneAndWaitsForTheOneInFlight) {
  WriteChannel channel = Make(8);
  channel.SubmitLatest(Lane::kStatus, "pg", Note("1"));
  channel.SubmitLatest(Lane::kStatus, "pg", Note("2"));
  channel.SubmitLatest(Lane::kStatus, "pg", Note("3"));
  channel.SubmitIfAbsent(Lane::kStatus, "pg", Note("4"));
  channel.SubmitLatest(Lane::kStatus, "other", Note("o"));
  EXPECT_EQ(Begun(), "1 o");
  EXPECT_EQ(channel.pending(), 3u);
  End(0);
  EXPECT_EQ(Begun(), "1 o 3");
  End(1);
  End(2);
  EXPECT_EQ(channel.pending(), 0u);
  channel.SubmitIfAbsent(Lane::kStatus, "pg", Note("5"));
  EXPECT_EQ(Begun(), "1 o 3 5");
}

TEST_F(WriteChannelTest, IsQuietWhenNothingCanBeSent) {
  WriteChannel channel = Make(1);
  int quiet = 0;
  channel.OnQuiet([&] {
    ++quiet;
    EXPECT_FALSE(channel.busy());
  });
  EXPECT_FALSE(channel.busy());
  channel.Hold();
  channel.SubmitAfter(absl::Seconds(5), Lane::kBind, Note("later"));
  EXPECT_FALSE(channel.busy());
  channel.Submit(Lane::kStatus, Note("1"));
  channel.Submit(Lane::kStatus, Note("2"));
  End(0);
  EXPECT_TRUE(channel.busy());
  EXPECT_EQ(quiet, 0);
  End(1);
  EXPECT_EQ(quiet, 1);
  EXPECT_EQ(channel.pending(), 2u);
  channel.SubmitLatest(Lane::kStatus, "pg", Note("3"));
  channel.SubmitLatest(Lane::kStatus, "pg", Note("4"));
  End(2);
  EXPECT_EQ(quiet, 1);
  End(3);
  EXPECT_EQ(quiet, 2);
  executor_.Advance(absl::Seconds(5));
  EXPECT_TRUE(channel.busy());
  End(4);
  EXPECT_EQ(quiet, 3);
  channel.Release();
  EXPECT_EQ(channel.pending(), 0u);
}

TEST_F(WriteChannelTest, WindowGrowsWithSuccessAndIsHalvedByOverload) {
  WriteChannel channel = Make(8);
  for (int i = 0; i < 8; ++i) channel.Submit(Lane::kBind, Note("x"));
  for (size_t i = 0; i < 8; ++i) End(i);
  EXPECT_NEAR(channel.window(), 9, 0.1);
  for (int i = 0; i < 4; ++i) channel.Submit(Lane::kBind, Note("x"));
  End(8, absl::ResourceExhaustedError("429"));
  EXPECT_NEAR(channel.window(), 4.5, 0.1);
  // Answers of the same burst do not count again.
  End(9, absl::UnavailableError("gone"));
  EXPECT_NEAR(channel.window(), 4.5, 0.1);
  executor_.Advance(absl::Milliseconds(150));
  End(10, absl::DeadlineExceededError("slow"));
  executor_.Advance(absl::Milliseconds(150));
  End(11, absl::InternalError("500"));
  EXPECT_NEAR(channel.window(), 2, 0.1);
  channel.Submit(Lane::kBind, Note("x"));
  End(12, absl::NotFoundError("no overload"));
  EXPECT_GT(channel.window(), 2);
}

TEST_F(WriteChannelTest, PausedCallsCountAndComeInTime) {
  WriteChannel channel = Make(8);
  channel.SubmitAfter(absl::Seconds(5), Lane::kBind, Note("late"));
  EXPECT_EQ(channel.pending(), 1u);
  executor_.Advance(absl::Seconds(4));
  EXPECT_EQ(Begun(), "");
  executor_.Advance(absl::Seconds(1));
  EXPECT_EQ(Begun(), "late");
  End(0);
  EXPECT_EQ(channel.pending(), 0u);
}

TEST_F(WriteChannelTest, CallsMayEndAtOnceAndSubmitMore) {
  WriteChannel channel = Make(1);
  int ran = 0;
  std::function<void(int)> submit = [&](int depth) {
    channel.Submit(Lane::kStatus, [&, depth](WriteChannel::Done done) {
      ++ran;
      if (depth > 0) submit(depth - 1);
      done(absl::OkStatus());
    });
  };
  submit(1000);
  EXPECT_EQ(ran, 1001);
  EXPECT_EQ(channel.pending(), 0u);
}

TEST_F(WriteChannelTest, CloseDropsWhatHasNotBegunAndIdleComesAfterTheRest) {
  WriteChannel channel = Make(1);
  channel.Submit(Lane::kBind, Note("a"));
  channel.Submit(Lane::kBind, Note("b"));
  channel.SubmitLatest(Lane::kStatus, "k", Note("k"));
  channel.SubmitAfter(absl::Seconds(1), Lane::kBind, Note("late"));
  bool idle = false;
  channel.WhenIdle([&] { idle = true; });
  channel.Close();
  EXPECT_EQ(channel.pending(), 1u);
  executor_.Advance(absl::Seconds(2));
  EXPECT_FALSE(idle);
  End(0);
  executor_.RunReady();
  EXPECT_TRUE(idle);
  channel.Submit(Lane::kBind, Note("too late"));
  EXPECT_EQ(Begun(), "a");
  EXPECT_EQ(channel.pending(), 0u);
}

TEST_F(WriteChannelTest, AnswersAfterTheChannelIsGoneDoNothing) {
  {
    WriteChannel channel = Make(4);
    channel.Submit(Lane::kBind, Note("a"));
    channel.SubmitAfter(absl::Seconds(1), Lane::kBind, Note("late"));
  }
  End(0);
  executor_.Advance(absl::Seconds(2));
  EXPECT_EQ(Begun(), "a");
}

// Spec scheduler-core E17.
TEST(ItemBackoffTest, WorkedExample) {
  ItemBackoff backoff;
  EXPECT_EQ(backoff.Next("k"), absl::Milliseconds(5));
  EXPECT_EQ(backoff.Next("k"), absl::Milliseconds(10));
  EXPECT_EQ(backoff.Next("k"), absl::Milliseconds(20));
  EXPECT_EQ(backoff.Next("k"), absl::Milliseconds(40));
  for (int i = 5; i <= 17; ++i) backoff.Next("k");
  EXPECT_EQ(backoff.Next("k"), absl::Milliseconds(655360));
  EXPECT_EQ(backoff.Next("k"), absl::Seconds(1000));
  EXPECT_EQ(backoff.Next("k"), absl::Seconds(1000));
  EXPECT_EQ(backoff.Next("other"), absl::Milliseconds(5));
  backoff.Forget("k");
  EXPECT_EQ(backoff.Next("k"), absl::Milliseconds(5));
}

TEST(MessageThrottleTest, WordingAloneIsPacedMoreAndMore) {
  MessageThrottle throttle;
  const absl::Duration start = absl::Seconds(1000);
  EXPECT_EQ(throttle.Delay("k", true, start), absl::ZeroDuration());
  EXPECT_EQ(throttle.Delay("k", true, start), absl::Seconds(1));
  // The second went out at +1 s; the third may follow two seconds later.
  EXPECT_EQ(throttle.Delay("k", true, start + absl::Seconds(1)), absl::Seconds(2));
  EXPECT_EQ(throttle.Delay("k", true, start + absl::Hours(1)), absl::ZeroDuration());
  EXPECT_EQ(throttle.Delay("k", false, start + absl::Hours(1)), absl::ZeroDuration());
  EXPECT_EQ(throttle.Delay("k", true, start + absl::Hours(1)), absl::ZeroDuration());
  EXPECT_EQ(throttle.size(), 1u);
  throttle.Forget("k");
  EXPECT_EQ(throttle.size(), 0u);
}

}  // namespace
}  // namespace hekla::cache
