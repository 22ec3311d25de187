#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "pkg/model/dictionary.h"
#include "pkg/model/pod_template.h"
#include "pkg/model/specs.h"
#include "pkg/model/task_table.h"

namespace hekla::model {

// Gives every task its class: pods of equal template whose labels and namespace no live selector
// can tell apart. Labels enter only with the keys some selector has ever looked at, so that job
// names and indexes do not make every pod its own class.
//
// Rows without tasks are kept for a while (a finished gang's successor finds its class again) and
// then reused under a new generation.
class ClassInterner {
 public:
  ClassInterner(TaskClassTable& table, Dictionary& dictionary);

  // The class of a pod; its count of live tasks is not changed.
  TaskClassId Intern(const TaskSpec& spec, NamespaceId namespace_id);
  void AddTask(TaskClassId id) { ++table_.live_tasks[id]; }
  void RemoveTask(TaskClassId id);

  // A selector that picks pods exists (terms of pods are found by Intern itself).
  void Observe(const Selector& selector);
  // Some pod has ever looked at other pods.
  bool has_coupled_pods() const { return coupled_; }
  // True once after a selector with new keys has been seen: every task must be interned anew.
  bool TakeStale();

 private:
  struct Key {
    const PodTemplate* pod;
    Labels labels;
    NamespaceId namespace_id;
    Symbol owner_kind, owner_name;
    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.pod, k.labels, k.namespace_id, k.owner_kind, k.owner_name);
    }
  };
  struct Canonical {
    std::shared_ptr<const PodTemplate> pod;
    uint32_t static_key = 0;
    uint32_t classes = 0;
  };

  Canonical& Canonicalize(const std::shared_ptr<const PodTemplate>& pod);
  void ObserveTerms(const PodTemplate& pod);
  uint32_t StaticKeyOf(const PodTemplate& pod);
  bool NamespaceMatters(const PodTemplate& pod, const Labels& projected) const;
  TaskClassId NewRow();
  void Release(TaskClassId id);

  TaskClassTable& table_;
  Dictionary& dictionary_;
  absl::flat_hash_map<Key, TaskClassId> index_;
  absl::flat_hash_map<const PodTemplate*, std::unique_ptr<Canonical>> canonical_;
  absl::flat_hash_map<uint64_t, std::vector<const PodTemplate*>> by_content_;
  absl::flat_hash_map<uint64_t, std::vector<std::pair<PodTemplate, uint32_t>>> static_keys_;
  uint32_t next_static_key_ = 0;
  absl::flat_hash_set<Symbol> selector_keys_;
  bool catch_all_ = false;  // some selector matches pods without any of the keys
  bool stale_ = false;
  bool coupled_ = false;
  std::vector<Key> keys_;  // by class
  std::deque<TaskClassId> idle_;
  std::vector<uint8_t> in_idle_;
  std::vector<TaskClassId> free_;
  Symbol owner_kinds_[3];
};

}  // namespace hekla::model
