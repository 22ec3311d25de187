#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "pkg/plugins/common/node_columns.h"
#include "pkg/plugins/common/pod_query.h"

// HOT PATH
namespace hekla::plugins {

using QueryId = util::Id<struct QueryTag>;
using ColumnId = util::Id<struct ColumnTag>;

// How many pods of a query are in each domain of a topology.
struct CountColumn {
  QueryId query;
  TopologyId topology;
  EligibilityId eligibility;   // invalid: every node counts
  std::vector<int32_t> count;  // by domain
  std::vector<int32_t> nodes;  // by domain: nodes that count
  int64_t total = 0;
  int32_t domains = 0;  // with at least one node that counts
  uint64_t version = 0;
  // Changes by tasks that came or went, newest last, with the position of the touch log.
  struct Change {
    uint64_t position;
    int32_t domain;
    int32_t delta;
  };
  std::vector<Change> log;
  uint64_t log_start = 0;  // changes before this position may be missing

  int32_t At(int32_t domain) const {
    return static_cast<size_t>(domain) < count.size() ? count[domain] : 0;
  }
};

// A term some placed pod carries.
struct HeldTerm {
  QueryId query;
  PodSelector selects;
  TermRole role;
  model::Symbol topology_key;
  int32_t weight;
};

// Counts of placed pods by query and domain, kept up to date task by task. Costs nothing until the
// first query, or the first placed pod with a term of a watched role, appears.
//
// Pods are first gathered into groups that no query can tell apart (labels, namespace, deletion
// mark, own terms); a query is evaluated once per group, and each node knows its groups.
// Queries that nobody asks for any more (selectors of jobs long gone) are dropped with all others
// once the counts outgrow their budget: users compile theirs again when the epoch changes.
// Threads: the session thread.
// Cost:    a move is O(queries its group matches).
class PodCounts {
 public:
  // 4 bytes each.
  static constexpr size_t kCellBudget = size_t{8} << 20;

  // `watched`: roles of terms of placed pods that matter to this user.
  PodCounts(NodeColumns& columns, std::vector<TermRole> watched);
  PodCounts(const PodCounts&) = delete;
  PodCounts& operator=(const PodCounts&) = delete;

  // Brings columns and counts up to date with nodes that changed; call at session open.
  void Sync();
  void OnTaskMoved(model::TaskId task, model::NodeId node, bool added);

  QueryId Query(const PodQuery& query);
  ColumnId Column(QueryId query, TopologyId topology, EligibilityId eligibility);
  const CountColumn& column(ColumnId id) const { return columns_[id]; }
  // Whether the task, were it placed, would be one of the query's pods. Not for holders.
  bool Matches(const PodQuery& query, model::TaskId task) const;

  // Terms that placed pods carry or have carried; grows only, but for epoch changes.
  const std::vector<HeldTerm>& held() const { return held_; }
  // Appends the held terms with index >= `from` that select the task.
  void HeldMatching(model::TaskId task, size_t from, std::vector<uint32_t>& out) const;
  // Changes when every QueryId, ColumnId and held term has become meaningless.
  uint64_t epoch() const { return epoch_; }

  // Answers computed at a position of the touch log before this one may all be stale.
  uint64_t stale_before() const { return stale_before_; }
  uint64_t Now() const;
  // Net change per domain since `position`; false: not known any more (assume everything).
  bool ChangesSince(ColumnId id, uint64_t position, std::vector<CountColumn::Change>& net) const;

  // Numbers kept in all columns, logs included.
  size_t Cells() const;
  void SetCellBudgetForTest(size_t cells) { cell_budget_ = cells; }

 private:
  struct Group {
    std::shared_ptr<const model::Labels> labels;
    std::shared_ptr<const model::PodTemplate> pod;  // null where it carries no watched term
    model::NamespaceId where;
    bool deleting = false;
    uint32_t placed = 0;
    std::vector<QueryId> hits;
  };
  struct GroupKey {
    const model::Labels* labels;
    const model::PodTemplate* pod;
    uint32_t where;
    bool deleting;
    friend bool operator==(const GroupKey&, const GroupKey&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const GroupKey& k) {
      return H::combine(std::move(h), k.labels, k.pod, k.where, k.deleting);
    }
  };
  struct QueryRow {
    PodQuery query;
    std::vector<ColumnId> columns;
  };

  bool Carries(const model::PodTemplate& pod) const;
  GroupKey KeyOf(model::TaskId task) const;
  uint32_t GroupOf(model::TaskId task);
  void FillHits(Group& group);
  bool Counts(const PodQuery& query, const Group& group) const;
  void Activate();
  void Reset();
  bool Outgrown();
  void Place(uint32_t group, model::NodeId node, int32_t delta);
  void Leave(uint32_t group);
  // `position`: of the touch log entry that goes with the change; kUnlogged: not a move.
  void Book(CountColumn& column, model::NodeId node, int32_t delta, uint64_t position);
  void CountNode(CountColumn& column, model::NodeId node, int32_t delta);
  void Detach(model::NodeId node);
  void AttachNode(model::NodeId node);
  const model::Tables& tables() const { return nodes_->cluster().tables(); }

  NodeColumns* nodes_;
  std::vector<TermRole> watched_;
  bool scanned_ = false;  // placed pods have been looked through for watched terms
  bool active_ = false;
  uint64_t epoch_ = 1;
  uint64_t stale_before_ = 0;
  uint64_t namespace_generation_ = 0;
  bool uses_namespace_labels_ = false;
  size_t cell_budget_ = kCellBudget;
  // Cells one session after the last reset: what is in use. 0: not known yet.
  size_t cells_in_use_ = 0;

  std::vector<Group> groups_;
  std::vector<uint32_t> free_groups_;
  absl::flat_hash_map<GroupKey, uint32_t> group_index_;
  util::IdVector<model::NodeId, std::vector<uint32_t>> node_groups_;
  util::IdVector<model::TaskId, uint32_t> task_group_;  // of placed tasks
  util::IdVector<model::NodeId, uint8_t> attached_;     // the node's pods are in the columns

  util::IdVector<QueryId, QueryRow> queries_;
  absl::flat_hash_map<uint64_t, std::vector<QueryId>> query_index_;
  SelectorIndex selector_index_;  // of queries that are not about holders
  util::IdVector<ColumnId, CountColumn> columns_;
  std::vector<HeldTerm> held_;
  SelectorIndex held_index_;
};

}  // namespace hekla::plugins
