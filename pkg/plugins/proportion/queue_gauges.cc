#include "pkg/plugins/proportion/queue_gauges.h"

namespace hekla::plugins {

using framework::SchedulerMetrics;

void QueueGauges::WriteAmounts(SchedulerMetrics::QueueAmount& family, const std::string& queue,
                               absl::Span<const double> amounts,
                               const model::ResourceLayout& layout, AmountGauges& gauges) {
  if (gauges.cpu == nullptr) {
    gauges.cpu = family.milli_cpu.With({queue});
    gauges.memory = family.memory_bytes.With({queue});
  }
  gauges.cpu->Set(At(amounts, model::kCpu));
  gauges.memory->Set(At(amounts, model::kMemory));
  for (auto& [name, gauge] : gauges.scalars) gauge->Set(0);
  for (size_t d = model::kPods; d < amounts.size(); ++d) {
    if (amounts[d] == 0) continue;
    const std::string name = layout.Name(static_cast<model::ResourceDim>(d));
    Handle& gauge = gauges.scalars[name];
    if (gauge == nullptr) gauge = family.scalar_resources.With({queue, name});
    gauge->Set(amounts[d]);
  }
}

QueueGauges::Row& QueueGauges::RowOf(SchedulerMetrics& metrics, model::QueueId queue,
                                     const std::string& name) {
  std::unique_ptr<Row>& row = rows_.Grow(queue);
  if (row != nullptr && row->name != name) {
    metrics.ForgetQueue(row->name);
    row = nullptr;
  }
  if (row == nullptr) {
    row = std::make_unique<Row>();
    row->name = name;
    row->share = metrics.queue_share.With({name});
    row->weight = metrics.queue_weight.With({name});
    row->overused = metrics.queue_overused.With({name});
  }
  return *row;
}

void QueueGauges::Write(SchedulerMetrics& metrics, const model::Tables& tables,
                        const model::ResourceLayout& layout, const QueueAttributes& attributes,
                        model::QueueId queue) {
  const model::QueueTable& queues = tables.queues;
  if (!queues.live[queue]) {
    if (rows_.contains(queue) && rows_[queue] != nullptr) {
      metrics.ForgetQueue(rows_[queue]->name);
      rows_[queue] = nullptr;
    }
    return;
  }
  const std::string& name = queues.name[queue];
  Row& row = RowOf(metrics, queue, name);
  const bool known = attributes.Has(queue);
  none_.assign(attributes.scale().size(), 0.0);
  held_ = none_;
  if (known) attributes.HeldBy(queue, held_);
  WriteAmounts(metrics.queue_allocated, name, held_, layout, row.allocated);
  WriteAmounts(metrics.queue_request, name, known ? attributes.request(queue) : none_, layout,
               row.request);
  WriteAmounts(metrics.queue_deserved, name, known ? attributes.deserved(queue) : none_, layout,
               row.deserved);
  WriteAmounts(metrics.queue_inqueue, name, known ? attributes.inqueue(queue) : none_, layout,
               row.inqueue);
  row.share->Set(attributes.ShareOf(queue));
  row.weight->Set(queues.spec[queue]->weight);
  row.overused->Set(known && LessEqual(attributes.deserved(queue), held_) ? 1 : 0);
}

}  // namespace hekla::plugins
