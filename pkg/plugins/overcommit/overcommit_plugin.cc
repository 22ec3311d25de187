#include "pkg/plugins/overcommit/overcommit_plugin.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "glog/logging.h"
#include "pkg/plugins/common/evidence.h"

namespace hekla::plugins {

using framework::Vote;

OvercommitPlugin::OvercommitPlugin(const framework::Arguments& arguments) {
  arguments.GetDouble("overcommit-factor", factor_);
  if (!(factor_ >= 1.0)) {
    LOG(WARNING) << "overcommit-factor below 1, using the default factor=" << factor_
                 << " default=" << kDefaultFactor;
    factor_ = kDefaultFactor;
  }
}

void OvercommitPlugin::OnSessionOpen(framework::SessionBuilder& session) {
  session_ = &session.session();
  view_ = &session.view();
  scale_.Update(session_->dictionary().resources);
  promised_.Update(*view_, session_->cluster().dirty_jobs(),
                   [this](model::JobId j, JobLedger<1>::Row& row) { row[0] = PromisedMinimum(j); });
  const bool on = session.enabled().job_enqueued;
  if (on) ComputeIdle();
  inqueue_.assign(scale_.size(), 0.0);
  Load(promised_.total()[0], scale_, inqueue_);
  framework::Points& points = session_->points();
  session.At(points.job_enqueueable, on).Add<&OvercommitPlugin::JobEnqueueable>(*this);
  session.At(points.job_enqueued, on).Add<&OvercommitPlugin::JobEnqueued>(*this);
}

// What the job has been promised and does not hold yet, as upstream counts it.
model::Resource OvercommitPlugin::PromisedMinimum(model::JobId job) const {
  const model::JobTable& jobs = view_->jobs;
  const model::ResourceLimit* minimum = MinResources(jobs, job);
  if (minimum == nullptr) return {};
  model::Resource promised;
  if (jobs.phase[job] == model::PodGroupPhase::kInqueue) {
    promised = AmountsOf(*minimum);
  } else if (RunningWithMinimumMet(jobs, job)) {
    promised = AmountsOf(*minimum);
    SubtractDownToZero(promised, jobs.allocated[job]);
  }
  SubtractDownToZero(promised, jobs.gated[job]);
  return promised;
}

void OvercommitPlugin::ComputeIdle() {
  const model::NodeTable& nodes = view_->nodes;
  if (used_.size() != scale_.size()) cursor_.Reset();
  const size_t width = std::min(scale_.size(), nodes.used.width());
  const auto count = [&](model::NodeId node, bool) {
    if (nodes.live[node] == 0) return;
    const int64_t* row = nodes.used.row(node.index());
    int64_t* counted = counted_.data() + nodes.leaf_position[node] * used_.size();
    for (size_t d = 0; d < width; ++d) {
      used_[d] += row[d] - counted[d];
      counted[d] = row[d];
    }
  };
  if (!cursor_.CatchUp(session_->cluster(), count)) {
    used_.assign(scale_.size(), 0);
    counted_.assign(scale_.size() * nodes.leaves.size(), 0);
    for (model::NodeId node : nodes.leaves) count(node, false);
  }
  idle_.assign(scale_.size(), 0.0);
  for (size_t d = 0; d < idle_.size(); ++d) {
    const double total = nodes.total_allocatable.real(static_cast<model::ResourceDim>(d));
    idle_[d] = total * scale_[d] * factor_ - static_cast<double>(used_[d]) * scale_[d];
  }
}

Vote OvercommitPlugin::JobEnqueueable(model::JobId job) {
  const model::ResourceLimit* minimum = MinResources(view_->jobs, job);
  if (minimum == nullptr) return Vote::kPermit;
  minimum_.assign(scale_.size(), 0.0);
  Load(AmountsOf(*minimum), scale_, minimum_);
  together_ = inqueue_;
  for (size_t d = 0; d < minimum_.size(); ++d) together_[d] += minimum_[d];
  const model::ResourceLayout& layout = session_->dictionary().resources;
  const auto exceeding = Exceeding(together_, idle_, minimum_, layout);
  if (exceeding.empty()) return Vote::kPermit;
  session_->RecordPodGroupEvent(
      job, /*warning=*/false, "Unschedulable",
      absl::StrCat("resource in cluster is overused: ", JoinNames("overused", exceeding, layout)));
  return Vote::kReject;
}

void OvercommitPlugin::JobEnqueued(model::JobId job) {
  const model::ResourceLimit* minimum = MinResources(view_->jobs, job);
  if (minimum == nullptr) return;
  model::Resource promised = AmountsOf(*minimum);
  SubtractDownToZero(promised, view_->jobs.gated[job]);
  Accumulate(promised, scale_, inqueue_);
}

void OvercommitPlugin::ExplainEnqueue(model::JobId job, std::vector<framework::LimitCheck>& out) {
  const model::ResourceLimit* minimum = MinResources(view_->jobs, job);
  if (minimum == nullptr || idle_.empty()) return;
  Amounts asked(scale_.size(), 0.0);
  Load(AmountsOf(*minimum), scale_, asked);
  out.push_back(MakeLimitCheck({framework::Cause::kClusterOvercommitted,
                                absl::StrFormat("allocatable x %g - used", factor_),
                                "",
                                {}},
                               inqueue_, asked, idle_, scale_));
}

}  // namespace hekla::plugins
