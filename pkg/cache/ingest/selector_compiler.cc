#include "pkg/cache/ingest/selector_compiler.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"

namespace hekla::cache {
namespace {

using apis::core::TaintEffect;
using apis::meta::SelectorOperator;

model::SelectorOp Convert(SelectorOperator op) {
  switch (op) {
    case SelectorOperator::kIn:
      return model::SelectorOp::kIn;
    case SelectorOperator::kNotIn:
      return model::SelectorOp::kNotIn;
    case SelectorOperator::kExists:
      return model::SelectorOp::kExists;
    case SelectorOperator::kDoesNotExist:
      return model::SelectorOp::kDoesNotExist;
    case SelectorOperator::kGt:
      return model::SelectorOp::kGt;
    case SelectorOperator::kLt:
      return model::SelectorOp::kLt;
  }
  return model::SelectorOp::kIn;
}

std::optional<model::Taint::Effect> Convert(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNoSchedule:
      return model::Taint::Effect::kNoSchedule;
    case TaintEffect::kPreferNoSchedule:
      return model::Taint::Effect::kPreferNoSchedule;
    case TaintEffect::kNoExecute:
      return model::Taint::Effect::kNoExecute;
    case TaintEffect::kNone:
      break;
  }
  return std::nullopt;
}

// Gt and Lt need exactly one whole number; otherwise the term cannot be parsed.
bool Parses(const apis::meta::Requirement& r) {
  int64_t number = 0;
  switch (r.op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      return !r.values.empty();
    case SelectorOperator::kExists:
    case SelectorOperator::kDoesNotExist:
      return r.values.empty();
    case SelectorOperator::kGt:
    case SelectorOperator::kLt:
      return r.values.size() == 1 && absl::SimpleAtoi(r.values[0], &number);
  }
  return false;
}

}  // namespace

model::Labels SelectorCompiler::Labels(const apis::meta::StringMap& labels) const {
  model::Labels out;
  out.reserve(labels.size());
  for (const auto& [key, value] : labels) out.emplace_back(Intern(key), Intern(value));
  std::sort(out.begin(), out.end());
  return out;
}

model::Requirement SelectorCompiler::Requirement(const apis::meta::Requirement& r) const {
  model::Requirement out;
  out.key = Intern(r.key);
  out.op = Convert(r.op);
  if (r.op == SelectorOperator::kGt || r.op == SelectorOperator::kLt) {
    if (!r.values.empty()) (void)absl::SimpleAtoi(r.values[0], &out.number);
    return out;
  }
  for (const std::string& value : r.values) out.values.push_back(Intern(value));
  std::sort(out.values.begin(), out.values.end());
  return out;
}

model::Selector SelectorCompiler::Selector(const apis::meta::LabelSelector& selector) const {
  model::Selector out = FromMap(selector.match_labels);
  for (const apis::meta::Requirement& r : selector.match_expressions) {
    // A label selector knows neither Gt nor Lt; one that cannot be parsed selects nothing.
    const bool numeric = r.op == SelectorOperator::kGt || r.op == SelectorOperator::kLt;
    if (numeric || !Parses(r)) out.nothing = true;
    out.requirements.push_back(Requirement(r));
  }
  if (out.nothing) out.requirements.clear();
  return out;
}

model::Selector SelectorCompiler::SelectorOrNothing(
    const std::optional<apis::meta::LabelSelector>& s) const {
  if (s) return Selector(*s);
  model::Selector out;
  out.nothing = true;
  return out;
}

model::Selector SelectorCompiler::FromMap(const apis::meta::StringMap& labels) const {
  model::Selector out;
  for (const auto& [key, value] : labels) {
    model::Requirement r;
    r.key = Intern(key);
    r.op = model::SelectorOp::kIn;
    r.values.push_back(Intern(value));
    out.requirements.push_back(std::move(r));
  }
  return out;
}

model::NodeTerm SelectorCompiler::NodeTerm(const apis::core::NodeSelectorTerm& term,
                                           int32_t weight) const {
  model::NodeTerm out;
  out.weight = weight;
  for (const apis::meta::Requirement& r : term.match_expressions) {
    if (!Parses(r)) out.invalid = true;
    out.expressions.push_back(Requirement(r));
  }
  for (const apis::meta::Requirement& r : term.match_fields) {
    const bool in_or_not = r.op == SelectorOperator::kIn || r.op == SelectorOperator::kNotIn;
    if (r.key != "metadata.name" || !in_or_not || r.values.size() != 1) out.invalid = true;
    out.fields.push_back(Requirement(r));
  }
  return out;
}

std::vector<model::NodeTerm> SelectorCompiler::NodeTerms(
    const std::vector<apis::core::NodeSelectorTerm>& terms) const {
  std::vector<model::NodeTerm> out;
  out.reserve(terms.size());
  for (const apis::core::NodeSelectorTerm& term : terms) out.push_back(NodeTerm(term));
  return out;
}

std::vector<model::Taint> SelectorCompiler::Taints(
    const std::vector<apis::core::Taint>& taints) const {
  std::vector<model::Taint> out;
  for (const apis::core::Taint& taint : taints) {
    const std::optional<model::Taint::Effect> effect = Convert(taint.effect);
    if (!effect) continue;  // an unknown effect has no effect
    model::Taint& t = out.emplace_back();
    t.key = Intern(taint.key);
    t.value = Intern(taint.value);
    t.effect = *effect;
  }
  return out;
}

std::vector<model::Toleration> SelectorCompiler::Tolerations(
    const std::vector<apis::core::Toleration>& tolerations) const {
  using Operator = apis::core::Toleration::Operator;
  std::vector<model::Toleration> out;
  for (const apis::core::Toleration& toleration : tolerations) {
    model::Toleration& t = out.emplace_back();
    if (!toleration.key.empty()) t.key = Intern(toleration.key);
    t.value = Intern(toleration.value);
    t.exists = toleration.op == Operator::kExists;
    t.effect = Convert(toleration.effect);
    const bool known = toleration.op == Operator::kExists || toleration.op == Operator::kEqual;
    t.invalid = !known || toleration.unknown_effect;
  }
  return out;
}

model::PodTerm SelectorCompiler::PodTerm(const apis::core::PodAffinityTerm& term,
                                         absl::string_view owner_namespace, int32_t weight) const {
  model::PodTerm out;
  out.selector = SelectorOrNothing(term.label_selector);
  for (const std::string& ns : term.namespaces) out.namespaces.push_back(Intern(ns));
  if (term.namespace_selector) {
    out.has_namespace_selector = true;
    out.namespace_selector = Selector(*term.namespace_selector);
  } else if (term.namespaces.empty()) {
    out.namespaces.push_back(Intern(owner_namespace));
  }
  std::sort(out.namespaces.begin(), out.namespaces.end());
  out.topology_key = Intern(term.topology_key);
  out.weight = weight;
  return out;
}

model::SpreadConstraint SelectorCompiler::Spread(
    const apis::core::TopologySpreadConstraint& constraint,
    const apis::meta::StringMap& pod_labels) const {
  model::SpreadConstraint out;
  out.topology_key = Intern(constraint.topology_key);
  out.max_skew = constraint.max_skew;
  out.min_domains = constraint.min_domains;
  out.hard = constraint.hard;
  out.honor_affinity = constraint.honor_node_affinity;
  out.honor_taints = constraint.honor_node_taints;
  out.selector = SelectorOrNothing(constraint.label_selector);
  if (out.selector.nothing) return out;
  for (const std::string& key : constraint.match_label_keys) {
    const std::string* value = pod_labels.Find(key);
    if (value == nullptr) continue;
    model::Requirement r;
    r.key = Intern(key);
    r.op = model::SelectorOp::kIn;
    r.values.push_back(Intern(*value));
    out.selector.requirements.push_back(std::move(r));
  }
  return out;
}

}  // namespace hekla::cache
