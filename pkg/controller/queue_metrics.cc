#include "pkg/controller/queue_metrics.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "pkg/kube/leader_election.h"

namespace hekla::controller {
namespace {

constexpr char kUnfinished[] = "workqueue_unfinished_work_seconds";
constexpr char kLongest[] = "workqueue_longest_running_processor_seconds";

std::vector<double> ReconcileBuckets() {
  return {.005, .01, .025, .05, .1,   .15, .2,   .25, .3,  .35, .4,  .45, .5,  .6,
          .7,   .8,  .9,   1,   1.25, 1.5, 1.75, 2,   2.5, 3,   3.5, 4,   4.5, 5,
          6,    7,   8,    9,   10,   15,  20,   25,  30,  40,  50,  60};
}
// 1e-8 to 1e3.
std::vector<double> QueueBuckets() {
  return {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000};
}

}  // namespace

ControllerMetrics::ControllerMetrics(metrics::Registry& r)
    : reconcile_total(r.NewCounterFamily("controller_runtime_reconcile_total",
                                         "Total number of reconciliations per controller",
                                         {"controller", "result"})),
      reconcile_errors(r.NewCounterFamily("controller_runtime_reconcile_errors_total",
                                          "Total number of reconciliation errors per controller",
                                          {"controller"})),
      terminal_errors(r.NewCounterFamily(
          "controller_runtime_terminal_reconcile_errors_total",
          "Total number of terminal reconciliation errors per controller", {"controller"})),
      panics(r.NewCounterFamily("controller_runtime_reconcile_panics_total",
                                "Total number of reconciliation panics per controller",
                                {"controller"})),
      timeouts(r.NewCounterFamily("controller_runtime_reconcile_timeouts_total",
                                  "Total number of reconciliation timeouts per controller",
                                  {"controller"})),
      reconcile_time(r.NewHistogramFamily("controller_runtime_reconcile_time_seconds",
                                          "Length of time per reconciliation per controller",
                                          {"controller"}, ReconcileBuckets())),
      max_concurrent(r.NewGaugeFamily("controller_runtime_max_concurrent_reconciles",
                                      "Maximum number of concurrent reconciles per controller",
                                      {"controller"})),
      active_workers(r.NewGaugeFamily("controller_runtime_active_workers",
                                      "Number of currently used workers per controller",
                                      {"controller"})),
      depth(r.NewGaugeFamily("workqueue_depth",
                             "Current depth of workqueue by workqueue and priority",
                             {"name", "controller", "priority"})),
      adds(r.NewCounterFamily("workqueue_adds_total", "Total number of adds handled by workqueue",
                              {"name", "controller"})),
      retries(r.NewCounterFamily("workqueue_retries_total",
                                 "Total number of retries handled by workqueue",
                                 {"name", "controller"})),
      queue_duration(r.NewHistogramFamily(
          "workqueue_queue_duration_seconds",
          "How long in seconds an item stays in workqueue before being requested",
          {"name", "controller"}, QueueBuckets())),
      work_duration(
          r.NewHistogramFamily("workqueue_work_duration_seconds",
                               "How long in seconds processing an item from workqueue takes.",
                               {"name", "controller"}, QueueBuckets())),
      leader_status(kube::LeaderStatus(r)) {
  r.AddCollector(kUnfinished, [this](metrics::TextWriter& out) { Collect(false, out); });
  r.AddCollector(kLongest, [this](metrics::TextWriter& out) { Collect(true, out); });
}

void ControllerMetrics::SetRunning(const std::string& controller, Running running) {
  absl::MutexLock lock(&mutex_);
  if (running == nullptr) {
    running_.erase(controller);
  } else {
    running_[controller] = std::move(running);
  }
}

void ControllerMetrics::Collect(bool longest, metrics::TextWriter& out) const {
  std::map<std::string, Running> running;
  {
    absl::MutexLock lock(&mutex_);
    running = running_;
  }
  if (running.empty()) return;
  const char* const name = longest ? kLongest : kUnfinished;
  out.Family(name, "gauge",
             longest
                 ? "How many seconds has the longest running processor for workqueue been running."
                 : "How many seconds of work has been done that is in progress and hasn't been "
                   "observed by work_duration. Large values indicate stuck threads. One can deduce "
                   "the number of stuck threads by observing the rate at which this increases.");
  for (const auto& [controller, ask] : running) {
    const auto [sum, longest_one] = ask();
    out.Sample(name, {{"controller", controller}, {"name", controller}},
               longest ? longest_one : sum);
  }
}

QueueMetrics::QueueMetrics(ControllerMetrics* families, std::string name)
    : families_(families),
      name_(std::move(name)),
      adds_(families->adds.With({name_, name_})),
      retries_(families->retries.With({name_, name_})),
      queue_duration_(families->queue_duration.With({name_, name_})),
      work_duration_(families->work_duration.With({name_, name_})) {}

void QueueMetrics::BecameReady(int priority) {
  adds_->Add();
  Depth(priority).Add(1);
}
void QueueMetrics::LeftReady(int priority) { Depth(priority).Add(-1); }
void QueueMetrics::Moved(int from, int to) {
  if (from == to) return;
  Depth(from).Add(-1);
  Depth(to).Add(1);
}

metrics::Gauge& QueueMetrics::Depth(int priority) {
  const auto it = depth_.find(priority);
  if (it != depth_.end()) return *it->second;
  const std::string label =
      depth_.size() < kMaxPriorities ? absl::StrCat(priority) : std::string(kTooManyPriorities);
  return *depth_.emplace(priority, families_->depth.With({name_, name_, label})).first->second;
}

}  // namespace hekla::controller
