#pragma once

#include "absl/strings/string_view.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"

// HOT PATH
namespace hekla::plugins {

// Higher priority first, for tasks, jobs and sub-jobs; who has the higher one may take the place of
// others. Source: Volcano plugins/priority; spec scheduler-actions 3.2.
class PriorityPlugin final : public framework::Plugin {
 public:
  static constexpr absl::string_view kName = "priority";

  void OnSessionOpen(framework::SessionBuilder& session) override;

  int TaskOrder(model::TaskId a, model::TaskId b);
  int JobOrder(model::JobId a, model::JobId b);
  int SubJobOrder(model::SubJobId a, model::SubJobId b);
  // Victims have a lower job priority; inside the preemptor's own job a lower task priority.
  framework::VictimAnswer Preemptable(model::TaskId preemptor, framework::TaskSpan candidates);
  framework::VictimAnswer UnifiedEvictable(const framework::EvictContext& context,
                                           framework::TaskSpan candidates);
  // Some task is neither ready nor waiting.
  bool JobStarving(model::JobId job);

 private:
  const model::Tables* view_ = nullptr;
};

}  // namespace hekla::plugins
