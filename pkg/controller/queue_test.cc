#include "pkg/controller/queue.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pkg/metrics/registry.h"
#include "pkg/util/manual_executor.h"

namespace hekla::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Counts = PriorityQueue::Counts;

// A queue under virtual time, and workers that note what they get.
class QueueTest : public ::testing::Test {
 protected:
  static Request Key(const std::string& name) { return {.ns = "lab", .name = name}; }

  void Add(const std::string& name, AddOptions options = {}) { queue_.Add(Key(name), options); }
  void AddAfter(const std::string& name, absl::Duration after) { Add(name, {.after = after}); }
  // A worker asks once.
  void Ask() {
    queue_.Ask([this](std::optional<PriorityQueue::Item> item) {
      got_.push_back(item.has_value() ? item->key.name : "shutdown");
      if (item.has_value()) last_ = *item;
    });
  }
  void Ask(int workers) {
    for (int i = 0; i < workers; ++i) Ask();
  }
  void Run() { executor_.RunReady(); }
  void Advance(absl::Duration d) { executor_.Advance(d); }
  std::vector<std::string> Got() {
    Run();
    return std::exchange(got_, {});
  }
  Counts CountsNow() {
    Run();
    return queue_.counts();
  }
  bool Exposes(const std::string& line) {
    return registry_.Expose().find(line + "\n") != std::string::npos;
  }

  util::FakeClock clock_;
  util::ManualExecutor executor_{&clock_};
  metrics::Registry registry_;
  ControllerMetrics families_{registry_};
  QueueMetrics queue_metrics_{&families_, "raycluster"};
  RateLimiter limiter_{{.bucket_per_second = 0}};
  PriorityQueue queue_{{.executor = &executor_, .limiter = &limiter_, .metrics = &queue_metrics_}};
  std::vector<std::string> got_;
  PriorityQueue::Item last_;
};

TEST_F(QueueTest, AddOnlyAppendsToTheBuffer) {
  Ask();
  Run();
  Add("a");
  EXPECT_TRUE(got_.empty()) << "nothing happens inside the call";
  EXPECT_EQ(queue_.counts().ready, 0u);
  EXPECT_THAT(Got(), ElementsAre("a"));
}

TEST_F(QueueTest, OneOrganiserMergesTheBufferIntoOneItemPerKey) {
  for (int i = 0; i < 5; ++i) Add("a");
  Add("b");
  EXPECT_EQ(executor_.pending(), 1u) << "one step takes in everything";
  EXPECT_EQ(CountsNow(), (Counts{.ready = 2}));
  Ask(3);
  EXPECT_THAT(Got(), ElementsAre("a", "b"));
}

TEST_F(QueueTest, TheEarliestReadyTimeWins) {
  AddAfter("a", absl::Seconds(10));
  AddAfter("a", absl::Seconds(3));
  AddAfter("a", absl::Seconds(20));
  Ask();
  Run();
  EXPECT_EQ(queue_.NextDue(), executor_.Uptime() + absl::Seconds(3));
  Advance(absl::Seconds(3) - absl::Nanoseconds(1));
  EXPECT_THAT(Got(), ElementsAre());
  Advance(absl::Nanoseconds(1));
  EXPECT_THAT(Got(), ElementsAre("a"));
  Advance(absl::Seconds(60));
  EXPECT_EQ(CountsNow(), (Counts{.locked = 1})) << "the other delays are gone";
}

TEST_F(QueueTest, AReadyItemStaysReadyWhateverDelayIsAdded) {
  Add("a");
  Run();
  AddAfter("a", absl::Seconds(10));
  EXPECT_EQ(CountsNow(), (Counts{.ready = 1}));
}

TEST_F(QueueTest, AnAddWithoutDelayMakesAWaitingItemReady) {
  AddAfter("a", absl::Seconds(10));
  EXPECT_EQ(CountsNow(), (Counts{.waiting = 1}));
  Add("a");
  EXPECT_EQ(CountsNow(), (Counts{.ready = 1}));
}

TEST_F(QueueTest, TheHighestPriorityWins) {
  Add("a", {.priority = 1});
  Add("a", {.priority = 7});
  Add("a", {.priority = 3});
  Ask();
  EXPECT_THAT(Got(), ElementsAre("a"));
  EXPECT_EQ(last_.priority, 7);
}

TEST_F(QueueTest, HighestPriorityFirstAndFirstComeFirstServedWithin) {
  Add("low-1", {.priority = kLowPriority});
  Add("a");
  Add("low-2", {.priority = kLowPriority});
  Add("b");
  Add("high", {.priority = 5});
  Ask(5);
  EXPECT_THAT(Got(), ElementsAre("high", "a", "b", "low-1", "low-2"));
}

TEST_F(QueueTest, ARaisedItemJoinsTheEndOfItsNewLevel) {
  Add("first", {.priority = kLowPriority});
  Add("second");
  Run();
  Add("first");  // a real change of an object of the initial list
  Ask(2);
  EXPECT_THAT(Got(), ElementsAre("second", "first"));
}

TEST_F(QueueTest, AWaitingItemMovesToReadyWhenItsTimeComesAndCountsAsJustArrived) {
  AddAfter("early", absl::Seconds(1));
  Run();
  Advance(absl::Milliseconds(500));
  Add("b");
  Run();
  Advance(absl::Milliseconds(500));
  Add("c");
  Ask(3);
  EXPECT_THAT(Got(), ElementsAre("b", "early", "c"))
      << "\"early\" became ready at 1 s, when b was there; c came later in the same instant";
}

TEST_F(QueueTest, AWaitingItemMadeReadyByAnAddKeepsItsPlace) {
  AddAfter("a", absl::Seconds(10));
  Add("b");
  Run();
  Add("a");
  Ask(2);
  EXPECT_THAT(Got(), ElementsAre("a", "b"));
}

TEST_F(QueueTest, AReadyItemIsHandedOutOnlyWhenAWorkerAsks) {
  Add("a");
  Add("b");
  EXPECT_EQ(CountsNow(), (Counts{.ready = 2}));
  Add("high", {.priority = 9});  // overtakes, because nobody was given anything yet
  Ask();
  EXPECT_THAT(Got(), ElementsAre("high"));
  EXPECT_EQ(CountsNow(), (Counts{.ready = 2, .locked = 1}));
}

TEST_F(QueueTest, AKeyIsLockedUntilDoneAndOtherKeysGoOn) {
  Add("a");
  Ask();
  EXPECT_THAT(Got(), ElementsAre("a"));
  Add("a");
  Add("b");
  Add("a", {.priority = 100});
  Ask(2);
  EXPECT_THAT(Got(), ElementsAre("b")) << "a second worker never gets a";
  EXPECT_EQ(CountsNow(), (Counts{.ready = 1, .locked = 2, .asking = 1}));
  queue_.Done(Key("a"));
  EXPECT_THAT(Got(), ElementsAre("a")) << "what arrived meanwhile is one item";
  EXPECT_EQ(last_.priority, 100);
  queue_.Done(Key("a"));
  EXPECT_EQ(CountsNow(), (Counts{.locked = 1}));
}

TEST_F(QueueTest, ADelayOfALockedKeyRunsWhileItIsLocked) {
  Add("a");
  Ask();
  Run();
  AddAfter("a", absl::Seconds(5));
  EXPECT_EQ(CountsNow(), (Counts{.waiting = 1, .locked = 1}));
  Advance(absl::Seconds(5));
  EXPECT_EQ(CountsNow(), (Counts{.ready = 1, .locked = 1}));
  queue_.Done(Key("a"));
  Ask();
  EXPECT_THAT(Got(), ElementsAre("a", "a"));
}

TEST_F(QueueTest, FailuresWaitExponentiallyAndForgetStartsAnew) {
  const std::vector<int> milliseconds = {5, 10, 20, 40};
  for (int expected : milliseconds) {
    Add("a", {.rate_limited = true});
    Run();
    EXPECT_EQ(queue_.NextDue(), executor_.Uptime() + absl::Milliseconds(expected));
    Ask();
    Advance(absl::Milliseconds(expected));
    EXPECT_THAT(Got(), ElementsAre("a"));
    queue_.Done(Key("a"));
    Run();
  }
  EXPECT_EQ(queue_.NumRequeues(Key("a")), 4);
  queue_.Forget(Key("a"));
  Add("a", {.rate_limited = true});
  Run();
  EXPECT_EQ(queue_.NextDue(), executor_.Uptime() + absl::Milliseconds(5));
}

TEST_F(QueueTest, RateLimitedWithADelayTakesTheShorterAndCountsAFailure) {
  Add("a", {.after = absl::Milliseconds(2), .rate_limited = true});
  Run();
  EXPECT_EQ(queue_.NextDue(), executor_.Uptime() + absl::Milliseconds(2));
  EXPECT_EQ(queue_.NumRequeues(Key("a")), 1);
  Add("b", {.after = absl::Hours(1), .rate_limited = true});
  Run();
  Advance(absl::Milliseconds(2));
  EXPECT_EQ(CountsNow(), (Counts{.ready = 1, .waiting = 1}));
  EXPECT_EQ(queue_.NextDue(), executor_.Uptime() + absl::Milliseconds(3)) << "5 ms, 2 of them gone";
}

TEST_F(QueueTest, ShutdownHandsOutNothingAndDropsWhatIsPending) {
  Add("running");
  Ask();
  EXPECT_THAT(Got(), ElementsAre("running"));
  Add("a");
  AddAfter("b", absl::Seconds(1));
  Run();
  queue_.ShutDown();
  EXPECT_TRUE(queue_.shutting_down());
  Add("late");
  Ask();
  EXPECT_THAT(Got(), ElementsAre("shutdown"));
  EXPECT_EQ(CountsNow(), (Counts{.locked = 1})) << "the running key ends in its own time";
  queue_.Done(Key("running"));
  EXPECT_EQ(CountsNow(), Counts());
  Advance(absl::Seconds(2));
  Ask();
  EXPECT_THAT(Got(), ElementsAre("shutdown"));
}

TEST_F(QueueTest, WorkersThatWaitLearnOfTheShutdown) {
  Ask(2);
  Run();
  queue_.ShutDown();
  EXPECT_THAT(Got(), ElementsAre("shutdown", "shutdown"));
}

TEST_F(QueueTest, TryTakeServesADriverWithoutWorkers) {
  EXPECT_FALSE(queue_.TryTake().has_value());
  Add("a");
  Add("b", {.priority = 1});
  EXPECT_EQ(queue_.TryTake()->key.name, "b");
  EXPECT_EQ(queue_.TryTake()->key.name, "a");
  Add("a");
  EXPECT_FALSE(queue_.TryTake().has_value()) << "a is locked";
  queue_.Done(Key("a"));
  EXPECT_EQ(queue_.TryTake()->key.name, "a");
}

TEST_F(QueueTest, DestroyingAQueueCancelsItsTimers) {
  {
    PriorityQueue other({.executor = &executor_, .limiter = &limiter_, .metrics = nullptr});
    other.Add(Key("a"), {.after = absl::Seconds(1)});
    Run();
    other.Add(Key("b"));
  }
  Advance(absl::Seconds(5));
  EXPECT_EQ(executor_.pending(), 0u);
}

TEST_F(QueueTest, MetricsFollowEveryKey) {
  const std::string labels = "{controller=\"raycluster\",name=\"raycluster\"";
  Add("low", {.priority = kLowPriority});
  Add("a");
  AddAfter("later", absl::Seconds(5));
  Run();
  EXPECT_TRUE(Exposes("workqueue_depth" + labels + ",priority=\"-100\"} 1"));
  EXPECT_TRUE(Exposes("workqueue_depth" + labels + ",priority=\"0\"} 1"));
  EXPECT_TRUE(Exposes("workqueue_adds_total" + labels + "} 2"));
  EXPECT_TRUE(Exposes("workqueue_retries_total" + labels + "} 1"));
  Add("low", {.priority = 0});
  Run();
  EXPECT_TRUE(Exposes("workqueue_depth" + labels + ",priority=\"-100\"} 0"));
  EXPECT_TRUE(Exposes("workqueue_depth" + labels + ",priority=\"0\"} 2"));
  EXPECT_TRUE(Exposes("workqueue_adds_total" + labels + "} 2")) << "raising is no new add";
  Advance(absl::Seconds(2));
  Ask(2);
  Run();
  EXPECT_TRUE(Exposes("workqueue_depth" + labels + ",priority=\"0\"} 0"));
  EXPECT_TRUE(Exposes("workqueue_queue_duration_seconds_sum" + labels + "} 4"));
  EXPECT_TRUE(Exposes("workqueue_queue_duration_seconds_count" + labels + "} 2"));
  Advance(absl::Seconds(1));
  queue_.Done(Key("a"));
  Run();
  EXPECT_TRUE(Exposes("workqueue_work_duration_seconds_sum" + labels + "} 1"));
  Advance(absl::Milliseconds(500));
  EXPECT_TRUE(Exposes("workqueue_unfinished_work_seconds" + labels + "} 1.5"));
  EXPECT_TRUE(Exposes("workqueue_longest_running_processor_seconds" + labels + "} 1.5"));
  EXPECT_TRUE(Exposes("workqueue_adds_total" + labels + "} 2"));
  Advance(absl::Milliseconds(1500));
  EXPECT_TRUE(Exposes("workqueue_adds_total" + labels + "} 3")) << "becoming due is an add";
}

TEST_F(QueueTest, MoreThan25PrioritiesShareOneDepth) {
  for (int i = 0; i < 30; ++i) Add("k" + std::to_string(i), {.priority = i});
  Run();
  EXPECT_TRUE(
      Exposes("workqueue_depth{controller=\"raycluster\",name=\"raycluster\","
              "priority=\"exceeded_cardinality_limit\"} 5"));
}

TEST(RateLimiterTest, DelaysDoubleUpToTheCap) {
  RateLimiter limiter({.bucket_per_second = 0});
  const Request key{.ns = "", .name = "a"};
  const absl::Duration now = absl::ZeroDuration();
  std::vector<absl::Duration> delays;
  for (int n = 0; n <= 70; ++n) delays.push_back(limiter.When(key, now));
  EXPECT_EQ(delays[0], absl::Milliseconds(5));
  EXPECT_EQ(delays[1], absl::Milliseconds(10));
  EXPECT_EQ(delays[7], absl::Milliseconds(640));
  EXPECT_EQ(delays[10], absl::Milliseconds(5120));
  EXPECT_EQ(delays[17], absl::Milliseconds(655360));
  for (int n = 18; n <= 70; ++n) EXPECT_EQ(delays[n], absl::Seconds(1000)) << n;
  limiter.Forget(key);
  EXPECT_EQ(limiter.NumRequeues(key), 0);
  EXPECT_EQ(limiter.When(key, now), absl::Milliseconds(5));
}

TEST(RateLimiterTest, TheOverallBucketJoinsIn) {
  RateLimiter limiter(RateLimiter::Options{});  // 10 per second, 100 at once
  const absl::Duration now = absl::ZeroDuration();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(limiter.When({.ns = "", .name = std::to_string(i)}, now), absl::Milliseconds(5));
  }
  EXPECT_EQ(limiter.When({.ns = "", .name = "x"}, now), absl::Milliseconds(100));
  EXPECT_EQ(limiter.When({.ns = "", .name = "y"}, now), absl::Milliseconds(200));
}

}  // namespace
}  // namespace hekla::controller
