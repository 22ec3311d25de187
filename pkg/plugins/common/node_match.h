#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "pkg/plugins/common/node_columns.h"

// HOT PATH
namespace hekla::plugins {

// One term of node affinity, or a node selector, compiled against columns.
class NodeTermMatcher {
 public:
  // A term without any requirement, and an invalid one, matches nothing.
  NodeTermMatcher(NodeColumns& columns, const model::NodeTerm& term);
  // Every pair must be present; an empty selector matches everything.
  NodeTermMatcher(NodeColumns& columns, const model::Labels& node_selector);

  // Sets ok[i] to 0 where nodes[i] does not match; leaves it alone where it does.
  void Restrict(absl::Span<const model::NodeId> nodes, absl::Span<uint8_t> ok) const;
  bool nothing() const { return nothing_; }

 private:
  struct Test {
    LabelColumnId column;  // invalid: the node's name
    model::SelectorOp op;
    std::vector<model::Symbol> values;
    int64_t number;
  };
  void Add(NodeColumns& columns, const model::Requirement& requirement, bool field);
  bool Holds(const Test& test, model::Symbol value) const;

  const NodeColumns* columns_;
  std::vector<Test> tests_;
  bool nothing_ = false;
};

// Node selector and required node affinity of a pod.
class NodeMatcher {
 public:
  NodeMatcher(NodeColumns& columns, const model::PodTemplate& pod);

  // ok[i] = 1 where nodes[i] matches, else 0. Uses scratch space of its own.
  void Match(absl::Span<const model::NodeId> nodes, absl::Span<uint8_t> ok);

 private:
  NodeTermMatcher selector_;
  bool has_required_;
  std::vector<NodeTermMatcher> terms_;
  std::vector<uint8_t> scratch_;
};

// The same for one node, without columns. `name` is the node's interned name.
bool MatchesNode(const model::PodTemplate& pod, const model::NodeSpec& node, model::Symbol name,
                 const model::SymbolTable& symbols);
// One term for one node; terms that are invalid or without any requirement match nothing.
bool MatchesTerm(const model::NodeTerm& term, const model::NodeSpec& node, model::Symbol name,
                 const model::SymbolTable& symbols);

// True if every taint of the list whose effect keeps pods away (NoSchedule, NoExecute) is
// tolerated.
bool ToleratesHardTaints(absl::Span<const model::Toleration> tolerations,
                         absl::Span<const model::Taint> taints);
// Number of PreferNoSchedule taints that no toleration for that effect covers.
int CountUntoleratedPreferences(absl::Span<const model::Toleration> tolerations,
                                absl::Span<const model::Taint> taints);

}  // namespace hekla::plugins
