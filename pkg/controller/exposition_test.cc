#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "pkg/controller/queue_metrics.h"
#include "pkg/metrics/registry.h"

// What a controller and its queue show on /metrics, byte for byte, but for the help texts, which
// are our own. Source: spec kube-machinery 2.9.
namespace hekla::controller {
namespace {

using ::testing::ElementsAreArray;

std::vector<std::string> WithoutHelp(const std::string& text) {
  std::vector<std::string> lines;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (!absl::StartsWith(line, "# HELP ")) lines.emplace_back(line);
  }
  return lines;
}

// `counts`: how many observations are at most the bound; the last one holds for all that follow.
void AppendHistogram(const std::string& name, const std::string& labels,
                     const std::vector<std::string>& bounds, const std::vector<int>& counts,
                     const std::string& sum, std::vector<std::string>& out) {
  out.push_back(absl::StrCat("# TYPE ", name, " histogram"));
  size_t i = 0;
  for (const std::string& bound : bounds) {
    const int count = counts[std::min(i++, counts.size() - 1)];
    out.push_back(absl::StrCat(name, "_bucket{", labels, ",le=\"", bound, "\"} ", count));
  }
  out.push_back(absl::StrCat(name, "_bucket{", labels, ",le=\"+Inf\"} ", counts.back()));
  out.push_back(absl::StrCat(name, "_sum{", labels, "} ", sum));
  out.push_back(absl::StrCat(name, "_count{", labels, "} ", counts.back()));
}

TEST(ExpositionTest, FamiliesOfAControllerHaveUpstreamsNamesTypesLabelsAndBuckets) {
  metrics::Registry registry;
  ControllerMetrics families(registry);
  QueueMetrics queue(&families, "raycluster");
  for (const char* result : {"error", "requeue", "requeue_after", "success"}) {
    families.reconcile_total.With({"raycluster", result});
  }
  families.reconcile_total.With({"raycluster", "success"})->Add(2);
  for (metrics::CounterFamily* family : {&families.reconcile_errors, &families.terminal_errors,
                                         &families.panics, &families.timeouts}) {
    family->With({"raycluster"});
  }
  families.reconcile_time.With({"raycluster"})->Observe(0.025);
  families.max_concurrent.With({"raycluster"})->Set(10);
  families.active_workers.With({"raycluster"});
  families.leader_status.With({"ray-operator-leader"})->Set(1);
  queue.BecameReady(0);
  queue.BecameReady(-100);
  queue.LeftReady(0);
  queue.Retried();
  queue.Dispatched(absl::Milliseconds(1));
  queue.Finished(absl::Milliseconds(500));
  queue.SetRunning([] { return std::make_pair(1.5, 1.0); });

  std::vector<std::string> want = {
      "# TYPE controller_runtime_active_workers gauge",
      "controller_runtime_active_workers{controller=\"raycluster\"} 0",
      "# TYPE controller_runtime_max_concurrent_reconciles gauge",
      "controller_runtime_max_concurrent_reconciles{controller=\"raycluster\"} 10",
      "# TYPE controller_runtime_reconcile_errors_total counter",
      "controller_runtime_reconcile_errors_total{controller=\"raycluster\"} 0",
      "# TYPE controller_runtime_reconcile_panics_total counter",
      "controller_runtime_reconcile_panics_total{controller=\"raycluster\"} 0"};
  AppendHistogram("controller_runtime_reconcile_time_seconds", "controller=\"raycluster\"",
                  {"0.005", "0.01", "0.025", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3",  "0.35",
                   "0.4",   "0.45", "0.5",   "0.6",  "0.7", "0.8",  "0.9", "1",    "1.25", "1.5",
                   "1.75",  "2",    "2.5",   "3",    "3.5", "4",    "4.5", "5",    "6",    "7",
                   "8",     "9",    "10",    "15",   "20",  "25",   "30",  "40",   "50",   "60"},
                  {0, 0, 1}, "0.025", want);
  for (const char* line :
       {"# TYPE controller_runtime_reconcile_timeouts_total counter",
        "controller_runtime_reconcile_timeouts_total{controller=\"raycluster\"} 0",
        "# TYPE controller_runtime_reconcile_total counter",
        "controller_runtime_reconcile_total{controller=\"raycluster\",result=\"error\"} 0",
        "controller_runtime_reconcile_total{controller=\"raycluster\",result=\"requeue\"} 0",
        "controller_runtime_reconcile_total{controller=\"raycluster\",result=\"requeue_after\"} 0",
        "controller_runtime_reconcile_total{controller=\"raycluster\",result=\"success\"} 2",
        "# TYPE controller_runtime_terminal_reconcile_errors_total counter",
        "controller_runtime_terminal_reconcile_errors_total{controller=\"raycluster\"} 0",
        "# TYPE leader_election_master_status gauge",
        "leader_election_master_status{name=\"ray-operator-leader\"} 1",
        "# TYPE workqueue_adds_total counter",
        "workqueue_adds_total{controller=\"raycluster\",name=\"raycluster\"} 2",
        "# TYPE workqueue_depth gauge",
        "workqueue_depth{controller=\"raycluster\",name=\"raycluster\",priority=\"-100\"} 1",
        "workqueue_depth{controller=\"raycluster\",name=\"raycluster\",priority=\"0\"} 0",
        "# TYPE workqueue_longest_running_processor_seconds gauge",
        "workqueue_longest_running_processor_seconds{controller=\"raycluster\",name=\"raycluster\"}"
        " 1"}) {
    want.emplace_back(line);
  }
  const std::vector<std::string> bounds = {"1e-08", "1e-07", "1e-06", "1e-05", "0.0001", "0.001",
                                           "0.01",  "0.1",   "1",     "10",    "100",    "1000"};
  const std::string labels = "controller=\"raycluster\",name=\"raycluster\"";
  AppendHistogram("workqueue_queue_duration_seconds", labels, bounds, {0, 0, 0, 0, 0, 1}, "0.001",
                  want);
  want.emplace_back("# TYPE workqueue_retries_total counter");
  want.push_back(absl::StrCat("workqueue_retries_total{", labels, "} 1"));
  want.emplace_back("# TYPE workqueue_unfinished_work_seconds gauge");
  want.push_back(absl::StrCat("workqueue_unfinished_work_seconds{", labels, "} 1.5"));
  AppendHistogram("workqueue_work_duration_seconds", labels, bounds, {0, 0, 0, 0, 0, 0, 0, 0, 1},
                  "0.5", want);
  EXPECT_THAT(WithoutHelp(registry.Expose()), ElementsAreArray(want));
}

TEST(ExpositionTest, HelpOfControllersIsUpstreams) {
  metrics::Registry registry;
  ControllerMetrics families(registry);
  QueueMetrics queue(&families, "raycluster");
  queue.BecameReady(0);
  queue.SetRunning([] { return std::make_pair(1.5, 1.0); });
  const std::string text = registry.Expose();
  for (const char* line :
       {"workqueue_depth Current depth of workqueue by workqueue and priority",
        "workqueue_adds_total Total number of adds handled by workqueue",
        "workqueue_unfinished_work_seconds How many seconds of work has been done that is in "
        "progress and hasn't been observed by work_duration. Large values indicate stuck threads. "
        "One can deduce the number of stuck threads by observing the rate at which this increases.",
        "workqueue_longest_running_processor_seconds How many seconds has the longest running "
        "processor for workqueue been running."}) {
    EXPECT_NE(text.find(absl::StrCat("# HELP ", line, "\n")), std::string::npos) << line << text;
  }
}

}  // namespace
}  // namespace hekla::controller
