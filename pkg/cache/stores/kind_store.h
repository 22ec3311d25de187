#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/cache/delta_queue.h"
#include "pkg/cache/ingest/annotations.h"
#include "pkg/kube/reflector.h"
#include "pkg/util/random.h"

namespace hekla::cache {

// What all kinds have in common, for the owner of the stores.
class KindStoreBase : public kube::ReflectorSink {
 public:
  explicit KindStoreBase(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  // The initial list is complete, or the server does not have the kind. Any thread.
  bool synced() const { return synced_.load(std::memory_order_acquire); }
  void MarkSynced() { synced_.store(true, std::memory_order_release); }
  // Why the initial list is not there yet; "" when nothing is known. Any thread.
  std::string problem() const {
    absl::MutexLock lock(&mutex_);
    return problem_;
  }
  // Objects that could not be decoded so far. Any thread.
  int64_t rejected() const { return rejected_.load(std::memory_order_relaxed); }

  // One object as it is now. Errors: what is wrong with it; the store stays as it was.
  virtual absl::Status Put(const apis::json::Value& object) = 0;
  // `on_synced` is called once, when the initial list becomes complete.
  void SetOnSynced(std::function<void()> on_synced) { on_synced_ = std::move(on_synced); }

 protected:
  void SetProblem(std::string problem) {
    absl::MutexLock lock(&mutex_);
    problem_ = std::move(problem);
  }
  void BecomeSynced() {
    SetProblem("");
    if (synced()) return;
    MarkSynced();
    if (on_synced_ != nullptr) on_synced_();
  }
  std::atomic<int64_t> rejected_{0};

 private:
  const std::string name_;
  std::function<void()> on_synced_;
  std::atomic<bool> synced_{false};
  mutable absl::Mutex mutex_;
  std::string problem_ ABSL_GUARDED_BY(mutex_);
};

// The objects of one kind as compiled rows, by `namespace/name`. Feeds the delta queue.
// What it knows is never older than what anybody has read: a write's answer or a GET may run ahead
// of the watch (Observe), and the watch's older events are then passed over.
// Threads: the io executor.
template <typename Spec>
class KindStore final : public KindStoreBase {
 public:
  using SpecPtr = std::shared_ptr<const Spec>;
  struct Hooks {
    // Decodes and compiles; null for an object that takes no part.
    std::function<absl::StatusOr<SpecPtr>(const apis::json::Value&)> compile;
    // Key of the Remove delta.
    std::function<std::string(const Spec&)> remove_key;
    // Whether the tables need not hear of a change at all; may be null.
    std::function<bool(const Spec& before, const Spec& after)> same = nullptr;
    // Whether a change needs no cycle soon; may be null.
    std::function<bool(const Spec& before, const Spec& after)> quiet = nullptr;
    // After the row of that key is gone; may be null.
    std::function<void(const std::string& key, const Spec&)> removed = nullptr;
    // Keep the object's JSON for write-back.
    bool keep_raw = false;
  };
  struct Entry {
    SpecPtr spec;
    int64_t version = 0;
    uint32_t epoch = 0;
    uint64_t uid = 0;  // a hash of it
    std::string raw;   // without managedFields
  };

  KindStore(std::string name, DeltaQueue* deltas, Hooks hooks)
      : KindStoreBase(std::move(name)), deltas_(deltas), hooks_(std::move(hooks)) {}

  // nullptr where there is none. Valid until the store changes.
  const Entry* Find(absl::string_view key) const {
    const auto it = entries_.find(key);
    return it == entries_.end() ? nullptr : &it->second;
  }
  size_t size() const { return entries_.size(); }

  void BeginReplace() override { ++epoch_; }
  void ReplaceItem(apis::json::Value object) override { (void)Apply(object, Source::kList); }
  void EndReplace(const std::string&) override {
    std::vector<std::string> gone;
    for (const auto& [key, entry] : entries_) {
      if (entry.epoch != epoch_) gone.push_back(key);
    }
    std::sort(gone.begin(), gone.end());  // the order of removals is the same in every run
    for (const std::string& key : gone) Erase(key);
    BecomeSynced();
  }
  void AbortReplace() override {}
  void OnEvent(kube::EventType type, apis::json::Value object) override {
    if (type == kube::EventType::kDeleted) {
      Erase(KeyOf(object));
    } else {
      (void)Apply(object, Source::kWatch);
    }
  }
  void OnBookmark(const std::string&) override {}
  void OnError(const absl::Status& status) override {
    if (absl::IsNotFound(status) && entries_.empty()) {
      BecomeSynced();  // the server does not have the kind: none exist
      return;
    }
    SetProblem(std::string(status.message()));
    LOG_EVERY_N(WARNING, 10) << "watch failed kind=" << name() << " error=" << status;
  }

  absl::Status Put(const apis::json::Value& object) override {
    return Apply(object, Source::kWatch);
  }

  // Takes an object that was read or answered outside the watch, if its object is known and this is
  // newer, without telling the tables. Returns what is known then; null for an object that is gone
  // or takes no part.
  SpecPtr Observe(const apis::json::Value& object) {
    (void)Apply(object, Source::kAnswer);
    const Entry* entry = Find(KeyOf(object));
    return entry == nullptr ? nullptr : entry->spec;
  }
  // The same, and tells the tables quietly: for answers to writes of our own.
  void ObserveQuietly(const apis::json::Value& object) { (void)Apply(object, Source::kOwnWrite); }

  static std::string KeyOf(const apis::json::Value& object) {
    const apis::json::Value& metadata = object.At("metadata");
    return apis::meta::ObjectKey(metadata.GetString("namespace"), metadata.GetString("name"));
  }

 private:
  static uint64_t UidOf(const apis::json::Value& object) {
    return util::StableHash(object.At("metadata").GetString("uid"));
  }

  enum class Source { kList, kWatch, kAnswer, kOwnWrite };

  absl::Status Apply(const apis::json::Value& object, Source source) {
    const std::string key = KeyOf(object);
    const int64_t version =
        ParseResourceVersion(object.At("metadata").GetString("resourceVersion"));
    auto it = entries_.find(key);
    // An answer can arrive after the watch has told that the object is gone; it brings none back.
    const bool answer = source == Source::kAnswer || source == Source::kOwnWrite;
    if (answer && it == entries_.end()) return absl::OkStatus();
    if (it != entries_.end()) {
      if (source == Source::kList) it->second.epoch = epoch_;
      const bool newer = version > it->second.version || version == 0;
      // A server that lost its state may give the same version to another object.
      const bool other = version != it->second.version || UidOf(object) != it->second.uid;
      const bool changed = source == Source::kList ? other : newer;
      if (!changed && version != 0) return absl::OkStatus();
    }
    absl::StatusOr<SpecPtr> spec = hooks_.compile(object);
    if (!spec.ok()) {
      rejected_.fetch_add(1, std::memory_order_relaxed);
      LOG(ERROR) << "object left out kind=" << name() << " object=" << key
                 << " error=" << spec.status().message();
      return spec.status();
    }
    if (*spec == nullptr) {
      Erase(key);
      return absl::OkStatus();
    }
    Store(key, version, *std::move(spec), object, source);
    return absl::OkStatus();
  }

  void Store(const std::string& key, int64_t version, SpecPtr spec, const apis::json::Value& object,
             Source source) {
    Entry& entry = entries_[key];
    const SpecPtr old = std::move(entry.spec);
    if (old != nullptr && hooks_.remove_key(*old) != hooks_.remove_key(*spec)) {
      deltas_->Push(model::Remove<Spec>{hooks_.remove_key(*old)});
    }
    entry.spec = spec;
    entry.version = version;
    // An answer may be older than the list that is under way: no sign of life for that.
    if (source == Source::kList || source == Source::kWatch) entry.epoch = epoch_;
    entry.uid = UidOf(object);
    if (hooks_.keep_raw) {
      apis::json::Value raw = object;
      if (apis::json::Value* metadata = raw.Find("metadata")) metadata->Remove("managedFields");
      entry.raw = apis::json::Dump(raw);
    }
    if (source == Source::kAnswer) return;
    if (old != nullptr && hooks_.same != nullptr && hooks_.same(*old, *spec)) return;
    const bool quiet = source == Source::kOwnWrite ||
                       (old != nullptr && hooks_.quiet != nullptr && hooks_.quiet(*old, *spec));
    deltas_->Push(model::Upsert<Spec>{std::move(spec)}, quiet);
  }

  void Erase(const std::string& key) {
    auto it = entries_.find(key);
    if (it == entries_.end()) return;
    const SpecPtr spec = std::move(it->second.spec);
    entries_.erase(it);
    deltas_->Push(model::Remove<Spec>{hooks_.remove_key(*spec)});
    if (hooks_.removed != nullptr) hooks_.removed(key, *spec);
  }

  DeltaQueue* const deltas_;
  const Hooks hooks_;
  absl::flat_hash_map<std::string, Entry> entries_;
  uint32_t epoch_ = 0;
};

}  // namespace hekla::cache
