#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "glog/logging.h"

namespace hekla::kube {

// The last known state of every object of one kind, by key (`namespace/name` or `name`), with
// indexes on top. Objects are shared and never changed.
// Threads: any may read at any time; one writer (the informer).
// Order:   none is promised; who needs one sorts.
template <typename T>
class Store {
 public:
  using Object = std::shared_ptr<const T>;
  // The index values of one object.
  using IndexFunction = std::function<std::vector<std::string>(const T&)>;

  Object Get(absl::string_view key) const {
    absl::ReaderMutexLock lock(&mutex_);
    auto it = objects_.find(key);
    return it == objects_.end() ? nullptr : it->second;
  }
  std::vector<Object> List() const {
    absl::ReaderMutexLock lock(&mutex_);
    std::vector<Object> out;
    out.reserve(objects_.size());
    for (const auto& [key, object] : objects_) out.push_back(object);
    return out;
  }
  std::vector<std::string> Keys() const {
    absl::ReaderMutexLock lock(&mutex_);
    std::vector<std::string> out;
    out.reserve(objects_.size());
    for (const auto& [key, object] : objects_) out.push_back(key);
    return out;
  }
  size_t size() const {
    absl::ReaderMutexLock lock(&mutex_);
    return objects_.size();
  }
  // Objects whose index function named `value`. `index` must have been added.
  std::vector<Object> ByIndex(absl::string_view index, absl::string_view value) const {
    absl::ReaderMutexLock lock(&mutex_);
    std::vector<Object> out;
    auto it = indexes_.find(index);
    CHECK(it != indexes_.end()) << "no index " << index;
    auto bucket = it->second.buckets.find(value);
    if (bucket == it->second.buckets.end()) return out;
    for (const std::string& key : bucket->second) out.push_back(objects_.find(key)->second);
    return out;
  }
  // Also for a store that holds objects already.
  // Errors: kAlreadyExists `indexer conflict: NAME`.
  absl::Status AddIndex(const std::string& name, IndexFunction function) {
    absl::MutexLock lock(&mutex_);
    if (indexes_.contains(name)) {
      return absl::AlreadyExistsError(absl::StrCat("indexer conflict: ", name));
    }
    Index& index = indexes_[name];
    index.function = std::move(function);
    for (const auto& [key, object] : objects_) Insert(index, key, *object);
    return absl::OkStatus();
  }

  // Returns the object that was there before.
  Object Put(const std::string& key, Object object) {
    absl::MutexLock lock(&mutex_);
    Object& slot = objects_[key];
    Object old = std::move(slot);
    for (auto& [name, index] : indexes_) {
      if (old != nullptr) Remove(index, key, *old);
      Insert(index, key, *object);
    }
    slot = std::move(object);
    return old;
  }
  Object Erase(absl::string_view key) {
    absl::MutexLock lock(&mutex_);
    auto it = objects_.find(key);
    if (it == objects_.end()) return nullptr;
    Object old = std::move(it->second);
    for (auto& [name, index] : indexes_) Remove(index, it->first, *old);
    objects_.erase(it);
    return old;
  }

 private:
  struct Index {
    IndexFunction function;
    absl::flat_hash_map<std::string, absl::flat_hash_set<std::string>> buckets;
  };

  static void Insert(Index& index, const std::string& key, const T& object) {
    for (const std::string& value : index.function(object)) index.buckets[value].insert(key);
  }
  static void Remove(Index& index, const std::string& key, const T& object) {
    for (const std::string& value : index.function(object)) {
      auto it = index.buckets.find(value);
      if (it == index.buckets.end()) continue;
      it->second.erase(key);
      if (it->second.empty()) index.buckets.erase(it);
    }
  }

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Object> objects_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<std::string, Index> indexes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::kube
