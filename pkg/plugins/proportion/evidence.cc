#include "pkg/plugins/common/evidence.h"

#include "pkg/plugins/proportion/proportion_plugin.h"

// What proportion compares, for explanations.
namespace hekla::plugins {

using framework::Cause;

void ProportionPlugin::DescribeQueue(model::QueueId queue, framework::QueueFacts& out) {
  if (!attributes_.Has(queue)) return;
  const UnitScale& scale = attributes_.scale();
  out.known = true;
  out.share = attributes_.ShareOf(queue);
  out.amounts.push_back(MakeQueueAmount("deserved", attributes_.deserved(queue), scale));
  out.amounts.push_back(MakeQueueAmount("capability", attributes_.real_capability(queue), scale));
  out.amounts.push_back(MakeQueueAmount("inqueue", attributes_.inqueue(queue), scale));
}

void ProportionPlugin::ExplainEnqueue(model::JobId job, std::vector<framework::LimitCheck>& out) {
  const model::QueueId queue = view_->jobs.queue[job];
  const model::ResourceLimit* minimum = MinResources(view_->jobs, job);
  if (minimum == nullptr || !attributes_.Has(queue)) return;
  const UnitScale& scale = attributes_.scale();
  Amounts asked(scale.size(), 0.0), counted;
  Load(AmountsOf(*minimum), scale, asked);
  attributes_.HeldBy(queue, counted);
  const Amounts& inqueue = attributes_.inqueue(queue);
  const Amounts& elastic = attributes_.elastic(queue);
  for (size_t d = 0; d < counted.size(); ++d) counted[d] += inqueue[d] - elastic[d];
  out.push_back(
      MakeLimitCheck({Cause::kQueueCapacityExceeded, "capability", view_->queues.name[queue], {}},
                     counted, asked, attributes_.real_capability(queue), scale));
}

void ProportionPlugin::ExplainAllocatable(model::QueueId queue, const model::Resource& request,
                                          std::vector<framework::LimitCheck>& out) {
  if (!attributes_.Has(queue)) return;
  const UnitScale& scale = attributes_.scale();
  Amounts asked(scale.size(), 0.0), counted;
  Load(request, scale, asked);
  attributes_.HeldBy(queue, counted);
  out.push_back(
      MakeLimitCheck({Cause::kQueueShareExceeded, "deserved", view_->queues.name[queue], {}},
                     counted, asked, attributes_.deserved(queue), scale));
}

}  // namespace hekla::plugins
