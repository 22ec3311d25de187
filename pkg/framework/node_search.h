#pragma once

#include <cstdint>
#include <memory>

#include "absl/types/span.h"
#include "pkg/framework/extension/points.h"
#include "pkg/framework/reasons.h"
#include "pkg/model/cluster.h"

// HOT PATH
namespace hekla::framework {

class Session;

enum class Room : uint8_t {
  kNone,
  kIdle,        // request <= idle
  kFutureIdle,  // request <= idle + releasing - pipelined
};

// Which nodes a search may take. `range` is a range of leaf positions (a HyperNode, or everything).
struct NodeSet {
  uint32_t begin = 0;
  uint32_t end = UINT32_MAX;
  // Where not empty: only these nodes (nominated ones).
  absl::Span<const model::NodeId> only;
};

struct SearchResult {
  model::NodeId node;  // invalid: none
  Room room = Room::kNone;
  ReasonId pre_filter;  // valid: PrePredicate refused the task on every node
};

struct SearchOptions {
  bool check_resources =
      true;  // false for best-effort tasks (backfill): every fitting node is "idle"
  bool allow_future = true;
};

// Finds nodes for tasks. Keeps, per task class, which nodes fit and how they score, as long as the
// answers of the plugins hold; a repeated question about a class costs O(changes + log nodes).
// Ties: among equal best scores the k-th in leaf order, k = hash(seed, pod uid) mod ties.
// Order: nodes with idle room beat every node that has only future room; inside a group scores
// decide;
//        a group of one is taken without scoring. Scores are normalised over the group.
// Source: spec scheduler-actions 1.5, 1.6, 2.2.4; design.md section 3.
//
// It is the cluster's task observer and hands moves on to coupled filters and scorers.
class NodeSearch {
 public:
  // `budget_bytes` bounds the kept answers; those asked for longest ago go first.
  explicit NodeSearch(model::Cluster& cluster, size_t budget_bytes = size_t{128} << 20);
  NodeSearch(const NodeSearch&) = delete;
  NodeSearch& operator=(const NodeSearch&) = delete;
  ~NodeSearch();

  // Called by the session at open, after plugins have registered: configuration and dirty rows.
  void Attach(Session& session);
  // Called when a session's configuration ends: its plugins are not told of moves any more.
  void Forget();

  SearchResult Best(model::TaskId task, const NodeSet& set, const SearchOptions& options);
  // Whether Best would find a node now (everything, with resources); true where that is not known
  // without a search.
  bool MayFit(model::TaskId task);
  // Why nothing was found: reasons of every node in the set, counted. Runs the filters where no
  // kept answer says it already.
  void Explain(model::TaskId task, const NodeSet& set, const SearchOptions& options,
               FitErrors& out);

  // One node, asked directly about what the plugins say (not its room): reasons appended (several
  // per node are possible); true if it fits.
  bool Check(model::TaskId task, model::NodeId node, std::vector<ReasonId>* reasons);
  // Total score of each node as if `nodes` were the candidates. For probes, preempt and tests.
  void Scores(model::TaskId task, absl::Span<const model::NodeId> nodes, absl::Span<double> out);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hekla::framework
