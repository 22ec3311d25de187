#pragma once

#include <optional>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"

namespace hekla::plugins {

// A longest waiting time for jobs. The job whose time is up sooner comes first; one whose time is
// up is admitted, and may reserve room, without asking later tiers.
//
// A job's own annotation (volcano.sh/sla-waiting-time) wins over the argument sla-waiting-time.
// Source: Volcano plugins/sla; spec scheduler-actions 3.9, example 5.11.
class SlaPlugin final : public framework::Plugin {
 public:
  static constexpr absl::string_view kName = "sla";

  explicit SlaPlugin(const framework::Arguments& arguments);

  void OnSessionOpen(framework::SessionBuilder& session) override;
  // A job's time runs out without any change to the cluster.
  bool DependsOnTime() const override { return true; }

  int JobOrder(model::JobId a, model::JobId b);
  // Permits a job whose time is up; has no say about others.
  framework::Vote TimeIsUp(model::JobId job);

 private:
  std::optional<absl::Time> DeadlineOf(model::JobId job) const;

  const framework::Session* session_ = nullptr;
  const model::Tables* view_ = nullptr;
  std::optional<absl::Duration> waiting_time_;
};

}  // namespace hekla::plugins
