// The queue against a model that is short enough to be seen to be right.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "pkg/controller/queue.h"
#include "pkg/util/manual_executor.h"
#include "pkg/util/random.h"
#include "pkg/util/thread_executor.h"

namespace hekla::controller {
namespace {

constexpr absl::Duration kReady = -absl::InfiniteDuration();

// What the queue promises, in the plainest form: a list that is searched.
struct Model {
  struct Item {
    int priority = 0;
    int64_t order = 0;
    absl::Duration due = kReady;
  };
  std::map<Request, Item> items;
  std::set<Request> locked;
  int64_t next = 0;

  void Add(const Request& key, absl::Duration after, int priority, absl::Duration now) {
    const absl::Duration due = after > absl::ZeroDuration() ? now + after : kReady;
    const auto [it, is_new] = items.try_emplace(key, Item{priority, next, due});
    Item& item = it->second;
    item.due = std::min(item.due, due);
    if (is_new || priority > item.priority) item.order = next++;
    item.priority = std::max(item.priority, priority);
  }
  void Tick(absl::Duration now) {
    std::vector<std::tuple<absl::Duration, int, int64_t, Item*>> due;
    for (auto& [key, item] : items) {
      if (item.due == kReady || item.due > now) continue;
      due.emplace_back(item.due, -item.priority, item.order, &item);
    }
    std::sort(due.begin(), due.end());
    for (auto& [time, priority, order, item] : due) {
      item->due = kReady;
      item->order = next++;
    }
  }
  std::optional<Request> Take() {
    const Request* best = nullptr;
    for (const auto& [key, item] : items) {
      if (item.due != kReady || locked.count(key) > 0) continue;
      if (best == nullptr || std::pair(-item.priority, item.order) <
                                 std::pair(-items[*best].priority, items[*best].order)) {
        best = &key;
      }
    }
    if (best == nullptr) return std::nullopt;
    const Request taken = *best;
    items.erase(taken);
    locked.insert(taken);
    return taken;
  }
};

// Random Add / Ask / Done / time against the model, both asked after every step.
class QueuePropertyTest : public ::testing::TestWithParam<uint64_t> {};

TEST_P(QueuePropertyTest, AgreesWithTheModel) {
  util::FakeClock clock;
  util::ManualExecutor executor(&clock);
  RateLimiter limiter({.bucket_per_second = 0});
  std::vector<Request> given;
  PriorityQueue queue({.executor = &executor, .limiter = &limiter});
  Model model;
  util::Random random(GetParam());
  size_t asking = 0;
  std::vector<Request> held;
  const int64_t steps = 250'000;
  for (int64_t step = 0; step < steps; ++step) {
    // Several calls can share one step of the organiser.
    for (uint64_t calls = 1 + random.Below(3); calls > 0; --calls) {
      const uint64_t what = random.Below(10);
      if (what < 5) {
        const Request key{.ns = "",
                          .name = std::string(1, static_cast<char>('a' + random.Below(12)))};
        const absl::Duration after =
            random.Below(2) == 0 ? absl::ZeroDuration() : absl::Milliseconds(random.Below(50));
        const int priority = static_cast<int>(random.Below(4)) - 2;
        queue.Add(key, {.after = after, .priority = priority});
        model.Add(key, after, priority, clock.Uptime());
      } else if (what < 7 && asking < 4) {
        queue.Ask([&](std::optional<PriorityQueue::Item> item) { given.push_back(item->key); });
        ++asking;
      } else if (what < 9 && !held.empty()) {
        const size_t index = random.Below(held.size());
        queue.Done(held[index]);
        model.locked.erase(held[index]);
        held.erase(held.begin() + static_cast<long>(index));
      }
    }
    // What falls due does so in steps of its own: the queue's timer comes before later calls.
    executor.RunReady();
    const auto check = [&](const char* when) {
      std::vector<Request> expected;
      while (asking > 0) {
        std::optional<Request> key = model.Take();
        if (!key.has_value()) break;
        --asking;
        held.push_back(*key);
        expected.push_back(*std::move(key));
      }
      ASSERT_EQ(given, expected) << when << " step " << step << " seed " << GetParam();
      given.clear();
    };
    ASSERT_NO_FATAL_FAILURE(check("after calls,"));
    if (random.Below(3) == 0) {
      const absl::Time until = clock.Now() + absl::Milliseconds(random.Below(20));
      // From due time to due time, as the timer goes.
      while (executor.NextDue() <= until) {
        executor.AdvanceTo(executor.NextDue());
        model.Tick(clock.Uptime());
        ASSERT_NO_FATAL_FAILURE(check("after time,"));
      }
      executor.AdvanceTo(until);
    }
    const PriorityQueue::Counts counts = queue.counts();
    ASSERT_EQ(counts.ready + counts.waiting, model.items.size());
    ASSERT_EQ(counts.locked, model.locked.size());
    ASSERT_EQ(counts.asking, asking);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, QueuePropertyTest, ::testing::Values(1, 2, 3, 4));

// Real threads: no key on two workers, and every add is followed by a run that began after it.
TEST(QueueThreadTest, OneWorkerPerKeyAndNoLostRequest) {
  constexpr int kKeys = 20;
  constexpr int kAddsPerThread = 3000;
  constexpr int kWorkers = 6;
  util::ThreadExecutor executor("queue");
  RateLimiter limiter({.bucket_per_second = 0});
  PriorityQueue queue({.executor = &executor, .limiter = &limiter});

  struct State {
    std::atomic<int> running{0};
    std::atomic<int64_t> wanted{0};  // raised before each add
    std::atomic<int64_t> seen{0};    // of `wanted`, by the last run
    std::atomic<int> runs{0};
  };
  std::vector<State> states(kKeys);
  std::atomic<bool> overlap{false};
  std::vector<std::thread> workers;
  for (int w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&] {
      while (auto item = queue.AskAndWait()) {
        State& state = states[static_cast<size_t>(item->key.name[0] - 'A')];
        if (state.running.fetch_add(1) != 0) overlap = true;
        state.seen = state.wanted.load();
        ++state.runs;
        state.running.fetch_sub(1);
        queue.Done(item->key);
      }
    });
  }
  std::vector<std::thread> adders;
  for (uint64_t a = 0; a < 3; ++a) {
    adders.emplace_back([&, a] {
      util::Random random(a + 1);
      for (int i = 0; i < kAddsPerThread; ++i) {
        const size_t k = random.Below(kKeys);
        ++states[k].wanted;
        AddOptions options;
        options.priority = static_cast<int>(random.Below(3));
        if (random.Below(4) == 0) options.after = absl::Microseconds(random.Below(2000));
        queue.Add({.ns = "", .name = std::string(1, static_cast<char>('A' + k))}, options);
      }
    });
  }
  for (std::thread& thread : adders) thread.join();
  const auto settled = [&] {
    for (const State& state : states) {
      if (state.seen != state.wanted) return false;
    }
    const PriorityQueue::Counts counts = queue.counts();
    return counts.ready + counts.waiting + counts.locked == 0;
  };
  // Every state a worker can leave behind is reached by itself; the limit only ends a broken run.
  const absl::Time limit = absl::Now() + absl::Seconds(60);
  while (!settled() && absl::Now() < limit) std::this_thread::yield();
  EXPECT_TRUE(settled());
  EXPECT_FALSE(overlap);
  int64_t runs = 0;
  for (const State& state : states) runs += state.runs;
  EXPECT_LE(runs, 3 * kAddsPerThread);
  EXPECT_GE(runs, kKeys);
  queue.ShutDown();
  for (std::thread& worker : workers) worker.join();
  executor.Stop();
}

}  // namespace
}  // namespace hekla::controller
