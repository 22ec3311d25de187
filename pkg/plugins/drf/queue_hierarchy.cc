#include "pkg/plugins/drf/queue_hierarchy.h"

#include <algorithm>

#include "pkg/plugins/common/jobs.h"

namespace hekla::plugins {

using framework::TaskSpan;
using framework::VictimAnswer;
using framework::Vote;

void QueueHierarchy::Open(framework::Session& session, const UnitScale& scale,
                          const Amounts& total) {
  view_ = &session.tables();
  scale_ = &scale;
  const bool same = built_ && total_ == total && session.cluster().dirty_jobs().empty() &&
                    session.cluster().dirty_queues().empty();
  total_ = total;
  if (!same) Build();
}

void QueueHierarchy::Build() {
  built_ = true;
  tree_ = Hierarchy(total_);
  stale_.clear();
  const model::JobTable& jobs = view_->jobs;
  leaf_.assign(jobs.size(), Hierarchy::kNone);
  path_.assign(view_->queues.size(), {});
  std::vector<model::JobId> order;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const model::JobId j(static_cast<uint32_t>(i));
    if (InSession(jobs, j)) order.push_back(j);
  }
  std::sort(order.begin(), order.end(), [&](model::JobId a, model::JobId b) {
    if (jobs.creation_ns[a] != jobs.creation_ns[b])
      return jobs.creation_ns[a] < jobs.creation_ns[b];
    return jobs.key[a] < jobs.key[b];
  });
  for (model::JobId j : order) {
    const model::QueueSpec& queue = *view_->queues.spec[jobs.queue[j]];
    const Hierarchy::Index parent = tree_.AddPath(queue.hierarchy, queue.hierarchy_weights);
    Amounts request(scale_->size(), 0.0);
    Load(jobs.total[j], *scale_, request);
    leaf_[j] = tree_.AddLeaf(parent, std::move(request));
    SetLeaf(j, nullptr, nullptr);
  }
  for (size_t i = 0; i < view_->queues.size(); ++i) {
    const model::QueueId q(static_cast<uint32_t>(i));
    if (view_->queues.live[q]) path_[q] = tree_.PathOf(view_->queues.spec[q]->hierarchy);
  }
  tree_.Update();
}

void QueueHierarchy::SetLeaf(model::JobId job, const model::Resource* plus,
                             const model::Resource* minus) {
  scratch_.assign(scale_->size(), 0.0);
  Load(view_->jobs.allocated[job], *scale_, scratch_);
  Accumulate(view_->jobs.pipelined[job], *scale_, scratch_);
  if (plus != nullptr) Accumulate(*plus, *scale_, scratch_);
  if (minus != nullptr) {
    const absl::Span<const int64_t> amounts = minus->amounts();
    for (size_t d = 0; d < amounts.size(); ++d) {
      scratch_[d] -= static_cast<double>(amounts[d]) * (*scale_)[d];
    }
  }
  tree_.SetAllocated(leaf_[job], scratch_);
}

void QueueHierarchy::OnTaskChanged(model::TaskId task) {
  const model::JobId job = view_->tasks.job[task];
  if (job.valid() && leaf_.contains(job) && leaf_[job] != Hierarchy::kNone) stale_.push_back(job);
}

void QueueHierarchy::Refresh() {
  if (stale_.empty()) return;
  for (model::JobId job : stale_) SetLeaf(job, nullptr, nullptr);
  stale_.clear();
  tree_.Update();
}

int QueueHierarchy::QueueOrder(model::QueueId a, model::QueueId b) {
  Refresh();
  const double difference = tree_.Compare(path_[a], path_[b]);
  return difference == 0 ? 0 : (difference < 0 ? -1 : 1);
}

VictimAnswer QueueHierarchy::Reclaimable(model::TaskId reclaimer, TaskSpan candidates) {
  VictimAnswer answer{.vote = Vote::kPermit, .victims = {}};
  const model::TaskTable& tasks = view_->tasks;
  const model::JobId job = tasks.job[reclaimer];
  if (!job.valid() || leaf_[job] == Hierarchy::kNone) return answer;
  Refresh();
  const model::QueueId queue = view_->jobs.queue[job];
  SetLeaf(job, &tasks.pod[reclaimer]->request, nullptr);
  for (model::TaskId candidate : candidates) {
    const model::JobId victim_job = tasks.job[candidate];
    if (!victim_job.valid() || leaf_[victim_job] == Hierarchy::kNone) continue;
    SetLeaf(victim_job, nullptr, &tasks.pod[candidate]->request);
    tree_.Update();
    const double difference = tree_.Compare(path_[queue], path_[view_->jobs.queue[victim_job]]);
    if (difference < 0) answer.victims.push_back(candidate);
    SetLeaf(victim_job, nullptr, nullptr);
  }
  SetLeaf(job, nullptr, nullptr);
  tree_.Update();
  return answer;
}

}  // namespace hekla::plugins
