#include "pkg/plugins/capacity/attributes.h"

#include <algorithm>
#include <limits>

#include "glog/logging.h"

namespace hekla::plugins {
namespace {

constexpr absl::string_view kRoot = "root";
constexpr double kUnlimited = std::numeric_limits<double>::max();

void AddTo(Amounts& to, const Amounts& what) {
  for (size_t d = 0; d < to.size(); ++d) to[d] += At(what, d);
}

}  // namespace

void CapacityAttributes::Open(framework::Session& session, bool hierarchical) {
  view_ = &session.tables();
  const size_t known = scale_.size();
  scale_.Update(session.dictionary().resources);
  const model::Cluster& cluster = session.cluster();
  bool changed = known != scale_.size() || !cluster.dirty_queues().empty() ||
                 !cluster.dirty_jobs().empty() || hierarchical != hierarchical_;
  hierarchical_ = hierarchical;
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
  if (changed) Build();
  for (model::QueueId q : InOrder()) {
    Row& row = rows_[q];
    std::fill(row.inqueue.begin(), row.inqueue.end(), 0.0);
    std::fill(row.elastic.begin(), row.elastic.end(), 0.0);
    for (model::QueueId below : row.below) {
      Accumulate(ledger_.of(below, kInqueue), scale_, row.inqueue);
      Accumulate(ledger_.of(below, kElastic), scale_, row.elastic);
    }
    row.share_at_open = ShareOf(q);
  }
}

Amounts CapacityAttributes::ToAmounts(const model::ResourceLimit& limit) const {
  Amounts amounts(scale_.size(), 0.0);
  Load(AmountsOf(limit), scale_, amounts);
  return amounts;
}

// Known queues, oldest first.
std::vector<model::QueueId> CapacityAttributes::InOrder() const {
  std::vector<model::QueueId> order;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const model::QueueId q(static_cast<uint32_t>(i));
    if (rows_[q].known) order.push_back(q);
  }
  const model::QueueTable& queues = view_->queues;
  std::sort(order.begin(), order.end(), [&](model::QueueId a, model::QueueId b) {
    if (queues.creation_ns[a] != queues.creation_ns[b]) {
      return queues.creation_ns[a] < queues.creation_ns[b];
    }
    return queues.name[a] < queues.name[b];
  });
  return order;
}

void CapacityAttributes::ReadSpec(model::QueueId q) {
  const model::QueueSpec& spec = *view_->queues.spec[q];
  Row& row = rows_[q];
  row.guarantee = ToAmounts(spec.guarantee);
  row.deserved = ToAmounts(spec.deserved);
  row.named.assign(scale_.size(), false);
  row.capability.assign(scale_.size(), kUnlimited);
  row.inqueue.assign(scale_.size(), 0.0);
  row.elastic.assign(scale_.size(), 0.0);
  for (size_t d = 0; d < scale_.size(); ++d) {
    const auto dim = static_cast<model::ResourceDim>(d);
    row.named[d] = spec.deserved.Has(dim) || spec.guarantee.Has(dim);
    if (!spec.capability.Has(dim)) continue;
    const double limit = static_cast<double>(spec.capability.Or(dim, 0)) * scale_[d];
    if (limit > 0 || d >= model::kPods) row.capability[d] = limit;
  }
}

void CapacityAttributes::Build() {
  const model::QueueTable& queues = view_->queues;
  rows_.assign(queues.size(), {});
  guaranteed_.assign(scale_.size(), 0.0);
  root_ = model::QueueId();
  for (size_t i = 0; i < queues.size(); ++i) {
    const model::QueueId q(static_cast<uint32_t>(i));
    if (!queues.live[q]) continue;
    ReadSpec(q);
    AddTo(guaranteed_, rows_[q].guarantee);
    if (queues.name[q] == kRoot) root_ = q;
  }
  if (hierarchical_) return LinkTree();
  for (size_t i = 0; i < queues.size(); ++i) {
    const model::QueueId q(static_cast<uint32_t>(i));
    if (queues.live[q] && ledger_.job_count(q) > 0) LimitsFlat(q);
  }
}

// deserved = max(min(spec.deserved, real capability), guarantee).
void CapacityAttributes::LimitsFlat(model::QueueId q) {
  Row& row = rows_[q];
  row.known = true;
  row.chain = row.below = {q};
  row.real_capability.assign(scale_.size(), 0.0);
  for (size_t d = 0; d < scale_.size(); ++d) {
    const double free = std::max(total_[d] - guaranteed_[d], 0.0) + row.guarantee[d];
    row.real_capability[d] = std::min(free, row.capability[d]);
    row.deserved[d] = std::max(std::min(row.deserved[d], row.real_capability[d]), row.guarantee[d]);
  }
}

// Finds the chains of a queue and of those on its way up, each once: `path` ends below a queue
// whose chain is known already, or nowhere.
void CapacityAttributes::FindChain(model::QueueId q, QueuesByName& by_name) {
  std::vector<model::QueueId> path;
  while (rows_[q].way == Way::kUnknown) {
    rows_[q].way = Way::kNone;  // so that a cycle ends here
    path.push_back(q);
    const std::string& parent = view_->queues.spec[q]->parent;
    const auto next = by_name.find(parent.empty() ? kRoot : absl::string_view(parent));
    if (next == by_name.end()) break;
    q = next->second;
  }
  const bool reached = rows_[q].way == Way::kToRoot;
  for (size_t i = path.size(); i-- > 0; q = path[i]) {
    Row& row = rows_[path[i]];
    if (!reached) {
      LOG(WARNING) << "queue has no way to the root queue=" << view_->queues.name[path[i]];
      continue;
    }
    row.way = Way::kToRoot;
    row.known = true;
    row.chain = {path[i]};
    row.chain.insert(row.chain.end(), rows_[q].chain.begin(), rows_[q].chain.end());
  }
}

void CapacityAttributes::LinkTree() {
  const model::QueueTable& queues = view_->queues;
  if (!root_.valid()) {
    LOG(WARNING) << "hierarchical queues need a queue root";
    return;
  }
  rows_[root_].way = Way::kToRoot;
  rows_[root_].known = true;
  rows_[root_].chain = {root_};
  QueuesByName by_name;
  for (size_t i = 0; i < queues.size(); ++i) {
    const model::QueueId q(static_cast<uint32_t>(i));
    if (queues.live[q]) by_name.emplace(queues.name[q], q);
  }
  for (size_t i = 0; i < queues.size(); ++i) {
    const model::QueueId q(static_cast<uint32_t>(i));
    if (queues.live[q]) FindChain(q, by_name);
  }
  for (model::QueueId q : InOrder()) {
    rows_[q].below.insert(rows_[q].below.begin(), q);
    for (size_t i = 1; i < rows_[q].chain.size(); ++i) {
      Row& ancestor = rows_[rows_[q].chain[i]];
      ancestor.below.push_back(q);
      ancestor.leaf = false;
      if (i == 1) ancestor.children.push_back(q);
    }
  }
  LimitsOfRoot();
}

void CapacityAttributes::LimitsOfRoot() {
  Row& row = rows_[root_];
  row.real_capability = row.capability;
  row.deserved.assign(scale_.size(), 0.0);
  row.guarantee.assign(scale_.size(), 0.0);
  for (model::QueueId child : row.children) {
    AddTo(row.deserved, rows_[child].deserved);
    AddTo(row.guarantee, rows_[child].guarantee);
  }
  LimitsBelow(row);
}

void CapacityAttributes::LimitsBelow(const Row& parent) {
  Amounts promised(scale_.size(), 0.0);
  for (model::QueueId child : parent.children) AddTo(promised, rows_[child].guarantee);
  for (model::QueueId child : parent.children) {
    Row& row = rows_[child];
    row.real_capability.assign(scale_.size(), 0.0);
    for (size_t d = 0; d < scale_.size(); ++d) {
      row.deserved[d] = std::max(row.deserved[d], row.guarantee[d]);
      if (row.capability[d] == kUnlimited) row.capability[d] = parent.capability[d];
      const double of_parent = parent.real_capability[d];
      const double free = of_parent == kUnlimited
                              ? kUnlimited
                              : std::max(of_parent - promised[d], 0.0) + row.guarantee[d];
      row.real_capability[d] = std::min(free, row.capability[d]);
    }
    LimitsBelow(row);
  }
}

void CapacityAttributes::AddInqueue(model::QueueId q, const model::Resource& amounts) {
  if (!Has(q)) return;
  for (model::QueueId link : rows_[q].chain) Accumulate(amounts, scale_, rows_[link].inqueue);
}

void CapacityAttributes::HeldBy(model::QueueId q, Amounts& out) const {
  out.assign(scale_.size(), 0.0);
  for (model::QueueId below : rows_[q].below) {
    Accumulate(view_->queues.allocated[below], scale_, out);
    Accumulate(view_->queues.pipelined[below], scale_, out);
  }
}

double CapacityAttributes::ShareOf(model::QueueId q) const {
  const Row& row = rows_[q];
  if (IsEmpty(row.deserved)) return 1;
  Amounts held;
  HeldBy(q, held);
  return DominantShare(held, row.deserved);
}

}  // namespace hekla::plugins
