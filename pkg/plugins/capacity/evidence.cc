#include "pkg/plugins/common/evidence.h"

#include "pkg/plugins/capacity/capacity_plugin.h"

// What capacity compares, for explanations.
namespace hekla::plugins {

using framework::Cause;
using model::QueueId;

void CapacityPlugin::DescribeQueue(QueueId queue, framework::QueueFacts& out) {
  if (!attributes_.Has(queue)) {
    if (!attributes_.hierarchical()) return;
    out.problem = "its path does not lead to the queue root";
    return;
  }
  if (!attributes_.IsLeaf(queue)) out.problem = "it has queues below it and takes no jobs itself";
  const UnitScale& scale = attributes_.scale();
  out.known = true;
  out.share = attributes_.ShareOf(queue);
  out.amounts.push_back(MakeQueueAmount("deserved", attributes_.deserved(queue), scale));
  out.amounts.push_back(MakeQueueAmount("capability", attributes_.real_capability(queue), scale));
  out.amounts.push_back(MakeQueueAmount("inqueue", attributes_.inqueue(queue), scale));
}

void CapacityPlugin::ExplainEnqueue(model::JobId job, std::vector<framework::LimitCheck>& out) {
  const QueueId queue = view_->jobs.queue[job];
  const model::ResourceLimit* minimum = MinResources(view_->jobs, job);
  if (minimum == nullptr || !TakesJobs(queue)) return;
  const UnitScale& scale = attributes_.scale();
  Amounts asked(scale.size(), 0.0), counted;
  Load(AmountsOf(*minimum), scale, asked);
  for (QueueId link : attributes_.ChainOf(queue)) {
    attributes_.HeldBy(link, counted);
    const Amounts& inqueue = attributes_.inqueue(link);
    const Amounts& elastic = attributes_.elastic(link);
    for (size_t d = 0; d < counted.size(); ++d) counted[d] += inqueue[d] - elastic[d];
    out.push_back(
        MakeLimitCheck({Cause::kQueueCapacityExceeded, "capability", view_->queues.name[link], {}},
                       counted, asked, attributes_.real_capability(link), scale));
  }
}

void CapacityPlugin::ExplainAllocatable(QueueId queue, const model::Resource& request,
                                        std::vector<framework::LimitCheck>& out) {
  if (!TakesJobs(queue)) return;
  const UnitScale& scale = attributes_.scale();
  Amounts asked(scale.size(), 0.0), counted;
  Load(request, scale, asked);
  for (QueueId link : attributes_.ChainOf(queue)) {
    attributes_.HeldBy(link, counted);
    out.push_back(
        MakeLimitCheck({Cause::kQueueLimitExceeded, "capability", view_->queues.name[link], {}},
                       counted, asked, attributes_.real_capability(link), scale));
  }
}

}  // namespace hekla::plugins
