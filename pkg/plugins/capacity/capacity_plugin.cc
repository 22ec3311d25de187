#include "pkg/plugins/capacity/capacity_plugin.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "pkg/framework/scheduler_metrics.h"

namespace hekla::plugins {

using framework::TaskSpan;
using framework::Vote;
using model::QueueId;

CapacityPlugin::CapacityPlugin(const framework::Arguments& arguments) {
  arguments.GetInt("ancestorReclaimLevel", ancestor_level_);
  if (ancestor_level_ < 0) {
    LOG(WARNING) << "ancestorReclaimLevel is negative, using 0 level=" << ancestor_level_;
    ancestor_level_ = 0;
  }
}

void CapacityPlugin::OnSessionOpen(framework::SessionBuilder& session) {
  session_ = &session.session();
  view_ = &session.view();
  const framework::EnableFlags& on = session.enabled();
  attributes_.Open(*session_, on.hierarchy);
  framework::Points& points = session_->points();
  session.At(points.queue_order, on.queue_order).Add<&CapacityPlugin::QueueOrder>(*this);
  session.At(points.victim_queue_order, on.hierarchy).Add<&CapacityPlugin::VictimQueueOrder>(*this);
  session.At(points.reclaimable, on.reclaimable).Add<&CapacityPlugin::Reclaimable>(*this);
  session.At(points.unified_evictable, true).Add<&CapacityPlugin::UnifiedEvictable>(*this);
  session.At(points.allocatable, on.allocatable).Add<&CapacityPlugin::Allocatable>(*this);
  session.At(points.preemptive, on.preemptive).Add<&CapacityPlugin::Preemptive>(*this);
  session.At(points.job_enqueueable, on.job_enqueued).Add<&CapacityPlugin::JobEnqueueable>(*this);
  session.At(points.job_enqueued, on.job_enqueued).Add<&CapacityPlugin::JobEnqueued>(*this);
}

void CapacityPlugin::OnSessionClose(framework::Session& session) {
  framework::SchedulerMetrics* metrics = session.deps().metrics;
  if (metrics == nullptr) return;
  for (QueueId q : session.cluster().unpublished_queues()) {
    if (!view_->queues.live[q] || !attributes_.Has(q)) continue;
    const double share = attributes_.ShareOf(q);
    metrics->queue_share.With({view_->queues.name[q]})->Set(share);
    metrics->queue_overused.With({view_->queues.name[q]})->Set(share > 1 ? 1 : 0);
  }
}

int CapacityPlugin::QueueOrder(QueueId a, QueueId b) {
  const int32_t left = view_->queues.spec[a]->priority, right = view_->queues.spec[b]->priority;
  if (left != right) return left > right ? -1 : 1;
  if (!attributes_.Has(a) || !attributes_.Has(b)) return 0;
  if (attributes_.IsLeaf(a) != attributes_.IsLeaf(b)) return attributes_.IsLeaf(a) ? -1 : 1;
  // The branches just below the deepest common ancestor.
  QueueId l = a, r = b;
  const auto left_chain = attributes_.ChainOf(a), right_chain = attributes_.ChainOf(b);
  for (size_t up = 0; up < std::min(left_chain.size(), right_chain.size()); ++up) {
    l = left_chain[left_chain.size() - 1 - up];
    r = right_chain[right_chain.size() - 1 - up];
    if (l != r) break;
  }
  const auto share = [&](QueueId q, QueueId leaf) {
    return q == leaf ? attributes_.ShareOf(q) : attributes_.ShareAtOpen(q);
  };
  const double left_share = share(l, a), right_share = share(r, b);
  if (left_share != right_share) return left_share < right_share ? -1 : 1;
  const bool left_empty = IsEmpty(attributes_.deserved(l));
  const bool right_empty = IsEmpty(attributes_.deserved(r));
  return left_empty == right_empty ? 0 : (left_empty ? 1 : -1);
}

int CapacityPlugin::VictimQueueOrder(QueueId l, QueueId r, QueueId preemptor) {
  const auto common = [&](QueueId q) {
    if (!attributes_.Has(q) || !attributes_.Has(preemptor)) return 0;
    // Ancestors alone, root first.
    const auto mine = attributes_.ChainOf(q).subspan(1);
    const auto other = attributes_.ChainOf(preemptor).subspan(1);
    int level = 0;
    while (level < static_cast<int>(std::min(mine.size(), other.size())) &&
           mine[mine.size() - 1 - static_cast<size_t>(level)] ==
               other[other.size() - 1 - static_cast<size_t>(level)]) {
      ++level;
    }
    return level;
  };
  return common(r) - common(l);
}

bool CapacityPlugin::TakesJobs(QueueId queue) const {
  return view_->queues.IsOpen(queue) && attributes_.Has(queue) && attributes_.IsLeaf(queue);
}

void CapacityPlugin::Request(const model::Resource& request) {
  request_.assign(attributes_.scale().size(), 0.0);
  Load(request, attributes_.scale(), request_);
}

bool CapacityPlugin::Allocatable(QueueId queue, model::TaskId task) {
  if (!TakesJobs(queue)) return false;
  Request(view_->tasks.pod[task]->request);
  for (QueueId link : attributes_.ChainOf(queue)) {
    attributes_.HeldBy(link, held_);
    for (size_t d = 0; d < held_.size(); ++d) held_[d] += request_[d];
    if (!FitsOnRequest(held_, attributes_.real_capability(link), request_)) return false;
  }
  return true;
}

// What the queue would hold stays within its deserved amount in some dimension.
bool CapacityPlugin::LendsTo(QueueId queue, const Amounts& request) {
  attributes_.HeldBy(queue, held_);
  for (size_t d = 0; d < held_.size(); ++d) held_[d] += request[d];
  return FitsPartly(held_, attributes_.deserved(queue), request);
}

bool CapacityPlugin::Preemptive(QueueId queue, TaskSpan candidates) {
  if (!TakesJobs(queue)) return false;
  model::Resource together;
  for (model::TaskId task : candidates) together += view_->tasks.pod[task]->request;
  Request(together);
  attributes_.HeldBy(queue, held_);
  for (size_t d = 0; d < held_.size(); ++d) held_[d] += request_[d];
  if (!FitsOnRequest(held_, attributes_.real_capability(queue), request_)) return false;
  const auto chain = attributes_.ChainOf(queue);
  if (LendsTo(queue, request_)) return true;
  // Ancestors up to the given distance, the root excepted.
  for (size_t up = 1; up <= static_cast<size_t>(ancestor_level_) && up + 1 < chain.size(); ++up) {
    if (LendsTo(chain[up], request_)) return true;
  }
  return false;
}

Vote CapacityPlugin::JobEnqueueable(model::JobId job) {
  const QueueId queue = view_->jobs.queue[job];
  if (!TakesJobs(queue)) return Vote::kReject;
  const model::ResourceLimit* minimum = MinResources(view_->jobs, job);
  if (minimum == nullptr) return Vote::kPermit;
  Request(AmountsOf(*minimum));
  const model::ResourceLayout& layout = session_->dictionary().resources;
  for (QueueId link : attributes_.ChainOf(queue)) {
    attributes_.HeldBy(link, held_);
    const Amounts& inqueue = attributes_.inqueue(link);
    const Amounts& elastic = attributes_.elastic(link);
    for (size_t d = 0; d < held_.size(); ++d) held_[d] += request_[d] + inqueue[d] - elastic[d];
    const auto exceeding = Exceeding(held_, attributes_.real_capability(link), request_, layout);
    if (exceeding.empty()) continue;
    session_->RecordPodGroupEvent(job, /*warning=*/false, "Unschedulable",
                                  absl::StrCat("queue resource quota insufficient: ",
                                               JoinNames("insufficient", exceeding, layout)));
    return Vote::kReject;
  }
  return Vote::kPermit;
}

void CapacityPlugin::JobEnqueued(model::JobId job) {
  const model::ResourceLimit* minimum = MinResources(view_->jobs, job);
  if (minimum == nullptr) return;
  model::Resource promised = AmountsOf(*minimum);
  SubtractDownToZero(promised, view_->jobs.gated[job]);
  attributes_.AddInqueue(view_->jobs.queue[job], promised);
}

}  // namespace hekla::plugins
