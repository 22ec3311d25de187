#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "pkg/model/cluster.h"

// HOT PATH
namespace hekla::plugins {

// Which terms of its own a pod carries.
enum class TermRole : uint8_t { kAntiAffinity, kPreferredAffinity, kPreferredAntiAffinity };
inline constexpr int kTermRoles = 3;

const std::vector<model::PodTerm>& TermsOf(const model::PodTemplate& pod, TermRole role);

// Pods selected by labels and namespace.
struct PodSelector {
  model::Selector selector;
  std::vector<model::Symbol> namespaces;  // sorted
  bool has_namespace_selector = false;
  model::Selector namespace_selector;
  friend bool operator==(const PodSelector&, const PodSelector&) = default;
};

// The pods a term means. A term that names no namespace at all means its owner's.
PodSelector SelectorOf(const model::PodTerm& term, model::Symbol owner_namespace);

// A set of pods: those that all parts select, or those that carry a term themselves.
struct PodQuery {
  std::vector<PodSelector> parts;
  bool skip_deleting = false;
  // Holders: pods with a term of this role whose meaning is parts[0].
  bool holders = false;
  TermRole role = TermRole::kAntiAffinity;
  model::Symbol topology_key;
  int32_t weight = 0;
  friend bool operator==(const PodQuery&, const PodQuery&) = default;
};
uint64_t HashOf(const PodQuery& query);

bool Selects(const PodSelector& selector, const model::Labels& labels, model::NamespaceId where,
             const model::Tables& tables, const model::SymbolTable& symbols);

// Finds, among many selectors, the few that can match given labels: each is filed under the values
// of one of its requirements. Cost of a lookup: O(labels + candidates).
class SelectorIndex {
 public:
  void Add(uint32_t id, const model::Selector& selector);
  // Calls fn(id) at most once for every selector that may match; others certainly do not.
  template <typename Fn>
  void ForCandidates(const model::Labels& labels, Fn fn) const {
    for (const model::Label& label : labels) {
      if (auto it = by_label_.find(label); it != by_label_.end()) {
        for (uint32_t id : it->second) fn(id);
      }
    }
    for (uint32_t id : general_) fn(id);
  }

 private:
  absl::flat_hash_map<model::Label, std::vector<uint32_t>> by_label_;
  std::vector<uint32_t> general_;
};

}  // namespace hekla::plugins
