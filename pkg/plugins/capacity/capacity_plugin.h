#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/framework/evidence.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"
#include "pkg/plugins/capacity/attributes.h"

// HOT PATH
namespace hekla::plugins {

// Queues with configured amounts: what a queue may hold (capability), what it can have back from
// others (deserved), what others cannot take (guarantee). With enableHierarchy queues form a tree
// and every limit on the way to the root counts.
//
// Dynamic resources (device classes in amounts) are not supported yet and limit nothing.
// Source: Volcano plugins/capacity; spec scheduler-actions 3.8, example 5.10.
class CapacityPlugin final : public framework::Plugin, public framework::Witness {
 public:
  static constexpr absl::string_view kName = "capacity";

  // Argument ancestorReclaimLevel: how many ancestors lend their deserved amounts to a queue.
  explicit CapacityPlugin(const framework::Arguments& arguments);

  void OnSessionOpen(framework::SessionBuilder& session) override;
  // Gauges queue_overused and queue_share.
  void OnSessionClose(framework::Session& session) override;

  int QueueOrder(model::QueueId a, model::QueueId b);
  // The queue nearer to the preemptor's in the tree is victimised first.
  int VictimQueueOrder(model::QueueId l, model::QueueId r, model::QueueId preemptor);
  bool Allocatable(model::QueueId queue, model::TaskId task);
  bool Preemptive(model::QueueId queue, framework::TaskSpan candidates);
  framework::Vote JobEnqueueable(model::JobId job);
  void JobEnqueued(model::JobId job);
  framework::VictimAnswer Reclaimable(model::TaskId reclaimer, framework::TaskSpan candidates);
  framework::VictimAnswer UnifiedEvictable(const framework::EvictContext& context,
                                           framework::TaskSpan candidates);

  void DescribeQueue(model::QueueId queue, framework::QueueFacts& out) override;
  void ExplainEnqueue(model::JobId job, std::vector<framework::LimitCheck>& out) override;
  void ExplainAllocatable(model::QueueId queue, const model::Resource& request,
                          std::vector<framework::LimitCheck>& out) override;

  const CapacityAttributes& attributes() const { return attributes_; }

 private:
  class Reclaim;
  // Open, has limits and, in a tree, no queues below it.
  bool TakesJobs(model::QueueId queue) const;
  bool LendsTo(model::QueueId queue, const Amounts& request);
  void Request(const model::Resource& request);

  framework::Session* session_ = nullptr;
  const model::Tables* view_ = nullptr;
  int64_t ancestor_level_ = 0;
  CapacityAttributes attributes_;
  Amounts held_, request_;  // scratch
};

}  // namespace hekla::plugins
