#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "absl/synchronization/notification.h"
#include "pkg/util/backoff.h"
#include "pkg/util/rate_limiter.h"
#include "pkg/util/thread_pool.h"

namespace hekla::util {
namespace {

constexpr absl::Duration kStart = absl::Hours(7);

// spec kube-machinery worked example 2: QPS 5, burst 10, 13 requests at once.
TEST(TokenBucketTest, BurstGoesAtOnceAndTheRestInTurn) {
  TokenBucket bucket(5, 10);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(bucket.Reserve(kStart), absl::ZeroDuration());
  EXPECT_EQ(bucket.Reserve(kStart), absl::Milliseconds(200));
  EXPECT_EQ(bucket.Reserve(kStart), absl::Milliseconds(400));
  EXPECT_NEAR(absl::ToDoubleSeconds(bucket.Reserve(kStart)), 0.6, 1e-9);
}

TEST(TokenBucketTest, RefillsUpToItsBurst) {
  TokenBucket bucket(1.0 / 300, 25);
  for (int i = 0; i < 25; ++i) EXPECT_TRUE(bucket.TryTake(kStart));
  EXPECT_FALSE(bucket.TryTake(kStart));
  EXPECT_FALSE(bucket.TryTake(kStart + absl::Seconds(299)));
  EXPECT_TRUE(bucket.TryTake(kStart + absl::Seconds(310)));
  EXPECT_FALSE(bucket.TryTake(kStart + absl::Seconds(310)));
  int taken = 0;
  while (bucket.TryTake(kStart + absl::Hours(1000))) ++taken;
  EXPECT_EQ(taken, 25);
}

TEST(TokenBucketTest, NegativeRateNeverLimits) {
  TokenBucket bucket(-1, 0);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(bucket.Reserve(kStart), absl::ZeroDuration());
  EXPECT_TRUE(bucket.TryTake(kStart));
}

// spec kube-machinery worked example 4, as the reflector uses it.
TEST(BackoffTest, QuirkResetsTwoMinutesAfterTheLastResetEvenWhileFailing) {
  Backoff backoff({.reset_after = absl::Minutes(2)}, /*seed=*/7);
  absl::Duration now = kStart;
  for (double low : {0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0}) {
    const absl::Duration delay = backoff.Next(now);
    EXPECT_GE(delay, absl::Seconds(low));
    EXPECT_LT(delay, absl::Seconds(2 * low));
    now += delay;
  }
  const absl::Duration again = backoff.Next(kStart + absl::Seconds(120.5));
  EXPECT_GE(again, absl::Seconds(0.8));
  EXPECT_LT(again, absl::Seconds(1.6));
}

TEST(BackoffTest, WithoutJitterDelaysAreExact) {
  Backoff backoff(
      {.base = absl::Milliseconds(10), .cap = absl::Milliseconds(250), .factor = 5, .jitter = 0},
      1);
  EXPECT_EQ(backoff.Next(kStart), absl::Milliseconds(10));
  EXPECT_EQ(backoff.Next(kStart), absl::Milliseconds(50));
  EXPECT_EQ(backoff.Next(kStart), absl::Milliseconds(250));
  EXPECT_EQ(backoff.Next(kStart), absl::Milliseconds(250));
  backoff.Reset(kStart);
  EXPECT_EQ(backoff.Next(kStart), absl::Milliseconds(10));
}

TEST(ThreadPoolTest, RunsEveryTask) {
  ThreadPool pool("test-pool", 3);
  std::atomic<int> ran{0};
  absl::Notification done;
  for (int i = 0; i < 100; ++i) {
    pool.Post([&](std::stop_token) {
      if (++ran == 100) done.Notify();
    });
  }
  done.WaitForNotification();
  EXPECT_EQ(ran, 100);
}

TEST(ThreadPoolTest, StopReachesRunningTasksAndDropsWaitingOnes) {
  auto owned = std::make_shared<int>(1);
  ThreadPool pool("test-pool", 1);
  absl::Notification running;
  bool stopped = false;
  pool.Post([&](std::stop_token stop) {
    absl::Notification asked;
    std::stop_callback on_stop(stop, [&] { asked.Notify(); });
    running.Notify();
    asked.WaitForNotification();
    stopped = true;
  });
  running.WaitForNotification();
  pool.Post([owned](std::stop_token) { FAIL(); });
  pool.Stop();
  EXPECT_TRUE(stopped);
  EXPECT_EQ(owned.use_count(), 1);
  pool.Post([owned](std::stop_token) { FAIL(); });
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(NamedThreadTest, IsAskedToStopAndJoined) {
  bool stopped = false;
  {
    NamedThread thread("test-thread", [&](std::stop_token stop) {
      absl::Notification asked;
      std::stop_callback on_stop(stop, [&] { asked.Notify(); });
      asked.WaitForNotification();
      stopped = true;
    });
  }
  EXPECT_TRUE(stopped);
}

}  // namespace
}  // namespace hekla::util
