#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "pkg/apis/json/value.h"
#include "pkg/cache/delta_queue.h"
#include "pkg/cache/ingest/object_compiler.h"
#include "pkg/cache/ingest/pod_compiler.h"
#include "pkg/cache/ingest/volume_compiler.h"
#include "pkg/cache/stores/kind_store.h"
#include "pkg/kube/resource.h"
#include "pkg/model/dictionary.h"

namespace hekla::cache {

using PodStore = KindStore<model::TaskSpec>;
using PodGroupStore = KindStore<model::JobSpec>;
using QueueStore = KindStore<model::QueueSpec>;

// One kind that is watched.
struct WatchedKind {
  kube::Resource resource;
  std::vector<absl::string_view> unread;  // as kube::Reflector::Options
  KindStoreBase* store = nullptr;
};

// The stores of all kinds that decisions depend on.
// Threads: the io executor; Synced and Missing from any thread.
class Stores {
 public:
  struct Options {
    PodCompiler::Options pods = {};
    std::vector<std::string> node_selector = {};
    bool priority_class = true;
    bool csi_storage = true;
    // Whether a PodGroup's new status is one that we have just written; may be null.
    std::function<bool(const model::JobSpec&)> is_own_write = nullptr;
    // After an object is gone, with its key; may be null.
    std::function<void(const std::string&, const model::TaskSpec&)> pod_removed = nullptr;
    std::function<void(const std::string&, const model::JobSpec&)> group_removed = nullptr;
    std::function<void(const std::string&, const model::QueueSpec&)> queue_removed = nullptr;
  };

  Stores(std::shared_ptr<model::Dictionary> dictionary, DeltaQueue* deltas, Options options);

  const std::vector<WatchedKind>& kinds() const { return kinds_; }
  PodStore& pods() { return *pods_; }
  PodGroupStore& pod_groups() { return *pod_groups_; }
  QueueStore& queues() { return *queues_; }

  // Finds the store by apiVersion and kind. Kinds nobody watches are ignored.
  absl::Status Put(const apis::json::Value& object);
  void MarkSynced();
  bool Synced() const;
  std::vector<std::string> Missing() const;
  int64_t rejected() const;

 private:
  template <typename Spec>
  KindStore<Spec>* Add(kube::Resource resource, typename KindStore<Spec>::Hooks hooks);
  void AddWorkload();
  void AddStorage();
  void AddScheduling();

  const std::shared_ptr<model::Dictionary> dictionary_;
  DeltaQueue* const deltas_;
  const Options options_;
  PodCompiler pod_compiler_;
  ObjectCompiler objects_;
  VolumeCompiler volumes_;
  NodeFilter node_filter_;
  std::vector<std::unique_ptr<KindStoreBase>> stores_;
  std::vector<WatchedKind> kinds_;
  PodStore* pods_ = nullptr;
  PodGroupStore* pod_groups_ = nullptr;
  QueueStore* queues_ = nullptr;
};

// Whether nothing that scheduling looks at differs: only the version and what the scheduler itself
// writes into a pod's status.
bool SameForScheduling(const model::TaskSpec& a, const model::TaskSpec& b);

}  // namespace hekla::cache
