#include "pkg/framework/scheduler_metrics.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hekla::framework {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Names, labels and buckets are looked at by dashboards: spec scheduler-core 11.
TEST(SchedulerMetricsTest, NamesLabelsAndBucketsAreUpstreams) {
  metrics::Registry registry;
  SchedulerMetrics metrics(registry);
  metrics.e2e_latency.Observe(2);
  metrics.action_latency.With({"allocate"})->Observe(1);
  metrics.plugin_latency.With({"gang", "OnSessionOpen"})->Observe(0.1);
  metrics.task_latency.With({"Bound"})->Observe(50);
  metrics.queue_allocated.milli_cpu.With({"q1"})->Set(1500);
  metrics.queue_real_capacity.scalar_resources.With({"q1", "nvidia.com/gpu"})->Set(2000);
  metrics.unscheduled_tasks.With({"train"})->Set(3);
  metrics.job_share.With({"ml", "train"})->Set(0.5);
  const std::string text = registry.Expose();
  for (const char* line :
       {"# TYPE volcano_e2e_scheduling_latency_milliseconds histogram\n",
        "volcano_e2e_scheduling_latency_milliseconds_bucket{le=\"1\"} 0\n",
        "volcano_e2e_scheduling_latency_milliseconds_count 1\n",
        "volcano_action_scheduling_latency_milliseconds_count{action=\"allocate\"} 1\n",
        "volcano_plugin_scheduling_latency_milliseconds_bucket{OnSession=\"OnSessionOpen\","
        "plugin=\"gang\",le=\"0.1\"} 1\n",
        "volcano_task_scheduling_latency_milliseconds_bucket{stage=\"Bound\",le=\"50\"} 1\n",
        "volcano_queue_allocated_milli_cpu{queue_name=\"q1\"} 1500\n",
        "volcano_queue_real_capacity_scalar_resources{queue_name=\"q1\",resource=\"nvidia.com/"
        "gpu\"} 2000\n",
        "volcano_unschedule_task_count{job_id=\"train\"} 3\n",
        "volcano_job_share{job_id=\"train\",job_ns=\"ml\"} 0.5\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(SchedulerMetricsTest, SeriesOfQueuesAndJobsCanBeForgotten) {
  metrics::Registry registry;
  SchedulerMetrics metrics(registry);
  metrics.queue_deserved.memory_bytes.With({"q1"})->Set(1);
  metrics.queue_deserved.scalar_resources.With({"q1", "gpu"})->Set(1);
  metrics.queue_share.With({"q1"})->Set(1);
  metrics.queue_share.With({"q2"})->Set(1);
  metrics.job_duration.With({"train", "q1", "ml"})->Set(1);
  metrics.job_duration.With({"train", "q1", "other"})->Set(1);
  metrics.ForgetQueue("q1");
  metrics.ForgetJob("ml", "train");
  const std::string text = registry.Expose();
  EXPECT_THAT(text, Not(HasSubstr("queue_name=\"q1\"")));
  EXPECT_THAT(text, HasSubstr("queue_name=\"q2\""));
  EXPECT_THAT(text, Not(HasSubstr("job_namespace=\"ml\"")));
  EXPECT_THAT(text, HasSubstr("job_namespace=\"other\""));
}

}  // namespace
}  // namespace hekla::framework
