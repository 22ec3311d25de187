#include "pkg/model/pod_template.h"

#include "absl/hash/hash.h"

namespace hekla::model {

template <typename H>
H AbslHashValue(H h, const Requirement& r) {
  return H::combine(std::move(h), r.key, r.op, r.values, r.number);
}
template <typename H>
H AbslHashValue(H h, const Selector& s) {
  return H::combine(std::move(h), s.requirements, s.nothing);
}
template <typename H>
H AbslHashValue(H h, const NodeTerm& t) {
  return H::combine(std::move(h), t.expressions, t.fields, t.invalid, t.weight);
}
template <typename H>
H AbslHashValue(H h, const Toleration& t) {
  const int effect = t.effect.has_value() ? static_cast<int>(*t.effect) : -1;
  return H::combine(std::move(h), t.key, t.value, t.exists, t.invalid, effect);
}
template <typename H>
H AbslHashValue(H h, const HostPort& p) {
  return H::combine(std::move(h), p.ip, p.protocol, p.port);
}
template <typename H>
H AbslHashValue(H h, const PodTerm& t) {
  return H::combine(std::move(h), t.selector, t.namespaces, t.has_namespace_selector,
                    t.namespace_selector, t.topology_key, t.weight);
}
template <typename H>
H AbslHashValue(H h, const SpreadConstraint& c) {
  return H::combine(std::move(h), c.topology_key, c.max_skew, c.min_domains, c.hard,
                    c.honor_affinity, c.honor_taints, c.selector);
}
template <typename H>
H AbslHashValue(H h, const PodVolume& v) {
  return H::combine(std::move(h), v.claim, v.ephemeral);
}
template <typename H>
H AbslHashValue(H h, const PodTemplate& p) {
  h = H::combine(std::move(h), p.request, p.nonzero_cpu_milli, p.nonzero_memory_bytes,
                 p.best_effort, p.node_selector, p.has_required_affinity, p.required_affinity,
                 p.preferred_affinity, p.tolerations, p.host_ports);
  return H::combine(std::move(h), p.affinity, p.anti_affinity, p.preferred_pod_affinity,
                    p.preferred_anti_affinity, p.spread, p.images, p.container_count, p.volumes,
                    p.has_resource_claims);
}

uint64_t HashOf(const PodTemplate& pod) { return absl::Hash<PodTemplate>()(pod); }

}  // namespace hekla::model
