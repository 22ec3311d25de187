#include "pkg/metrics/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

namespace hekla::metrics {
namespace {

using ::testing::HasSubstr;

TEST(RegistryTest, FamiliesAreSortedAndEscaped) {
  Registry registry;
  registry.NewGauge("b_gauge", "back\\slash and\nline").Set(1.5);
  auto& family = registry.NewCounterFamily("a_total", "counts", {"result", "queue"});
  family.With({"ok", "say \"hi\"\n\\"})->Add(3);
  family.With({"error", "q"})->Add();
  EXPECT_EQ(registry.Expose(),
            "# HELP a_total counts\n"
            "# TYPE a_total counter\n"
            "a_total{queue=\"q\",result=\"error\"} 1\n"
            "a_total{queue=\"say \\\"hi\\\"\\n\\\\\",result=\"ok\"} 3\n"
            "# HELP b_gauge back\\\\slash and\\nline\n"
            "# TYPE b_gauge gauge\n"
            "b_gauge 1.5\n");
}

TEST(RegistryTest, HistogramsAreCumulative) {
  Registry registry;
  auto& histogram = registry.NewHistogram("h", "times", {1, 2.5});
  for (double v : {0.5, 1.0, 1.5, 99.0}) histogram.Observe(v);
  EXPECT_EQ(registry.Expose(),
            "# HELP h times\n"
            "# TYPE h histogram\n"
            "h_bucket{le=\"1\"} 2\n"
            "h_bucket{le=\"2.5\"} 3\n"
            "h_bucket{le=\"+Inf\"} 4\n"
            "h_sum 102\n"  // 0.5 + 1 + 1.5 + 99
            "h_count 4\n");
}

TEST(RegistryTest, RemovedSeriesDisappearAndTheirHandlesStayUsable) {
  Registry registry;
  auto& family = registry.NewGaugeFamily("queue_share", "share", {"queue_name", "resource"});
  auto handle = family.With({"q1", "cpu"});
  family.With({"q1", "gpu"})->Set(2);
  family.With({"q2", "cpu"})->Set(3);
  EXPECT_TRUE(family.Remove({"q2", "cpu"}));
  EXPECT_FALSE(family.Remove({"q2", "cpu"}));
  EXPECT_EQ(family.All().size(), 2u);
  family.RemoveWhere(0, "q1");
  handle->Set(7);
  EXPECT_EQ(registry.Expose(), "");
  EXPECT_EQ(family.With({"q1", "cpu"})->value(), 0);
}

TEST(RegistryDeathTest, ANameIsTakenOnce) {
  Registry registry;
  registry.NewCounter("x", "");
  EXPECT_DEATH(registry.NewGauge("x", ""), "registered twice");
}

TEST(RegistryTest, UpdatesFromManyThreadsAreAllCounted) {
  Registry registry;
  Counter& counter = registry.NewCounter("c", "");
  auto& family = registry.NewHistogramFamily("h", "", {"stage"}, {1});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      auto histogram = family.With({"a"});
      for (int i = 0; i < 1000; ++i) {
        counter.Add();
        histogram->Observe(0.5);
      }
      registry.Expose();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(counter.value(), 4000);
  EXPECT_EQ(family.With({"a"})->snapshot().count, 4000u);
  EXPECT_EQ(family.With({"a"})->snapshot().sum, 2000);
}

TEST(FormatNumberTest, IsShortAndReadsBack) {
  EXPECT_EQ(FormatNumber(0), "0");
  EXPECT_EQ(FormatNumber(100000), "100000");
  EXPECT_EQ(FormatNumber(0.1), "0.1");
  EXPECT_EQ(FormatNumber(-2.5), "-2.5");
  EXPECT_EQ(FormatNumber(999999), "999999");
  EXPECT_EQ(FormatNumber(1000000), "1e+06");
  EXPECT_EQ(FormatNumber(123456789), "1.23456789e+08");
  EXPECT_EQ(FormatNumber(0.00001), "1e-05");
  EXPECT_EQ(FormatNumber(std::numeric_limits<double>::infinity()), "+Inf");
  EXPECT_EQ(FormatNumber(-std::numeric_limits<double>::infinity()), "-Inf");
  EXPECT_EQ(FormatNumber(std::nan("")), "NaN");
}

// spec scheduler-core worked example E21.
TEST(BucketsTest, ExponentialRangeMatchesTheWorkedExample) {
  const auto cycle = ExponentialRange(1, 5000, 20);
  ASSERT_EQ(cycle.size(), 20u);
  EXPECT_EQ(cycle[0], 1);
  EXPECT_NEAR(cycle[1], 1.565607, 1e-6);
  EXPECT_NEAR(cycle[2], 2.4511, 1e-4);
  EXPECT_NEAR(cycle[3], 3.8375, 1e-4);
  EXPECT_NEAR(cycle[19], 5000, 1e-8);
  const auto plugin = ExponentialRange(0.1, 100, 15);
  EXPECT_NEAR(plugin[1] / plugin[0], 1.637894, 1e-6);
  EXPECT_NEAR(plugin[1], 0.1638, 1e-4);
  EXPECT_NEAR(plugin[2], 0.2683, 1e-4);
  const auto job = ExponentialRange(100, 120000, 30);
  EXPECT_NEAR(job[1] / job[0], 1.276964, 1e-6);
  EXPECT_NEAR(job[1], 127.6964, 1e-4);
  EXPECT_NEAR(job[2], 163.0637, 1e-4);
}

TEST(BucketsTest, OthersAreWhatTheirNamesSay) {
  EXPECT_EQ(ExponentialBuckets(5, 2, 3), (std::vector<double>{5, 10, 20}));
  EXPECT_EQ(LinearBuckets(1, 0.5, 3), (std::vector<double>{1, 1.5, 2}));
}

TEST(ProcessMetricsTest, AreThere) {
  Registry registry;
  AddProcessMetrics(registry);
  const std::string text = registry.Expose();
  for (const char* name : {"process_cpu_seconds_total", "process_open_fds", "process_max_fds",
                           "process_virtual_memory_bytes", "process_resident_memory_bytes",
                           "process_start_time_seconds"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n") + name + " "));
    EXPECT_EQ(text.find(std::string("\n") + name + " 0\n"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace hekla::metrics
