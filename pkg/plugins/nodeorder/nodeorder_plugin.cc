#include "pkg/plugins/nodeorder/nodeorder_plugin.h"

#include <utility>

#include "pkg/plugins/nodeorder/pod_affinity_scorer.h"
#include "pkg/plugins/nodeorder/resource_scorers.h"
#include "pkg/plugins/nodeorder/spread_scorer.h"
#include "pkg/plugins/nodeorder/static_scorers.h"

namespace hekla::plugins {

template <typename T>
T* NodeorderPlugin::Add(const framework::Arguments& arguments, absl::string_view key,
                        int64_t default_weight, bool batch) {
  int64_t weight = default_weight;
  arguments.GetInt(key, weight);
  if (weight == 0) return nullptr;
  auto scorer = std::make_unique<T>(context_, weight);
  T* added = scorer.get();
  scorers_.push_back({std::move(scorer), batch});
  return added;
}

NodeorderPlugin::NodeorderPlugin(const framework::Arguments& arguments) {
  Add<ImageLocalityScorer>(arguments, "imagelocality.weight", 1, false);
  Add<LeastAllocatedScorer>(arguments, "leastrequested.weight", 1);
  Add<MostAllocatedScorer>(arguments, "mostrequested.weight", 0);
  Add<BalancedAllocationScorer>(arguments, "balancedresource.weight", 1);
  Add<NodeAffinityScorer>(arguments, "nodeaffinity.weight", 2);
  auto* affinity = Add<PodAffinityScorer>(arguments, "podaffinity.weight", 2);
  Add<TaintTolerationScorer>(arguments, "tainttoleration.weight", 3);
  auto* spread = Add<SpreadScorer>(arguments, "podtopologyspread.weight", 2);
  // The counts are shared: one of the two hands moves on.
  if (affinity != nullptr) {
    affinity->ForwardMoves(true);
  } else if (spread != nullptr) {
    spread->ForwardMoves(true);
  }
}

NodeorderPlugin::~NodeorderPlugin() = default;

void NodeorderPlugin::OnSessionOpen(framework::SessionBuilder& session) {
  context_.nodes.Attach(session.session().cluster());
  context_.counts.Sync();
  for (const Entry& entry : scorers_) {
    entry.scorer->Open();
    session.AddScorer(*entry.scorer, entry.batch);
  }
}

}  // namespace hekla::plugins
