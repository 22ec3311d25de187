#include "pkg/plugins/common/pod_query.h"

#include <algorithm>

#include "absl/hash/hash.h"

namespace hekla::plugins {

using model::PodTerm;
using model::Selector;
using model::Symbol;

const std::vector<PodTerm>& TermsOf(const model::PodTemplate& pod, TermRole role) {
  switch (role) {
    case TermRole::kAntiAffinity:
      return pod.anti_affinity;
    case TermRole::kPreferredAffinity:
      return pod.preferred_pod_affinity;
    case TermRole::kPreferredAntiAffinity:
      return pod.preferred_anti_affinity;
  }
  return pod.anti_affinity;
}

PodSelector SelectorOf(const PodTerm& term, Symbol owner_namespace) {
  PodSelector out{term.selector, term.namespaces, term.has_namespace_selector,
                  term.namespace_selector};
  if (out.namespaces.empty() && !out.has_namespace_selector) out.namespaces = {owner_namespace};
  return out;
}

namespace {

uint64_t HashSelector(const Selector& selector) {
  uint64_t h = selector.nothing ? 7 : 3;
  for (const model::Requirement& r : selector.requirements) {
    h = absl::HashOf(h, r.key, r.op, r.values, r.number);
  }
  return h;
}

bool InNamespaces(const PodSelector& selector, model::NamespaceId where,
                  const model::Tables& tables, const model::SymbolTable& symbols) {
  if (!where.valid()) return false;
  const Symbol name = tables.namespaces.name[where];
  if (std::find(selector.namespaces.begin(), selector.namespaces.end(), name) !=
      selector.namespaces.end()) {
    return true;
  }
  return selector.has_namespace_selector &&
         model::Matches(selector.namespace_selector, tables.namespaces.labels[where], symbols);
}

}  // namespace

uint64_t HashOf(const PodQuery& query) {
  uint64_t h = absl::HashOf(query.skip_deleting, query.holders, query.role, query.topology_key,
                            query.weight);
  for (const PodSelector& part : query.parts) {
    h = absl::HashOf(h, HashSelector(part.selector), part.namespaces, part.has_namespace_selector,
                     HashSelector(part.namespace_selector));
  }
  return h;
}

bool Selects(const PodSelector& selector, const model::Labels& labels, model::NamespaceId where,
             const model::Tables& tables, const model::SymbolTable& symbols) {
  return model::Matches(selector.selector, labels, symbols) &&
         InNamespaces(selector, where, tables, symbols);
}

void SelectorIndex::Add(uint32_t id, const Selector& selector) {
  if (selector.nothing) return;
  for (const model::Requirement& r : selector.requirements) {
    if (r.op != model::SelectorOp::kIn) continue;
    for (Symbol value : r.values) by_label_[{r.key, value}].push_back(id);
    return;
  }
  general_.push_back(id);
}

}  // namespace hekla::plugins
