#include "pkg/plugins/sla/sla_plugin.h"

#include <string>

#include "glog/logging.h"

namespace hekla::plugins {

using framework::Vote;

SlaPlugin::SlaPlugin(const framework::Arguments& arguments) {
  std::string text;
  if (!arguments.GetString("sla-waiting-time", text)) return;
  absl::Duration time;
  if (!absl::ParseDuration(text, &time) || time <= absl::ZeroDuration()) {
    LOG(WARNING) << "sla-waiting-time is no positive duration, ignored value=" << text;
    return;
  }
  waiting_time_ = time;
}

void SlaPlugin::OnSessionOpen(framework::SessionBuilder& session) {
  session_ = &session.session();
  view_ = &session.view();
  framework::Points& points = session.session().points();
  const framework::EnableFlags& on = session.enabled();
  session.At(points.job_order, on.job_order).Add<&SlaPlugin::JobOrder>(*this);
  session.At(points.job_enqueueable, on.job_enqueued).Add<&SlaPlugin::TimeIsUp>(*this);
  session.At(points.job_pipelined, on.job_pipelined).Add<&SlaPlugin::TimeIsUp>(*this);
}

std::optional<absl::Time> SlaPlugin::DeadlineOf(model::JobId job) const {
  const auto& spec = view_->jobs.spec[job];
  if (spec == nullptr) return std::nullopt;
  const std::optional<absl::Duration> limit =
      spec->sla_waiting_time.has_value() ? spec->sla_waiting_time : waiting_time_;
  if (!limit.has_value()) return std::nullopt;
  return spec->creation + *limit;
}

int SlaPlugin::JobOrder(model::JobId a, model::JobId b) {
  const std::optional<absl::Time> left = DeadlineOf(a), right = DeadlineOf(b);
  if (left.has_value() != right.has_value()) return left.has_value() ? -1 : 1;
  if (!left.has_value() || *left == *right) return 0;
  return *left < *right ? -1 : 1;
}

Vote SlaPlugin::TimeIsUp(model::JobId job) {
  const std::optional<absl::Time> deadline = DeadlineOf(job);
  return deadline.has_value() && session_->now() >= *deadline ? Vote::kPermit : Vote::kAbstain;
}

}  // namespace hekla::plugins
