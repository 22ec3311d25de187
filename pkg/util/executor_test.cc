#include "pkg/util/executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "absl/synchronization/notification.h"
#include "pkg/util/manual_executor.h"
#include "pkg/util/thread_executor.h"

namespace hekla::util {
namespace {

TEST(ManualExecutorTest, RunsByDueTimeThenInOrderOfPosting) {
  FakeClock clock;
  ManualExecutor executor(&clock);
  std::vector<int> ran;
  executor.PostAfter(absl::Seconds(2), [&] { ran.push_back(4); });
  executor.PostAfter(absl::Seconds(1), [&] { ran.push_back(3); });
  executor.Post([&] { ran.push_back(1); });
  executor.Post([&] { ran.push_back(2); });
  EXPECT_EQ(executor.RunReady(), 2u);
  EXPECT_EQ(ran, (std::vector<int>{1, 2}));
  executor.Advance(absl::Seconds(5));
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(executor.pending(), 0u);
  EXPECT_EQ(executor.NextDue(), absl::InfiniteFuture());
}

TEST(ManualExecutorTest, EachTaskSeesItsOwnTime) {
  FakeClock clock;
  ManualExecutor executor(&clock);
  const absl::Time start = clock.Now();
  std::vector<absl::Duration> seen;
  std::function<void()> tick = [&] {
    seen.push_back(executor.Now() - start);
    if (seen.size() < 3) executor.PostAfter(absl::Seconds(3), tick);
  };
  executor.PostAfter(absl::Seconds(3), tick);
  executor.Advance(absl::Seconds(10));
  EXPECT_EQ(seen,
            (std::vector<absl::Duration>{absl::Seconds(3), absl::Seconds(6), absl::Seconds(9)}));
  EXPECT_EQ(clock.Now() - start, absl::Seconds(10));
}

TEST(ManualExecutorTest, CancelledTasksDoNotRunAndAreDestroyed) {
  FakeClock clock;
  ManualExecutor executor(&clock);
  auto owned = std::make_shared<int>(1);
  const auto id = executor.PostAfter(absl::Seconds(1), [owned] { FAIL(); });
  EXPECT_TRUE(executor.Cancel(id));
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_FALSE(executor.Cancel(id));
  executor.Advance(absl::Seconds(2));
}

TEST(ManualExecutorTest, TimersAreNotMovedWhenTheTimeOfDayIsSet) {
  for (absl::Duration step : {absl::Hours(1), -absl::Hours(1)}) {
    FakeClock clock;
    SkewedClock own(&clock);
    ManualExecutor executor(&clock, &own);
    const absl::Time start = executor.Now();
    const absl::Duration up = executor.Uptime();
    bool ran = false;
    executor.PostAfter(absl::Seconds(5), [&] { ran = true; });
    own.Step(step);
    EXPECT_EQ(executor.Now(), start + step);
    EXPECT_EQ(executor.Uptime(), up);
    executor.Advance(absl::Seconds(5) - absl::Nanoseconds(1));
    EXPECT_FALSE(ran);
    executor.Advance(absl::Nanoseconds(1));
    EXPECT_TRUE(ran);
    EXPECT_EQ(executor.Now(), start + step + absl::Seconds(5));
    EXPECT_EQ(executor.Uptime(), up + absl::Seconds(5));
  }
}

TEST(ManualExecutorTest, DelaysAreCountedByTheClockOfTheirMachine) {
  FakeClock clock;
  for (int64_t rate : {850, 999, 1001, 1150}) {
    SkewedClock own(&clock, rate);
    ManualExecutor executor(&clock, &own);
    const absl::Time start = clock.Now();
    const absl::Duration up = executor.Uptime();
    absl::Duration seen;
    executor.PostAfter(absl::Seconds(10), [&] { seen = executor.Uptime() - up; });
    executor.Advance(absl::Seconds(20));
    EXPECT_GE(seen, absl::Seconds(10)) << "never early";
    EXPECT_LT(seen, absl::Seconds(10) + absl::Nanoseconds(2));
    EXPECT_EQ(clock.Now() - start, absl::Seconds(20)) << "who drives it counts in true time";
    EXPECT_EQ(executor.Now() - start, absl::Seconds(20) * rate / 1000);
  }
}

TEST(ThreadExecutorTest, UptimeGoesOnAndTimersWaitForIt) {
  ThreadExecutor executor("test-exec");
  const absl::Duration start = executor.Uptime();
  EXPECT_GT(start, absl::ZeroDuration());
  absl::Duration seen;
  absl::Notification done;
  executor.PostAfter(absl::Milliseconds(15), [&] {
    seen = executor.Uptime();
    done.Notify();
  });
  done.WaitForNotification();
  EXPECT_GE(seen - start, absl::Milliseconds(15));
}

TEST(ThreadExecutorTest, RunsPostedTasksInOrder) {
  ThreadExecutor executor("test-exec");
  std::vector<int> ran;
  absl::Notification done;
  for (int i = 0; i < 100; ++i) executor.Post([&ran, i] { ran.push_back(i); });
  executor.Post([&] { done.Notify(); });
  done.WaitForNotification();
  ASSERT_EQ(ran.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ran[i], i);
}

TEST(ThreadExecutorTest, TimersFireInOrderOfDueTimeAndCanBeCancelled) {
  ThreadExecutor executor("test-exec");
  std::vector<int> ran;
  absl::Notification done;
  executor.PostAfter(absl::Milliseconds(20), [&] {
    ran.push_back(2);
    done.Notify();
  });
  executor.PostAfter(absl::Milliseconds(5), [&] { ran.push_back(1); });
  const auto id = executor.PostAfter(absl::Milliseconds(8), [&] { ran.push_back(9); });
  EXPECT_TRUE(executor.Cancel(id));
  done.WaitForNotification();
  EXPECT_EQ(ran, (std::vector<int>{1, 2}));
}

TEST(ThreadExecutorTest, StopDropsWhatHasNotRun) {
  auto owned = std::make_shared<int>(1);
  ThreadExecutor executor("test-exec");
  executor.PostAfter(absl::Hours(1), [owned] { FAIL(); });
  executor.Stop();
  EXPECT_EQ(owned.use_count(), 1);
  executor.Post([owned] { FAIL(); });
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(ThreadExecutorTest, TasksFromManyThreadsRunOneAtATime) {
  ThreadExecutor executor("test-exec");
  int unguarded = 0;  // a data race here would be reported by the thread sanitizer
  std::atomic<int> posted{0};
  {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 250; ++i) {
          executor.Post([&] { ++unguarded; });
          ++posted;
        }
      });
    }
    for (auto& thread : threads) thread.join();
  }
  absl::Notification done;
  executor.Post([&] { done.Notify(); });
  done.WaitForNotification();
  EXPECT_EQ(unguarded, posted.load());
}

}  // namespace
}  // namespace hekla::util
