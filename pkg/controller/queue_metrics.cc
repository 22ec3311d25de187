#include "pkg/controller/queue_metrics.h"

#include <utility>

#include "absl/strings/str_cat.h"

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
                                         "Reconciles by controller and result.",
                                         {"controller", "result"})),
      reconcile_errors(r.NewCounterFamily("controller_runtime_reconcile_errors_total",
                                          "Reconciles that failed.", {"controller"})),
      terminal_errors(r.NewCounterFamily("controller_runtime_terminal_reconcile_errors_total",
                                         "Reconciles that failed and are not tried again.",
                                         {"controller"})),
      panics(r.NewCounterFamily("controller_runtime_reconcile_panics_total",
                                "Reconciles that ended in an exception.", {"controller"})),
      timeouts(r.NewCounterFamily("controller_runtime_reconcile_timeouts_total",
                                  "Reconciles that took too long.", {"controller"})),
      reconcile_time(r.NewHistogramFamily("controller_runtime_reconcile_time_seconds",
                                          "Time of one reconcile.", {"controller"},
                                          ReconcileBuckets())),
      max_concurrent(r.NewGaugeFamily("controller_runtime_max_concurrent_reconciles",
                                      "Reconciles that may run at once.", {"controller"})),
      active_workers(r.NewGaugeFamily("controller_runtime_active_workers",
                                      "Reconciles that run now.", {"controller"})),
      depth(r.NewGaugeFamily("workqueue_depth", "Ready keys.", {"name", "controller", "priority"})),
      adds(r.NewCounterFamily("workqueue_adds_total", "Keys that became ready.",
                              {"name", "controller"})),
      retries(r.NewCounterFamily("workqueue_retries_total", "Keys that were added with a delay.",
                                 {"name", "controller"})),
      queue_duration(r.NewHistogramFamily("workqueue_queue_duration_seconds",
                                          "Time from ready to a worker.", {"name", "controller"},
                                          QueueBuckets())),
      work_duration(r.NewHistogramFamily("workqueue_work_duration_seconds",
                                         "Time a worker spent on a key.", {"name", "controller"},
                                         QueueBuckets())),
      leader_status(r.NewGaugeFamily("leader_election_master_status",
                                     "1 while this process holds the lease.", {"name"})) {
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
             longest ? "Time of the reconcile that has run longest."
                     : "Time of all running reconciles so far.");
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
