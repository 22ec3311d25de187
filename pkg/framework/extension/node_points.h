#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pkg/framework/reasons.h"
#include "pkg/model/ids.h"

// Node-level extension points. They work on columns: one virtual call answers for a span of nodes,
// and the engine keeps answers per task class as long as their kind allows (design.md section 3).
// HOT PATH
namespace hekla::framework {

class NodeRows;

// How long an answer about (class, node) holds.
enum class AnswerKind : uint8_t {
  kStatic,     // until the node's static generation changes (labels, taints, images, allocatable)
  kNodeLocal,  // until the node is touched (a task came or went, its accounts changed)
  kCoupled,    // depends on other nodes too: the plugin reports what a change dirties
};

// On which properties of a task an answer depends. Task scope is never kept.
enum class AnswerScope : uint8_t { kClass, kClassAndQueue, kClassAndSubJob, kTask };

// What of a node an answer depends on, for questions about many nodes at once.
enum class RowUse : uint8_t {
  kNone,      // something that is neither of the following
  kStatic,    // what changes only with a static change of some node; equal for equal static keys
  kAccounts,  // the node's accounts alone: nodes of one row (NodeRows) get the same answer
};

// Which nodes' kept answers a change made stale.
class DirtySink {
 public:
  virtual ~DirtySink() = default;
  virtual void All() = 0;
  virtual void Nodes(absl::Span<const model::NodeId> nodes) = 0;
};

struct PreFilterResult {
  enum class Outcome : uint8_t { kRun, kSkip, kRejectAll } outcome = Outcome::kRun;
  ReasonId reason;  // kRejectAll: recorded for every node, code kError ("plugin … pre-predicates
                    // failed …")
};

// One filter of a plugin. Inside a plugin filters run in the order of registration: a refusal with
// code kUnschedulable lets the next filter add its reason, any other code ends the plugin for that
// node. A plugin that refused ends the chain: later plugins are not asked about that node.
class NodeFilter {
 public:
  virtual ~NodeFilter() = default;
  virtual absl::string_view name() const = 0;
  virtual AnswerKind kind() const = 0;
  virtual AnswerScope scope() const { return AnswerScope::kClass; }
  virtual RowUse row_use() const {
    return kind() == AnswerKind::kStatic && scope() == AnswerScope::kClass ? RowUse::kStatic
                                                                           : RowUse::kNone;
  }
  // Asked once per search (PrePredicate). kSkip: this filter has no say about the task's class now.
  virtual PreFilterResult PreFilter(model::TaskId task) {
    (void)task;
    return {};
  }
  // out[i]: invalid where nodes[i] is fine, else the reason. Reads tables only; allocates nothing
  // per node.
  virtual void Filter(model::TaskId task, absl::Span<const model::NodeId> nodes,
                      absl::Span<ReasonId> out) = 0;
  // kAccounts only: makes slack[i] negative where the nodes of row begin + i are refused. False:
  // not offered, Filter is to be asked about a node of each row.
  virtual bool FilterRows(model::TaskId task, const NodeRows& rows, size_t begin,
                          absl::Span<double> slack) {
    (void)task, (void)rows, (void)begin, (void)slack;
    return false;
  }
  // Coupled filters: `task` has come to `node` or is about to leave it; update counts. Called for
  // every change of the tables, also between sessions.
  virtual void OnTaskMoved(model::TaskId task, model::NodeId node, bool added) {
    (void)task, (void)node, (void)added;
  }
  // Coupled filters: which nodes' answers for tasks of class `reader` may have changed by entries
  // of the touch log (Cluster::touches) at positions >= `since`. Classes with kept answers are
  // asked one by one.
  virtual void CollectDirty(model::TaskClassId reader, uint64_t since, DirtySink& dirty) {
    (void)reader, (void)since;
    dirty.All();
  }
};

// One scorer of a plugin. final = weight * Normalized(raw, min, max), min and max over the
// candidates.
class NodeScorer {
 public:
  virtual ~NodeScorer() = default;
  virtual absl::string_view name() const = 0;
  virtual AnswerKind kind() const = 0;
  virtual AnswerScope scope() const { return AnswerScope::kClass; }
  // kAccounts: scores are not normalised and never kIgnored.
  virtual RowUse row_use() const {
    return kind() == AnswerKind::kStatic && scope() == AnswerScope::kClass ? RowUse::kStatic
                                                                           : RowUse::kNone;
  }
  virtual double weight() const { return 1; }
  // True: raw values change with the set of candidates itself (topology spread); nothing is kept
  // then.
  virtual bool depends_on_candidates() const { return false; }
  // False (Skip): adds nothing for this task now. `candidates` is empty, and stands for every
  // node, unless depends_on_candidates(); it must not decide whether the scorer has a say.
  virtual bool PreScore(model::TaskId task, absl::Span<const model::NodeId> candidates) {
    (void)task, (void)candidates;
    return true;
  }
  // Raw scores. kIgnored marks a candidate that takes no part in min and max and scores 0.
  virtual void Score(model::TaskId task, absl::Span<const model::NodeId> nodes,
                     absl::Span<double> raw) = 0;
  // kAccounts only: raw scores of rows from `begin` on. False: not offered, Score is to be asked
  // about a node of each row.
  virtual bool ScoreRows(model::TaskId task, const NodeRows& rows, size_t begin,
                         absl::Span<double> raw) {
    (void)task, (void)rows, (void)begin, (void)raw;
    return false;
  }
  virtual bool normalizes() const { return false; }
  virtual double Normalized(double raw, double min, double max) const {
    (void)min, (void)max;
    return raw;
  }
  virtual void OnTaskMoved(model::TaskId task, model::NodeId node, bool added) {
    (void)task, (void)node, (void)added;
  }
  virtual void CollectDirty(model::TaskClassId reader, uint64_t since, DirtySink& dirty) {
    (void)reader, (void)since;
    dirty.All();
  }

  static constexpr double kIgnored = -1e300;
};

}  // namespace hekla::framework
