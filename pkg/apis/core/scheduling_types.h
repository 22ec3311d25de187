#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/meta/reader.h"
#include "pkg/apis/meta/selector.h"

// The parts of pods, nodes and volumes that say what may stand where.
namespace hekla::apis::core {

enum class TaintEffect : uint8_t { kNone, kNoSchedule, kPreferNoSchedule, kNoExecute };

// kNone for "" and for anything unknown (which then matches no taint of a known effect).
TaintEffect ParseTaintEffect(absl::string_view text);
absl::string_view TaintEffectName(TaintEffect effect);

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::kNone;
};

struct Toleration {
  enum class Operator : uint8_t { kEqual, kExists, kLt, kGt, kUnknown };
  std::string key;
  std::string value;
  Operator op = Operator::kEqual;
  TaintEffect effect = TaintEffect::kNone;
  // An effect we do not know tolerates nothing, whereas an absent one tolerates every effect.
  bool unknown_effect = false;
  std::optional<int64_t> toleration_seconds;

  // The numeric operators never match: the feature they belong to is off.
  bool Tolerates(const Taint& taint) const;
};

struct NodeSelectorTerm {
  std::vector<meta::Requirement> match_expressions;
  std::vector<meta::Requirement> match_fields;  // only metadata.name exists
  bool empty() const { return match_expressions.empty() && match_fields.empty(); }
  // An empty term matches nothing.
  bool Matches(const meta::StringMap& node_labels, const std::string& node_name) const;
};

// Terms are alternatives; no term at all matches nothing.
struct NodeSelector {
  std::vector<NodeSelectorTerm> terms;
  bool Matches(const meta::StringMap& node_labels, const std::string& node_name) const;
};

struct PreferredSchedulingTerm {
  int32_t weight = 0;
  NodeSelectorTerm preference;
};

struct NodeAffinity {
  std::optional<NodeSelector> required;
  std::vector<PreferredSchedulingTerm> preferred;
};

struct PodAffinityTerm {
  std::optional<meta::LabelSelector> label_selector;  // absent matches nothing
  std::vector<std::string> namespaces;
  std::optional<meta::LabelSelector> namespace_selector;  // absent: no namespace, empty: all
  std::string topology_key;
};

struct WeightedPodAffinityTerm {
  int32_t weight = 0;
  PodAffinityTerm term;
};

// Used for affinity and for anti-affinity.
struct PodAffinity {
  std::vector<PodAffinityTerm> required;
  std::vector<WeightedPodAffinityTerm> preferred;
  bool empty() const { return required.empty() && preferred.empty(); }
};

struct Affinity {
  std::optional<NodeAffinity> node;
  PodAffinity pod;
  PodAffinity pod_anti;
};

struct TopologySpreadConstraint {
  int32_t max_skew = 1;
  int32_t min_domains = 1;
  std::string topology_key;
  bool hard = true;  // whenUnsatisfiable: DoNotSchedule
  bool honor_node_affinity = true;
  bool honor_node_taints = false;
  std::optional<meta::LabelSelector> label_selector;  // absent matches nothing
  std::vector<std::string> match_label_keys;
};

void ReadTaints(const meta::Reader& spec, absl::string_view key, std::vector<Taint>& out);
void ReadTolerations(const meta::Reader& spec, absl::string_view key, std::vector<Toleration>& out);
void ReadNodeSelector(const meta::Reader& parent, absl::string_view key,
                      std::optional<NodeSelector>& out);
void ReadAffinity(const meta::Reader& spec, absl::string_view key, std::optional<Affinity>& out);
void ReadTopologySpread(const meta::Reader& spec, absl::string_view key,
                        std::vector<TopologySpreadConstraint>& out);

}  // namespace hekla::apis::core
