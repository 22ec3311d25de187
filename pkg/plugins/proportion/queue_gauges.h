#pragma once

#include <map>
#include <memory>
#include <string>

#include "pkg/framework/scheduler_metrics.h"
#include "pkg/model/cluster.h"
#include "pkg/plugins/proportion/attributes.h"

namespace hekla::plugins {

// The gauges of queues: what they hold, ask for, deserve and were promised. A scalar that was
// reported once is reported as 0 when it is gone.
// Source: spec scheduler-actions section 4.
class QueueGauges {
 public:
  // Writes the gauges of one queue; forgets those of a queue that is gone.
  void Write(framework::SchedulerMetrics& metrics, const model::Tables& tables,
             const model::ResourceLayout& layout, const QueueAttributes& attributes,
             model::QueueId queue);

 private:
  using Handle = std::shared_ptr<metrics::Gauge>;
  struct AmountGauges {
    Handle cpu, memory;
    std::map<std::string, Handle> scalars;
  };
  struct Row {
    std::string name;
    AmountGauges allocated, request, deserved, inqueue;
    Handle share, weight, overused;
  };
  static void WriteAmounts(framework::SchedulerMetrics::QueueAmount& family,
                           const std::string& queue, absl::Span<const double> amounts,
                           const model::ResourceLayout& layout, AmountGauges& gauges);
  Row& RowOf(framework::SchedulerMetrics& metrics, model::QueueId queue, const std::string& name);

  util::IdVector<model::QueueId, std::unique_ptr<Row>> rows_;
  Amounts held_, none_;
};

}  // namespace hekla::plugins
