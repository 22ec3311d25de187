#include "pkg/plugins/proportion/attributes.h"

#include <algorithm>

namespace hekla::plugins {
void QueueAttributes::Open(framework::Session& session) {
  view_ = &session.tables();
  const size_t known = scale_.size();
  scale_.Update(session.dictionary().resources);
  const model::Cluster& cluster = session.cluster();
  bool changed = known != scale_.size() || !cluster.dirty_queues().empty();
  changed |=
      ledger_.Update(*view_, cluster.dirty_jobs(), [this](model::JobId j, JobLedger<2>::Row& row) {
        row[kInqueue] = PromisedAmounts(view_->jobs, j);
        row[kElastic] = ElasticAmounts(view_->jobs, j);
      });
  total_.resize(scale_.size(), 0.0);
  for (size_t d = 0; d < total_.size(); ++d) {
    const double now =
        view_->nodes.total_allocatable.real(static_cast<model::ResourceDim>(d)) * scale_[d];
    changed |= now != total_[d];
    total_[d] = now;
  }
  changed |= !cluster.dirty_jobs().empty();
  divided_ = changed;
  if (changed) {
    Divide();
    if (Relieves()) session.cluster().NoteRelief();
  }
  for (size_t i = 0; i < order_.size(); ++i) {  // what the last session's enqueue added goes
    Load(ledger_.of(order_[i], kInqueue), scale_, inqueue_[i]);
  }
}

Amounts QueueAttributes::ToAmounts(const model::ResourceLimit& limit) const {
  Amounts amounts(scale_.size(), 0.0);
  Load(AmountsOf(limit), scale_, amounts);
  return amounts;
}

// max(total - all guarantees, 0) + own guarantee, cut to the capability. A capability of cpu or
// memory that is not positive means no limit.
Amounts QueueAttributes::RealCapability(const model::QueueSpec& queue,
                                        const Amounts& guarantee) const {
  Amounts real(scale_.size(), 0.0);
  for (size_t d = 0; d < real.size(); ++d) {
    real[d] = std::max(total_[d] - guaranteed_[d], 0.0) + guarantee[d];
    const auto dim = static_cast<model::ResourceDim>(d);
    if (!queue.capability.Has(dim)) continue;
    const double limit = static_cast<double>(queue.capability.Or(dim, 0)) * scale_[d];
    if (limit <= 0 && (dim == model::kCpu || dim == model::kMemory)) continue;
    real[d] = std::min(real[d], limit);
  }
  return real;
}

void QueueAttributes::Divide() {
  const model::QueueTable& queues = view_->queues;
  guaranteed_.assign(scale_.size(), 0.0);
  index_.assign(queues.size(), -1);
  order_.clear();
  for (size_t i = 0; i < queues.size(); ++i) {
    const model::QueueId q(static_cast<uint32_t>(i));
    if (!queues.live[q]) continue;
    Accumulate(AmountsOf(queues.spec[q]->guarantee), scale_, guaranteed_);
    if (ledger_.job_count(q) > 0) order_.push_back(q);
  }
  std::sort(order_.begin(), order_.end(), [&](model::QueueId a, model::QueueId b) {
    if (queues.creation_ns[a] != queues.creation_ns[b]) {
      return queues.creation_ns[a] < queues.creation_ns[b];
    }
    return queues.name[a] < queues.name[b];
  });
  demands_.assign(order_.size(), {});
  inqueue_.assign(order_.size(), Amounts(scale_.size(), 0.0));
  elastic_ = inqueue_;
  for (size_t i = 0; i < order_.size(); ++i) {
    const model::QueueId q = order_[i];
    index_[q] = static_cast<int32_t>(i);
    QueueDemand& demand = demands_[i];
    demand.weight = queues.spec[q]->weight;
    demand.request.assign(scale_.size(), 0.0);
    Load(queues.allocated[q], scale_, demand.request);
    Accumulate(queues.pending[q], scale_, demand.request);
    demand.guarantee = ToAmounts(queues.spec[q]->guarantee);
    demand.real_capability = RealCapability(*queues.spec[q], demand.guarantee);
    Load(ledger_.of(q, kElastic), scale_, elastic_[i]);
  }
  DivideByWeight(demands_, total_, deserved_);
}

bool QueueAttributes::Relieves() {
  bool relieves = false;
  for (size_t i = 0; i < order_.size(); ++i) {
    Granted& granted = granted_.Grow(order_[i]);
    granted.deserved.resize(scale_.size(), 0.0);
    bool met = true;
    for (size_t d = 0; d < scale_.size(); ++d) {
      relieves = relieves || (!granted.met && deserved_[i][d] > granted.deserved[d]);
      granted.deserved[d] = deserved_[i][d];
      met = met && demands_[i].request[d] <= deserved_[i][d];
    }
    granted.met = met;
  }
  return relieves;
}

void QueueAttributes::AddInqueue(model::QueueId q, const model::Resource& amounts) {
  if (Has(q)) Accumulate(amounts, scale_, inqueue_[Row(q)]);
}

void QueueAttributes::HeldBy(model::QueueId q, Amounts& out) const {
  out.resize(scale_.size(), 0.0);
  Load(view_->queues.allocated[q], scale_, out);
  Accumulate(view_->queues.pipelined[q], scale_, out);
}

double QueueAttributes::ShareOf(model::QueueId q) const {
  if (!Has(q)) return 0;
  const Amounts& deserved = deserved_[Row(q)];
  const model::Resource& allocated = view_->queues.allocated[q];
  const model::Resource& pipelined = view_->queues.pipelined[q];
  double largest = 0;
  for (size_t d = 0; d < deserved.size(); ++d) {
    if (deserved[d] < kTolerance) continue;
    const auto dim = static_cast<model::ResourceDim>(d);
    const double held = static_cast<double>(allocated[dim] + pipelined[dim]) * scale_[d];
    largest = std::max(largest, held / deserved[d]);
  }
  return largest;
}

}  // namespace hekla::plugins
