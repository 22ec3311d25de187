#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/synchronization/mutex.h"

namespace hekla::cache {

// One shared instance per content. Instances nobody else holds any more are forgotten from time to
// time, so that memory follows what is in use.
// Threads: any.
template <typename T>
class Interner {
 public:
  using Hash = std::function<uint64_t(const T&)>;
  explicit Interner(Hash hash) : hash_(std::move(hash)) {}

  std::shared_ptr<const T> Intern(T value) {
    const uint64_t hash = hash_(value);
    absl::MutexLock lock(&mutex_);
    auto& bucket = buckets_[hash];
    for (const std::weak_ptr<const T>& weak : bucket) {
      std::shared_ptr<const T> known = weak.lock();
      if (known != nullptr && *known == value) return known;
    }
    auto made = std::make_shared<const T>(std::move(value));
    bucket.push_back(made);
    if (buckets_.size() > sweep_at_) Sweep();
    return made;
  }

  size_t size() const {
    absl::MutexLock lock(&mutex_);
    return buckets_.size();
  }

 private:
  using Bucket = absl::InlinedVector<std::weak_ptr<const T>, 1>;

  void Sweep() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (auto it = buckets_.begin(); it != buckets_.end();) {
      Bucket live;
      for (const std::weak_ptr<const T>& weak : it->second) {
        if (!weak.expired()) live.push_back(weak);
      }
      it->second = std::move(live);
      if (it->second.empty()) {
        buckets_.erase(it++);
      } else {
        ++it;
      }
    }
    sweep_at_ = buckets_.size() * 2 + 1024;
  }

  const Hash hash_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<uint64_t, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
  size_t sweep_at_ ABSL_GUARDED_BY(mutex_) = 1024;
};

}  // namespace hekla::cache
