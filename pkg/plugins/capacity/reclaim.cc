#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "pkg/framework/victim_order.h"
#include "pkg/plugins/capacity/capacity_plugin.h"

// Whose pods can be taken back for a queue below its deserved amount.
namespace hekla::plugins {

using framework::EvictContext;
using framework::TaskSpan;
using framework::VictimAnswer;
using framework::Vote;
using model::QueueId;
using model::TaskId;

namespace {

// Some dimension is asked for by both.
bool ShareDimension(const Amounts& a, const Amounts& b, bool pods) {
  for (size_t d = 0; d < std::min(a.size(), b.size()); ++d) {
    if ((pods || d != model::kPods) && a[d] >= kTolerance && b[d] >= kTolerance) return true;
  }
  return false;
}

}  // namespace

// Working copies of what queues hold while candidates are judged one after the other.
class CapacityPlugin::Reclaim {
 public:
  explicit Reclaim(const CapacityPlugin& plugin)
      : attributes_(plugin.attributes_), view_(*plugin.view_) {}

  Amounts RequestOf(TaskId task) const {
    Amounts request(attributes_.scale().size(), 0.0);
    Load(view_.tasks.pod[task]->request, attributes_.scale(), request);
    return request;
  }

  Amounts& HeldBy(QueueId queue) {
    auto [it, fresh] = held_.try_emplace(queue);
    if (fresh) attributes_.HeldBy(queue, it->second);
    return it->second;
  }

  bool KeepsGuarantee(QueueId queue, const Amounts& request) {
    Amounts rest = HeldBy(queue);
    for (size_t d = 0; d < rest.size(); ++d) rest[d] -= request[d];
    return LessEqual(attributes_.guarantee(queue), rest);
  }

  // Nothing that the task asks for is deserved by its queue.
  bool IsImmediate(QueueId queue, const Amounts& request) const {
    return !ShareDimension(request, attributes_.deserved(queue), /*pods=*/true);
  }

  // The queue holds more than it deserves in a dimension the task asks for.
  bool IsAboveDeserved(QueueId queue, const Amounts& request) {
    const Amounts& held = HeldBy(queue);
    const Amounts& deserved = attributes_.deserved(queue);
    for (size_t d = 0; d < request.size(); ++d) {
      if (d == model::kPods || request[d] <= 0) continue;
      const bool relevant =
          d < model::kPods ? deserved[d] >= kTolerance : attributes_.NamesDeserved(queue, d);
      if (relevant && held[d] > deserved[d]) return true;
    }
    return false;
  }

  void Take(QueueId queue, const Amounts& request) {
    Amounts& held = HeldBy(queue);
    for (size_t d = 0; d < held.size(); ++d) held[d] -= request[d];
  }

 private:
  const CapacityAttributes& attributes_;
  const model::Tables& view_;
  absl::flat_hash_map<QueueId, Amounts> held_;
};

VictimAnswer CapacityPlugin::Reclaimable(TaskId reclaimer, TaskSpan candidates) {
  VictimAnswer answer{.vote = Vote::kPermit, .victims = {}};
  const model::JobId job = view_->tasks.job[reclaimer];
  if (!job.valid() || !view_->jobs.queue[job].valid()) return answer;
  const QueueId own = view_->jobs.queue[job];
  if (!attributes_.Has(own)) return answer;
  std::vector<TaskId> order(candidates.begin(), candidates.end());
  framework::SortVictims(*session_, reclaimer, absl::MakeSpan(order));
  Reclaim reclaim(*this);
  const Amounts wanted = reclaim.RequestOf(reclaimer);
  const bool own_immediate = reclaim.IsImmediate(own, wanted);
  const auto own_chain = attributes_.ChainOf(own);
  const auto levels = static_cast<size_t>(attributes_.hierarchical() ? ancestor_level_ : 0);
  for (TaskId candidate : order) {
    const model::JobId victim_job = view_->tasks.job[candidate];
    if (!victim_job.valid() || !view_->jobs.queue[victim_job].valid()) continue;
    const QueueId queue = view_->jobs.queue[victim_job];
    if (!attributes_.Has(queue)) continue;
    const Amounts request = reclaim.RequestOf(candidate);
    if (!ShareDimension(request, wanted, /*pods=*/false)) continue;
    if (!reclaim.KeepsGuarantee(queue, request)) continue;
    const auto chain = attributes_.ChainOf(queue);
    // Ancestors whose own accounts must allow it: those within reach that the reclaimer does not
    // share, the root excepted.
    std::vector<QueueId> ancestors;
    bool shares_ancestor = false;
    for (size_t up = 1; up <= levels && up + 1 < chain.size(); ++up) {
      const bool shared = up < own_chain.size() && own_chain[up] == chain[up];
      shares_ancestor = shares_ancestor || shared;
      if (!shared) ancestors.push_back(chain[up]);
    }
    if (reclaim.IsImmediate(queue, request)) {
      if (shares_ancestor && own_immediate) continue;
    } else if (!reclaim.IsAboveDeserved(queue, request)) {
      continue;
    }
    const bool allowed = std::all_of(ancestors.begin(), ancestors.end(), [&](QueueId ancestor) {
      return reclaim.IsImmediate(ancestor, request) || reclaim.IsAboveDeserved(ancestor, request);
    });
    if (!allowed) continue;
    reclaim.Take(queue, request);
    for (QueueId ancestor : ancestors) reclaim.Take(ancestor, request);
    answer.victims.push_back(candidate);
  }
  return answer;
}

VictimAnswer CapacityPlugin::UnifiedEvictable(const EvictContext& context, TaskSpan candidates) {
  VictimAnswer answer{.vote = Vote::kPermit, .victims = {}};
  if (context.kind != EvictContext::Kind::kGangReclaim) {
    answer.victims.assign(candidates.begin(), candidates.end());
    return answer;
  }
  Reclaim reclaim(*this);
  for (TaskId candidate : candidates) {
    const model::JobId job = view_->tasks.job[candidate];
    if (!job.valid() || !view_->jobs.queue[job].valid()) continue;
    const QueueId queue = view_->jobs.queue[job];
    if (!attributes_.Has(queue)) continue;
    const Amounts request = reclaim.RequestOf(candidate);
    if (!reclaim.KeepsGuarantee(queue, request)) continue;
    if (!reclaim.IsImmediate(queue, request) && !reclaim.IsAboveDeserved(queue, request)) continue;
    reclaim.Take(queue, request);
    answer.victims.push_back(candidate);
  }
  return answer;
}

}  // namespace hekla::plugins
