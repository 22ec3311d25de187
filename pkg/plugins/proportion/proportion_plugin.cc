#include "pkg/plugins/proportion/proportion_plugin.h"

namespace hekla::plugins {

using framework::TaskSpan;
using framework::VictimAnswer;
using framework::Vote;

void ProportionPlugin::OnSessionOpen(framework::SessionBuilder& session) {
  session_ = &session.session();
  view_ = &session.view();
  attributes_.Open(*session_);
  framework::Points& points = session_->points();
  const framework::EnableFlags& on = session.enabled();
  session.At(points.queue_order, on.queue_order).Add<&ProportionPlugin::QueueOrder>(*this);
  session.At(points.reclaimable, on.reclaimable).Add<&ProportionPlugin::Reclaimable>(*this);
  session.At(points.overused, on.overused).Add<&ProportionPlugin::Overused>(*this);
  session.At(points.allocatable, on.allocatable).Add<&ProportionPlugin::Allocatable>(*this);
  session.At(points.preemptive, on.preemptive).Add<&ProportionPlugin::Preemptive>(*this);
  session.At(points.job_enqueueable, on.job_enqueued).Add<&ProportionPlugin::JobEnqueueable>(*this);
  session.At(points.job_enqueued, on.job_enqueued).Add<&ProportionPlugin::JobEnqueued>(*this);
}

void ProportionPlugin::OnSessionClose(framework::Session& session) {
  framework::SchedulerMetrics* metrics = session.deps().metrics;
  if (metrics == nullptr) return;
  const model::ResourceLayout& layout = session.dictionary().resources;
  const auto write = [&](model::QueueId q) {
    gauges_.Write(*metrics, *view_, layout, attributes_, q);
  };
  if (attributes_.divided()) {
    for (model::QueueId q : attributes_.queues()) write(q);
  }
  for (model::QueueId q : session.cluster().unpublished_queues()) write(q);
}

int ProportionPlugin::QueueOrder(model::QueueId a, model::QueueId b) {
  const int32_t left = view_->queues.spec[a]->priority, right = view_->queues.spec[b]->priority;
  if (left != right) return left > right ? -1 : 1;
  const double left_share = attributes_.ShareOf(a), right_share = attributes_.ShareOf(b);
  return left_share == right_share ? 0 : (left_share < right_share ? -1 : 1);
}

bool ProportionPlugin::Overused(model::QueueId queue) {
  if (!attributes_.Has(queue)) return false;
  attributes_.HeldBy(queue, held_);
  return LessEqual(attributes_.deserved(queue), held_);
}

bool ProportionPlugin::Fits(model::QueueId queue, const model::Resource& request) {
  const UnitScale& scale = attributes_.scale();
  attributes_.HeldBy(queue, held_);
  Accumulate(request, scale, held_);
  request_.resize(scale.size(), 0.0);
  Load(request, scale, request_);
  return FitsOnRequest(held_, attributes_.deserved(queue), request_);
}

bool ProportionPlugin::Allocatable(model::QueueId queue, model::TaskId task) {
  if (!view_->queues.IsOpen(queue) || !attributes_.Has(queue)) return false;
  return Fits(queue, view_->tasks.pod[task]->request);
}

bool ProportionPlugin::Preemptive(model::QueueId queue, TaskSpan candidates) {
  if (!view_->queues.IsOpen(queue) || !attributes_.Has(queue)) return false;
  model::Resource together;
  for (model::TaskId task : candidates) together += view_->tasks.pod[task]->request;
  return Fits(queue, together);
}

VictimAnswer ProportionPlugin::Reclaimable(model::TaskId reclaimer, TaskSpan candidates) {
  (void)reclaimer;
  VictimAnswer answer{.vote = Vote::kPermit, .victims = {}};
  const UnitScale& scale = attributes_.scale();
  absl::flat_hash_map<model::QueueId, Amounts> left;
  for (model::TaskId candidate : candidates) {
    const model::JobId job = view_->tasks.job[candidate];
    if (!job.valid()) continue;
    const model::QueueId queue = view_->jobs.queue[job];
    if (!queue.valid() || !attributes_.Has(queue)) continue;
    auto [it, fresh] = left.try_emplace(queue);
    if (fresh) attributes_.HeldBy(queue, it->second);
    if (LessEqual(it->second, attributes_.deserved(queue))) continue;
    const absl::Span<const int64_t> request = view_->tasks.pod[candidate]->request.amounts();
    for (size_t d = 0; d < request.size(); ++d) {
      it->second[d] -= static_cast<double>(request[d]) * scale[d];
    }
    answer.victims.push_back(candidate);
  }
  return answer;
}

}  // namespace hekla::plugins
