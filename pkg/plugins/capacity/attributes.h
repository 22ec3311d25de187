#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "pkg/framework/session.h"
#include "pkg/plugins/common/amounts.h"
#include "pkg/plugins/common/job_ledger.h"

namespace hekla::plugins {

// What capacity knows about queues, flat or as a tree with the root queue `root`.
//
// What a queue holds is read from the tables when asked for, over the queue and all queues below
// it, and so follows every decision and its undo. Limits and sums of promises are those of the
// session's open.
//
// Queues that cannot take part (a parent that does not exist, a cycle, no root) are not ready; so
// is a queue with queues below it as far as jobs of its own are concerned. Upstream stops for the
// whole cluster then; here the others go on.
// Source: spec scheduler-actions 3.8.1, 3.8.2.
class CapacityAttributes {
 public:
  void Open(framework::Session& session, bool hierarchical);

  bool hierarchical() const { return hierarchical_; }
  // Has limits: flat, a queue with jobs; as a tree, every queue whose path leads to the root.
  bool Has(model::QueueId q) const { return rows_.contains(q) && rows_[q].known; }
  bool IsLeaf(model::QueueId q) const { return rows_[q].leaf; }
  // The queue, then its ancestors up to the root. Flat: the queue alone.
  absl::Span<const model::QueueId> ChainOf(model::QueueId q) const { return rows_[q].chain; }

  const Amounts& deserved(model::QueueId q) const { return rows_[q].deserved; }
  const Amounts& guarantee(model::QueueId q) const { return rows_[q].guarantee; }
  const Amounts& real_capability(model::QueueId q) const { return rows_[q].real_capability; }
  const Amounts& inqueue(model::QueueId q) const { return rows_[q].inqueue; }
  const Amounts& elastic(model::QueueId q) const { return rows_[q].elastic; }
  // Whether spec.deserved (or the guarantee) names the dimension.
  bool NamesDeserved(model::QueueId q, size_t dim) const {
    return dim < rows_[q].named.size() && rows_[q].named[dim];
  }
  void AddInqueue(model::QueueId q, const model::Resource& amounts);

  // Fills `out` with what the queue and those below it hold now.
  void HeldBy(model::QueueId q, Amounts& out) const;
  // Share of what is deserved now; 1 for a queue that deserves nothing.
  double ShareOf(model::QueueId q) const;
  // Quirk: two branches of the tree are compared by their shares as of the session's open.
  double ShareAtOpen(model::QueueId q) const { return rows_[q].share_at_open; }

  const UnitScale& scale() const { return scale_; }

 private:
  enum class Way : uint8_t { kUnknown, kNone, kToRoot };
  struct Row {
    Way way = Way::kUnknown;  // of a tree, while it is linked
    bool known = false;
    bool leaf = true;
    std::vector<model::QueueId> chain, below;  // below: itself first, then all under it
    std::vector<model::QueueId> children;
    Amounts capability, deserved, guarantee, real_capability, inqueue, elastic;
    std::vector<bool> named;
    double share_at_open = 0;
  };

  void Build();
  void LinkTree();
  using QueuesByName = absl::flat_hash_map<absl::string_view, model::QueueId>;
  void FindChain(model::QueueId q, QueuesByName& by_name);
  void LimitsFlat(model::QueueId q);
  void LimitsOfRoot();
  void LimitsBelow(const Row& parent);
  void ReadSpec(model::QueueId q);
  std::vector<model::QueueId> InOrder() const;
  Amounts ToAmounts(const model::ResourceLimit& limit) const;

  enum Sum { kInqueue, kElastic };
  const model::Tables* view_ = nullptr;
  bool hierarchical_ = false;
  UnitScale scale_;
  JobLedger<2> ledger_;
  Amounts total_;
  Amounts guaranteed_;  // by all queues together
  util::IdVector<model::QueueId, Row> rows_;
  model::QueueId root_;
};

}  // namespace hekla::plugins
