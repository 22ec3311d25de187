#include "pkg/plugins/drf/drf_plugin.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "pkg/framework/scheduler_metrics.h"

namespace hekla::plugins {
namespace {

using framework::TaskSpan;
using framework::VictimAnswer;
using framework::Vote;

// Two shares closer than this are the same.
constexpr double kShareDelta = 0.000001;

}  // namespace

void DrfPlugin::OnSessionOpen(framework::SessionBuilder& session) {
  view_ = &session.view();
  scale_.Update(session.session().dictionary().resources);
  total_.assign(scale_.size(), 0.0);
  for (size_t d = 0; d < total_.size(); ++d) {
    const auto dim = static_cast<model::ResourceDim>(d);
    total_[d] = view_->nodes.total_allocatable.real(dim) * scale_[d];
  }
  framework::Points& points = session.session().points();
  const framework::EnableFlags& on = session.enabled();
  session.At(points.preemptable, on.preemptable).Add<&DrfPlugin::Preemptable>(*this);
  session.At(points.job_order, on.job_order).Add<&DrfPlugin::JobOrder>(*this);
  if (!on.hierarchy) return;
  if (hierarchy_ == nullptr) hierarchy_ = std::make_unique<QueueHierarchy>();
  hierarchy_->Open(session.session(), scale_, total_);
  QueueHierarchy& tree = *hierarchy_;
  session.At(points.queue_order, on.queue_order).Add<&QueueHierarchy::QueueOrder>(tree);
  session.At(points.reclaimable, on.reclaimable).Add<&QueueHierarchy::Reclaimable>(tree);
  session.At(points.allocate_event, true).Add<&QueueHierarchy::OnTaskChanged>(tree);
  session.At(points.deallocate_event, true).Add<&QueueHierarchy::OnTaskChanged>(tree);
}

void DrfPlugin::OnSessionClose(framework::Session& session) {
  framework::SchedulerMetrics* metrics = session.deps().metrics;
  if (metrics == nullptr) return;
  for (model::JobId job : session.cluster().unpublished_jobs()) {
    auto* gauge = series_.Of(
        view_->jobs, job,
        [&](const std::string& space, const std::string& name) {
          return metrics->job_share.With({space, name});
        },
        [&](const std::string& space, const std::string& name) {
          metrics->job_share.Remove({space, name});
        });
    if (gauge != nullptr) (*gauge)->Set(ShareOf(job));
  }
}

double DrfPlugin::ShareOf(model::JobId job) const {
  const model::Resource& allocated = view_->jobs.allocated[job];
  const model::Resource& pipelined = view_->jobs.pipelined[job];
  double largest = 0;
  for (size_t d = 0; d < total_.size(); ++d) {
    if (total_[d] < kTolerance) continue;
    const auto dim = static_cast<model::ResourceDim>(d);
    const double held = static_cast<double>(allocated[dim] + pipelined[dim]) * scale_[d];
    largest = std::max(largest, held / total_[d]);
  }
  return largest;
}

int DrfPlugin::JobOrder(model::JobId a, model::JobId b) {
  const double left = ShareOf(a), right = ShareOf(b);
  return left == right ? 0 : (left < right ? -1 : 1);
}

VictimAnswer DrfPlugin::Preemptable(model::TaskId preemptor, TaskSpan candidates) {
  VictimAnswer answer{.vote = Vote::kPermit, .victims = {}};
  const model::TaskTable& tasks = view_->tasks;
  const model::JobTable& jobs = view_->jobs;
  const auto held = [&](model::JobId job) {
    Amounts amounts(scale_.size(), 0.0);
    Load(jobs.allocated[job], scale_, amounts);
    Accumulate(jobs.pipelined[job], scale_, amounts);
    return amounts;
  };
  const model::JobId job = tasks.job[preemptor];
  if (!job.valid()) return answer;
  Amounts own = held(job);
  Accumulate(tasks.pod[preemptor]->request, scale_, own);
  const double share = DominantShare(own, total_);
  absl::flat_hash_map<model::JobId, Amounts> left;
  for (model::TaskId candidate : candidates) {
    const model::JobId victim_job = tasks.job[candidate];
    if (!victim_job.valid()) continue;
    auto it = left.find(victim_job);
    if (it == left.end()) it = left.emplace(victim_job, held(victim_job)).first;
    const absl::Span<const int64_t> request = tasks.pod[candidate]->request.amounts();
    for (size_t d = 0; d < request.size(); ++d) {
      it->second[d] -= static_cast<double>(request[d]) * scale_[d];
    }
    const double rest = DominantShare(it->second, total_);
    if (share < rest || std::abs(share - rest) <= kShareDelta) answer.victims.push_back(candidate);
  }
  return answer;
}

}  // namespace hekla::plugins
