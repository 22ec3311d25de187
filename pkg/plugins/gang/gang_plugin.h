#pragma once

#include <cstdint>
#include <memory>

#include "absl/strings/string_view.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"
#include "pkg/metrics/metric.h"
#include "pkg/plugins/common/job_series.h"
#include "pkg/plugins/gang/gang_checks.h"

// HOT PATH
namespace hekla::plugins {

// All or nothing: a job starts with minMember tasks, per role with minTaskMember, per sub-group
// policy with minSubGroups, or not at all; and it is not evicted below.
//
// Quirk: order, starving and the condition written at close use only the count of tasks, not roles.
// Source: Volcano plugins/gang; spec scheduler-actions 3.3, example 5.6.
class GangPlugin final : public framework::Plugin {
 public:
  static constexpr absl::string_view kName = "gang";

  void OnSessionOpen(framework::SessionBuilder& session) override;
  // Conditions Scheduled and Unschedulable.
  void OnSessionClose(framework::Session& session) override;

  framework::ValidResult JobValid(model::JobId job);
  bool JobReady(model::JobId job);
  framework::Vote JobPipelined(model::JobId job);
  bool SubJobReady(model::JobId job, model::SubJobId sub_job);
  framework::Vote SubJobPipelined(model::JobId job, model::SubJobId sub_job);
  bool JobStarving(model::JobId job);
  int JobOrder(model::JobId a, model::JobId b);
  int SubJobOrder(model::SubJobId a, model::SubJobId b);
  // Candidates in order, as long as their job stays at its minimum, and their role at its own.
  framework::VictimAnswer Evictable(model::TaskId preemptor, framework::TaskSpan candidates);
  framework::VictimAnswer UnifiedEvictable(const framework::EvictContext& context,
                                           framework::TaskSpan candidates);

  // minMember minus the tasks that are placed, or would be once the gang is complete.
  int32_t Missing(model::JobId job) const;

 private:
  struct Series {
    std::shared_ptr<metrics::Gauge> unscheduled;
    std::shared_ptr<metrics::Counter> retries;
  };
  void CountJob(framework::SchedulerMetrics& metrics, model::JobId job);

  const model::Tables* view_ = nullptr;
  JobSeries<Series> series_;
  util::IdVector<model::JobId, uint8_t> unready_;
  int32_t unready_jobs_ = 0;
};

}  // namespace hekla::plugins
