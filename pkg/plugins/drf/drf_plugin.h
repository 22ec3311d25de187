#pragma once

#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"
#include "pkg/metrics/metric.h"
#include "pkg/plugins/common/amounts.h"
#include "pkg/plugins/common/job_series.h"
#include "pkg/plugins/drf/queue_hierarchy.h"

// HOT PATH
namespace hekla::plugins {

// Dominant resource fairness: the job whose largest share of any dimension of the cluster is the
// smallest comes first, and may take from jobs that would still hold more without the victim.
//
// Shares follow from the tables at the moment of the question (allocated and pipelined amounts of
// the job), so undoing a statement needs nothing. With enableHierarchy queues are compared too, see
// Hierarchy.
// Source: Volcano plugins/drf; spec scheduler-actions 3.6, example 5.4.
class DrfPlugin final : public framework::Plugin {
 public:
  static constexpr absl::string_view kName = "drf";

  void OnSessionOpen(framework::SessionBuilder& session) override;
  // Gauges of shares.
  void OnSessionClose(framework::Session& session) override;

  int JobOrder(model::JobId a, model::JobId b);
  // Per candidate, in order: a working copy of its job loses the candidate; it is a victim if the
  // preemptor's share (its task included) is then at most that of the rest, within 1e-6.
  framework::VictimAnswer Preemptable(model::TaskId preemptor, framework::TaskSpan candidates);

  // Share of a job now.
  double ShareOf(model::JobId job) const;

 private:
  const model::Tables* view_ = nullptr;
  UnitScale scale_;
  Amounts total_;
  JobSeries<std::shared_ptr<metrics::Gauge>> series_;
  std::unique_ptr<QueueHierarchy> hierarchy_;  // only with enableHierarchy
};

}  // namespace hekla::plugins
