#include "pkg/apis/core/scheduling_types.h"

#include <utility>

namespace hekla::apis::core {
namespace {

using meta::Reader;

void ReadNodeSelectorTerm(const Reader& item, NodeSelectorTerm& out) {
  meta::ReadRequirements(item, "matchExpressions", out.match_expressions);
  meta::ReadRequirements(item, "matchFields", out.match_fields);
}

void ReadPodAffinityTerm(const Reader& item, PodAffinityTerm& out) {
  meta::ReadLabelSelector(item, "labelSelector", out.label_selector);
  item.Strings("namespaces", out.namespaces);
  meta::ReadLabelSelector(item, "namespaceSelector", out.namespace_selector);
  item.String("topologyKey", out.topology_key);
}

void ReadPodAffinity(const Reader& affinity, absl::string_view key, PodAffinity& out) {
  affinity.Object(key, [&](Reader& pod) {
    pod.List("requiredDuringSchedulingIgnoredDuringExecution",
             [&](Reader& item) { ReadPodAffinityTerm(item, out.required.emplace_back()); });
    pod.List("preferredDuringSchedulingIgnoredDuringExecution", [&](Reader& item) {
      WeightedPodAffinityTerm& weighted = out.preferred.emplace_back();
      item.Int("weight", weighted.weight);
      item.Object("podAffinityTerm",
                  [&](Reader& term) { ReadPodAffinityTerm(term, weighted.term); });
    });
  });
}

}  // namespace

TaintEffect ParseTaintEffect(absl::string_view text) {
  if (text == "NoSchedule") return TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return TaintEffect::kNoExecute;
  return TaintEffect::kNone;
}

absl::string_view TaintEffectName(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNoSchedule:
      return "NoSchedule";
    case TaintEffect::kPreferNoSchedule:
      return "PreferNoSchedule";
    case TaintEffect::kNoExecute:
      return "NoExecute";
    case TaintEffect::kNone:
      break;
  }
  return "";
}

bool Toleration::Tolerates(const Taint& taint) const {
  if (unknown_effect) return false;
  if (effect != TaintEffect::kNone && effect != taint.effect) return false;
  if (!key.empty() && key != taint.key) return false;
  if (op == Operator::kExists) return true;
  return op == Operator::kEqual && value == taint.value;
}

bool NodeSelectorTerm::Matches(const meta::StringMap& node_labels,
                               const std::string& node_name) const {
  if (empty() || !meta::MatchesAll(match_expressions, node_labels)) return false;
  for (const meta::Requirement& r : match_fields) {
    if (!r.Matches(r.key == "metadata.name" ? &node_name : nullptr)) return false;
  }
  return true;
}

bool NodeSelector::Matches(const meta::StringMap& node_labels, const std::string& node_name) const {
  for (const NodeSelectorTerm& term : terms) {
    if (term.Matches(node_labels, node_name)) return true;
  }
  return false;
}

void ReadTaints(const Reader& spec, absl::string_view key, std::vector<Taint>& out) {
  spec.List(key, [&](Reader& item) {
    Taint& taint = out.emplace_back();
    std::string effect;
    item.String("key", taint.key);
    item.String("value", taint.value);
    item.String("effect", effect);
    taint.effect = ParseTaintEffect(effect);
  });
}

void ReadTolerations(const Reader& spec, absl::string_view key, std::vector<Toleration>& out) {
  spec.List(key, [&](Reader& item) {
    Toleration& t = out.emplace_back();
    std::string op;
    std::string effect;
    item.String("key", t.key);
    item.String("value", t.value);
    item.String("operator", op);
    item.String("effect", effect);
    item.Int("tolerationSeconds", t.toleration_seconds);
    t.effect = ParseTaintEffect(effect);
    t.unknown_effect = !effect.empty() && t.effect == TaintEffect::kNone;
    using Operator = Toleration::Operator;
    t.op = op.empty() || op == "Equal" ? Operator::kEqual
           : op == "Exists"            ? Operator::kExists
           : op == "Lt"                ? Operator::kLt
           : op == "Gt"                ? Operator::kGt
                                       : Operator::kUnknown;
  });
}

void ReadNodeSelector(const Reader& parent, absl::string_view key,
                      std::optional<NodeSelector>& out) {
  parent.Object(key, [&](Reader& selector) {
    out.emplace();
    selector.List("nodeSelectorTerms",
                  [&](Reader& item) { ReadNodeSelectorTerm(item, out->terms.emplace_back()); });
  });
}

void ReadAffinity(const Reader& spec, absl::string_view key, std::optional<Affinity>& out) {
  spec.Object(key, [&](Reader& affinity) {
    out.emplace();
    affinity.Object("nodeAffinity", [&](Reader& node) {
      out->node.emplace();
      ReadNodeSelector(node, "requiredDuringSchedulingIgnoredDuringExecution", out->node->required);
      node.List("preferredDuringSchedulingIgnoredDuringExecution", [&](Reader& item) {
        PreferredSchedulingTerm& term = out->node->preferred.emplace_back();
        item.Int("weight", term.weight);
        item.Object("preference", [&](Reader& p) { ReadNodeSelectorTerm(p, term.preference); });
      });
    });
    ReadPodAffinity(affinity, "podAffinity", out->pod);
    ReadPodAffinity(affinity, "podAntiAffinity", out->pod_anti);
  });
}

void ReadTopologySpread(const Reader& spec, absl::string_view key,
                        std::vector<TopologySpreadConstraint>& out) {
  spec.List(key, [&](Reader& item) {
    TopologySpreadConstraint& c = out.emplace_back();
    std::string when;
    std::string affinity_policy;
    std::string taints_policy;
    item.Int("maxSkew", c.max_skew);
    item.Int("minDomains", c.min_domains);
    item.String("topologyKey", c.topology_key);
    item.String("whenUnsatisfiable", when);
    item.String("nodeAffinityPolicy", affinity_policy);
    item.String("nodeTaintsPolicy", taints_policy);
    meta::ReadLabelSelector(item, "labelSelector", c.label_selector);
    item.Strings("matchLabelKeys", c.match_label_keys);
    c.hard = when != "ScheduleAnyway";
    c.honor_node_affinity = affinity_policy != "Ignore";
    c.honor_node_taints = taints_policy == "Honor";
  });
}

}  // namespace hekla::apis::core
