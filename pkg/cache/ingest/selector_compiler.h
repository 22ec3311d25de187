#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/apis/core/scheduling_types.h"
#include "pkg/apis/meta/selector.h"
#include "pkg/apis/meta/string_map.h"
#include "pkg/model/dictionary.h"
#include "pkg/model/selector.h"

namespace hekla::cache {

// Turns selectors, terms, taints and labels of the wire into their interned forms.
// Threads: any; the symbol table does its own locking.
class SelectorCompiler {
 public:
  explicit SelectorCompiler(model::SymbolTable& symbols) : symbols_(&symbols) {}

  model::Symbol Intern(absl::string_view text) const { return symbols_->Intern(text); }
  model::Labels Labels(const apis::meta::StringMap& labels) const;
  model::Requirement Requirement(const apis::meta::Requirement& requirement) const;
  model::Selector Selector(const apis::meta::LabelSelector& selector) const;
  // An absent selector matches nothing.
  model::Selector SelectorOrNothing(const std::optional<apis::meta::LabelSelector>& s) const;
  // `labels` as a selector: every pair must be present.
  model::Selector FromMap(const apis::meta::StringMap& labels) const;

  model::NodeTerm NodeTerm(const apis::core::NodeSelectorTerm& term, int32_t weight = 0) const;
  std::vector<model::NodeTerm> NodeTerms(
      const std::vector<apis::core::NodeSelectorTerm>& terms) const;
  std::vector<model::Taint> Taints(const std::vector<apis::core::Taint>& taints) const;
  std::vector<model::Toleration> Tolerations(
      const std::vector<apis::core::Toleration>& tolerations) const;
  // `owner_namespace` stands in where the term names no namespace at all.
  model::PodTerm PodTerm(const apis::core::PodAffinityTerm& term, absl::string_view owner_namespace,
                         int32_t weight = 0) const;
  // matchLabelKeys are folded in with the values of `pod_labels`.
  model::SpreadConstraint Spread(const apis::core::TopologySpreadConstraint& constraint,
                                 const apis::meta::StringMap& pod_labels) const;

 private:
  model::SymbolTable* symbols_;
};

}  // namespace hekla::cache
