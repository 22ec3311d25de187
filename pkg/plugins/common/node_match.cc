#include "pkg/plugins/common/node_match.h"

#include <algorithm>

#include "absl/strings/numbers.h"

namespace hekla::plugins {

using model::NodeId;
using model::SelectorOp;
using model::Symbol;
using model::Taint;

NodeTermMatcher::NodeTermMatcher(NodeColumns& columns, const model::NodeTerm& term)
    : columns_(&columns) {
  nothing_ = term.invalid || (term.expressions.empty() && term.fields.empty());
  if (nothing_) return;
  for (const model::Requirement& r : term.expressions) Add(columns, r, false);
  for (const model::Requirement& r : term.fields) Add(columns, r, true);
}

NodeTermMatcher::NodeTermMatcher(NodeColumns& columns, const model::Labels& node_selector)
    : columns_(&columns) {
  for (const model::Label& label : node_selector) {
    tests_.push_back({columns.Label(label.first), SelectorOp::kIn, {label.second}, 0});
  }
}

void NodeTermMatcher::Add(NodeColumns& columns, const model::Requirement& requirement, bool field) {
  const LabelColumnId column = field ? LabelColumnId() : columns.Label(requirement.key);
  tests_.push_back({column, requirement.op, requirement.values, requirement.number});
}

bool NodeTermMatcher::Holds(const Test& test, Symbol value) const {
  switch (test.op) {
    case SelectorOp::kIn:
      return value.valid() && std::binary_search(test.values.begin(), test.values.end(), value);
    case SelectorOp::kNotIn:
      return !value.valid() || !std::binary_search(test.values.begin(), test.values.end(), value);
    case SelectorOp::kExists:
      return value.valid();
    case SelectorOp::kDoesNotExist:
      return !value.valid();
    case SelectorOp::kGt:
    case SelectorOp::kLt: {
      int64_t number = 0;
      if (!value.valid()) return false;
      const auto& symbols = columns_->cluster().dictionary().symbols;
      if (!absl::SimpleAtoi(symbols.Text(value), &number)) return false;
      return test.op == SelectorOp::kGt ? number > test.number : number < test.number;
    }
  }
  return false;
}

void NodeTermMatcher::Restrict(absl::Span<const NodeId> nodes, absl::Span<uint8_t> ok) const {
  if (nothing_) {
    std::fill(ok.begin(), ok.end(), uint8_t{0});
    return;
  }
  for (const Test& test : tests_) {
    const Symbol* values = test.column.valid() ? columns_->label(test.column)
                                               : columns_->cluster().tables().nodes.name.data();
    if (test.op == SelectorOp::kIn && test.values.size() == 1) {
      const Symbol wanted = test.values.front();
      for (size_t i = 0; i < nodes.size(); ++i) {
        ok[i] &= static_cast<uint8_t>(values[nodes[i].index()] == wanted);
      }
      continue;
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (ok[i] != 0) ok[i] = Holds(test, values[nodes[i].index()]) ? 1 : 0;
    }
  }
}

NodeMatcher::NodeMatcher(NodeColumns& columns, const model::PodTemplate& pod)
    : selector_(columns, pod.node_selector), has_required_(pod.has_required_affinity) {
  for (const model::NodeTerm& term : pod.required_affinity) terms_.emplace_back(columns, term);
}

void NodeMatcher::Match(absl::Span<const NodeId> nodes, absl::Span<uint8_t> ok) {
  std::fill(ok.begin(), ok.end(), uint8_t{1});
  selector_.Restrict(nodes, ok);
  if (!has_required_) return;
  if (terms_.size() == 1) {
    terms_.front().Restrict(nodes, ok);
    return;
  }
  scratch_.resize(2 * nodes.size());
  absl::Span<uint8_t> any(scratch_.data(), nodes.size());
  absl::Span<uint8_t> one(scratch_.data() + nodes.size(), nodes.size());
  std::fill(any.begin(), any.end(), uint8_t{0});
  for (const NodeTermMatcher& term : terms_) {
    std::fill(one.begin(), one.end(), uint8_t{1});
    term.Restrict(nodes, one);
    for (size_t i = 0; i < nodes.size(); ++i) any[i] |= one[i];
  }
  for (size_t i = 0; i < nodes.size(); ++i) ok[i] &= any[i];
}

bool MatchesTerm(const model::NodeTerm& term, const model::NodeSpec& node, Symbol name,
                 const model::SymbolTable& symbols) {
  if (term.invalid || (term.expressions.empty() && term.fields.empty())) return false;
  for (const model::Requirement& r : term.expressions) {
    if (!model::Matches(r, node.labels, symbols)) return false;
  }
  for (const model::Requirement& r : term.fields) {
    if (!model::Matches(r, model::Labels{{r.key, name}}, symbols)) return false;
  }
  return true;
}

bool MatchesNode(const model::PodTemplate& pod, const model::NodeSpec& node, Symbol name,
                 const model::SymbolTable& symbols) {
  for (const model::Label& label : pod.node_selector) {
    if (model::FindLabel(node.labels, label.first) != label.second) return false;
  }
  if (!pod.has_required_affinity) return true;
  for (const model::NodeTerm& term : pod.required_affinity) {
    if (MatchesTerm(term, node, name, symbols)) return true;
  }
  return false;
}

bool ToleratesHardTaints(absl::Span<const model::Toleration> tolerations,
                         absl::Span<const Taint> taints) {
  for (const Taint& taint : taints) {
    if (taint.effect == Taint::Effect::kPreferNoSchedule) continue;
    bool tolerated = false;
    for (const model::Toleration& t : tolerations) tolerated |= model::Tolerates(t, taint);
    if (!tolerated) return false;
  }
  return true;
}

int CountUntoleratedPreferences(absl::Span<const model::Toleration> tolerations,
                                absl::Span<const Taint> taints) {
  int count = 0;
  for (const Taint& taint : taints) {
    if (taint.effect != Taint::Effect::kPreferNoSchedule) continue;
    bool tolerated = false;
    for (const model::Toleration& t : tolerations) {
      if (t.effect.has_value() && *t.effect != Taint::Effect::kPreferNoSchedule) continue;
      tolerated |= model::Tolerates(t, taint);
    }
    if (!tolerated) ++count;
  }
  return count;
}

}  // namespace hekla::plugins
