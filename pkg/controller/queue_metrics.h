#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "pkg/metrics/registry.h"

namespace hekla::controller {

class QueueMetrics;

// The metric families that all controllers of one process share, under upstream's names.
// Source: spec kube-machinery 2.9.
struct ControllerMetrics {
  // `registry` must outlive this, and this must outlive every exposition.
  explicit ControllerMetrics(metrics::Registry& registry);

  metrics::CounterFamily& reconcile_total;  // controller, result
  metrics::CounterFamily& reconcile_errors;
  metrics::CounterFamily& terminal_errors;
  metrics::CounterFamily& panics;
  metrics::CounterFamily& timeouts;
  metrics::HistogramFamily& reconcile_time;
  metrics::GaugeFamily& max_concurrent;
  metrics::GaugeFamily& active_workers;
  metrics::GaugeFamily& depth;  // name, controller, priority
  metrics::CounterFamily& adds;
  metrics::CounterFamily& retries;
  metrics::HistogramFamily& queue_duration;
  metrics::HistogramFamily& work_duration;
  metrics::GaugeFamily& leader_status;  // name

  // Asked at each exposition for (unfinished seconds, longest running seconds) of a queue.
  using Running = std::function<std::pair<double, double>()>;
  // `controller` names queue and controller alike.
  void SetRunning(const std::string& controller, Running running);

 private:
  void Collect(bool longest, metrics::TextWriter& out) const;

  mutable absl::Mutex mutex_;
  std::map<std::string, Running> running_ ABSL_GUARDED_BY(mutex_);
};

// What one queue reports.
// Threads: the organiser's, but for SetRunning's function, which is called by whoever exposes.
class QueueMetrics {
 public:
  // Distinct priorities that get a depth of their own; further ones share kTooManyPriorities.
  static constexpr size_t kMaxPriorities = 25;
  static constexpr char kTooManyPriorities[] = "exceeded_cardinality_limit";

  // `families` must outlive this.
  QueueMetrics(ControllerMetrics* families, std::string name);

  // An item became ready / left ready without being raised.
  void BecameReady(int priority);
  void LeftReady(int priority);
  // A ready item changed its priority.
  void Moved(int from, int to);
  // A delayed add.
  void Retried() { retries_->Add(); }
  void Dispatched(absl::Duration waited) {
    queue_duration_->Observe(absl::ToDoubleSeconds(waited));
  }
  void Finished(absl::Duration worked) { work_duration_->Observe(absl::ToDoubleSeconds(worked)); }
  void SetRunning(ControllerMetrics::Running running) {
    families_->SetRunning(name_, std::move(running));
  }

 private:
  metrics::Gauge& Depth(int priority);

  ControllerMetrics* const families_;
  const std::string name_;
  const std::shared_ptr<metrics::Counter> adds_;
  const std::shared_ptr<metrics::Counter> retries_;
  const std::shared_ptr<metrics::Histogram> queue_duration_;
  const std::shared_ptr<metrics::Histogram> work_duration_;
  std::map<int, std::shared_ptr<metrics::Gauge>> depth_;
};

}  // namespace hekla::controller
