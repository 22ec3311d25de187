#include "pkg/model/class_interner.h"

#include "glog/logging.h"

namespace hekla::model {
namespace {

constexpr size_t kKeptIdleClasses = 4096;

}  // namespace

ClassInterner::ClassInterner(TaskClassTable& table, Dictionary& dictionary)
    : table_(table), dictionary_(dictionary) {
  owner_kinds_[0] = dictionary_.symbols.Intern("ReplicationController");
  owner_kinds_[1] = dictionary_.symbols.Intern("ReplicaSet");
  owner_kinds_[2] = dictionary_.symbols.Intern("StatefulSet");
}

void ClassInterner::Observe(const Selector& selector) {
  if (selector.nothing) return;
  bool positive = false;
  for (const Requirement& r : selector.requirements) {
    if (selector_keys_.insert(r.key).second) stale_ = true;
    positive = positive || (r.op != SelectorOp::kNotIn && r.op != SelectorOp::kDoesNotExist);
  }
  if (!positive && !catch_all_) {
    catch_all_ = true;
    stale_ = true;
  }
}

void ClassInterner::ObserveTerms(const PodTemplate& pod) {
  coupled_ = coupled_ || pod.has_pod_affinity() || !pod.spread.empty();
  for (const auto* terms : {&pod.affinity, &pod.anti_affinity, &pod.preferred_pod_affinity,
                            &pod.preferred_anti_affinity}) {
    for (const PodTerm& term : *terms) Observe(term.selector);
  }
  for (const SpreadConstraint& c : pod.spread) Observe(c.selector);
}

bool ClassInterner::TakeStale() {
  const bool stale = stale_;
  stale_ = false;
  return stale;
}

uint32_t ClassInterner::StaticKeyOf(const PodTemplate& pod) {
  PodTemplate part;
  part.node_selector = pod.node_selector;
  part.has_required_affinity = pod.has_required_affinity;
  part.required_affinity = pod.required_affinity;
  part.preferred_affinity = pod.preferred_affinity;
  part.tolerations = pod.tolerations;
  part.images = pod.images;
  part.container_count = pod.container_count;
  auto& candidates = static_keys_[HashOf(part)];
  for (const auto& [known, key] : candidates) {
    if (known == part) return key;
  }
  candidates.emplace_back(std::move(part), next_static_key_);
  return next_static_key_++;
}

ClassInterner::Canonical& ClassInterner::Canonicalize(
    const std::shared_ptr<const PodTemplate>& pod) {
  if (auto it = canonical_.find(pod.get()); it != canonical_.end()) return *it->second;
  auto& same_hash = by_content_[HashOf(*pod)];
  for (const PodTemplate* known : same_hash) {
    if (*known == *pod) return *canonical_.at(known);
  }
  same_hash.push_back(pod.get());
  auto canonical = std::make_unique<Canonical>();
  canonical->pod = pod;
  canonical->static_key = StaticKeyOf(*pod);
  ObserveTerms(*pod);
  Canonical& result = *canonical;
  canonical_.emplace(pod.get(), std::move(canonical));
  return result;
}

bool ClassInterner::NamespaceMatters(const PodTemplate& pod, const Labels& projected) const {
  return catch_all_ || !projected.empty() || !pod.volumes.empty() || !pod.spread.empty() ||
         pod.has_pod_affinity() || pod.has_resource_claims;
}

TaskClassId ClassInterner::NewRow() {
  if (!free_.empty()) {
    const TaskClassId id = free_.back();
    free_.pop_back();
    ++table_.generation[id];
    return id;
  }
  const TaskClassId id(static_cast<uint32_t>(table_.size()));
  table_.pod.push_back(nullptr);
  table_.projected_labels.push_back({});
  table_.namespace_id.push_back({});
  table_.static_key.push_back(0);
  table_.live_tasks.push_back(0);
  table_.generation.push_back(0);
  keys_.emplace_back();
  in_idle_.push_back(0);
  return id;
}

TaskClassId ClassInterner::Intern(const TaskSpec& spec, NamespaceId namespace_id) {
  Canonical& canonical = Canonicalize(spec.pod);
  Key key{canonical.pod.get(), {}, {}, {}, {}};
  for (const Label& label : *spec.labels) {
    if (selector_keys_.contains(label.first)) key.labels.push_back(label);
  }
  if (NamespaceMatters(*canonical.pod, key.labels)) key.namespace_id = namespace_id;
  for (Symbol kind : owner_kinds_) {
    if (spec.controller_kind != kind) continue;
    key.owner_kind = kind;
    key.owner_name = spec.controller_name;
    key.namespace_id = namespace_id;
  }
  if (auto it = index_.find(key); it != index_.end()) return it->second;
  const TaskClassId id = NewRow();
  ++canonical.classes;
  table_.pod[id] = canonical.pod.get();
  table_.projected_labels[id] = key.labels;
  table_.namespace_id[id] = key.namespace_id;
  table_.static_key[id] = canonical.static_key;
  table_.live_tasks[id] = 0;
  keys_[id.index()] = key;
  index_.emplace(std::move(key), id);
  return id;
}

void ClassInterner::RemoveTask(TaskClassId id) {
  DCHECK_GT(table_.live_tasks[id], 0u);
  if (--table_.live_tasks[id] != 0 || in_idle_[id.index()]) return;
  in_idle_[id.index()] = 1;
  idle_.push_back(id);
  while (idle_.size() > kKeptIdleClasses) {
    const TaskClassId oldest = idle_.front();
    idle_.pop_front();
    in_idle_[oldest.index()] = 0;
    if (table_.live_tasks[oldest] == 0) Release(oldest);
  }
}

void ClassInterner::Release(TaskClassId id) {
  const PodTemplate* pod = table_.pod[id];
  index_.erase(keys_[id.index()]);
  keys_[id.index()] = Key{};
  table_.pod[id] = nullptr;
  table_.projected_labels[id].clear();
  ++table_.generation[id];
  free_.push_back(id);
  auto it = canonical_.find(pod);
  if (--it->second->classes != 0) return;
  auto same_hash = by_content_.find(HashOf(*pod));
  std::erase(same_hash->second, pod);
  if (same_hash->second.empty()) by_content_.erase(same_hash);
  canonical_.erase(it);
}

}  // namespace hekla::model
