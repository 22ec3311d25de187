#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "pkg/framework/evidence.h"
#include "pkg/framework/plugin.h"
#include "pkg/framework/session.h"
#include "pkg/plugins/proportion/attributes.h"
#include "pkg/plugins/proportion/queue_gauges.h"

// HOT PATH
namespace hekla::plugins {

// Queues share the cluster by weight. A queue may hold what it deserves; the one that holds the
// smallest part of it comes first; one that holds it all is overused.
// Quirk: pods are a dimension like any other here (not in the tests of allocation and enqueueing).
// Source: Volcano plugins/proportion; spec scheduler-actions 3.7.3, examples 5.2, 5.3, 5.9.
class ProportionPlugin final : public framework::Plugin, public framework::Witness {
 public:
  static constexpr absl::string_view kName = "proportion";

  void OnSessionOpen(framework::SessionBuilder& session) override;
  // Gauges of queues.
  void OnSessionClose(framework::Session& session) override;

  int QueueOrder(model::QueueId a, model::QueueId b);
  // The queue holds at least what it deserves in every dimension.
  bool Overused(model::QueueId queue);
  // The queue is open, and with the task stays within what it deserves in what the task asks for.
  bool Allocatable(model::QueueId queue, model::TaskId task);
  bool Preemptive(model::QueueId queue, framework::TaskSpan candidates);
  // Victims in order, as long as their queue holds more than it deserves in any dimension.
  framework::VictimAnswer Reclaimable(model::TaskId reclaimer, framework::TaskSpan candidates);
  framework::Vote JobEnqueueable(model::JobId job);
  void JobEnqueued(model::JobId job);

  void DescribeQueue(model::QueueId queue, framework::QueueFacts& out) override;
  void ExplainEnqueue(model::JobId job, std::vector<framework::LimitCheck>& out) override;
  void ExplainAllocatable(model::QueueId queue, const model::Resource& request,
                          std::vector<framework::LimitCheck>& out) override;

  const QueueAttributes& attributes() const { return attributes_; }

 private:
  bool Fits(model::QueueId queue, const model::Resource& request);

  framework::Session* session_ = nullptr;
  const model::Tables* view_ = nullptr;
  QueueAttributes attributes_;
  QueueGauges gauges_;
  Amounts held_, request_;  // scratch
};

}  // namespace hekla::plugins
