#include "absl/strings/str_cat.h"
#include "pkg/plugins/proportion/proportion_plugin.h"

// Which jobs may become Inqueue: the queue's part of proportion that works on minResources.
namespace hekla::plugins {
using framework::Vote;

Vote ProportionPlugin::JobEnqueueable(model::JobId job) {
  const model::QueueId queue = view_->jobs.queue[job];
  if (!view_->queues.IsOpen(queue)) return Vote::kReject;  // the action names the state
  const model::ResourceLimit* minimum = MinResources(view_->jobs, job);
  if (minimum == nullptr || !attributes_.Has(queue)) return Vote::kPermit;
  const UnitScale& scale = attributes_.scale();
  request_.resize(scale.size(), 0.0);
  Load(AmountsOf(*minimum), scale, request_);
  attributes_.HeldBy(queue, held_);
  const Amounts& inqueue = attributes_.inqueue(queue);
  const Amounts& elastic = attributes_.elastic(queue);
  for (size_t d = 0; d < held_.size(); ++d) held_[d] += request_[d] + inqueue[d] - elastic[d];
  const model::ResourceLayout& layout = session_->dictionary().resources;
  const auto exceeding = Exceeding(held_, attributes_.real_capability(queue), request_, layout);
  if (exceeding.empty()) return Vote::kPermit;
  session_->RecordPodGroupEvent(job, /*warning=*/false, "Unschedulable",
                                absl::StrCat("queue resource quota insufficient: ",
                                             JoinNames("insufficient", exceeding, layout)));
  return Vote::kReject;
}

void ProportionPlugin::JobEnqueued(model::JobId job) {
  const model::ResourceLimit* minimum = MinResources(view_->jobs, job);
  if (minimum == nullptr) return;
  model::Resource promised = AmountsOf(*minimum);
  SubtractDownToZero(promised, view_->jobs.gated[job]);
  attributes_.AddInqueue(view_->jobs.queue[job], promised);
}

}  // namespace hekla::plugins
