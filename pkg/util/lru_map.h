#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace hekla::util {

// A map of at most `capacity` keys that forgets the one not used for longest. Not thread-safe.
template <typename T>
class LruMap {
 public:
  explicit LruMap(size_t capacity) : capacity_(capacity) {}

  // The value of `key`, made by default where it is missing; it becomes the last used. Valid until
  // the next call that inserts.
  T& operator[](const std::string& key) {
    if (T* found = Find(key)) return *found;
    if (items_.size() >= capacity_) {
      index_.erase(items_.back().first);
      items_.pop_back();
    }
    items_.emplace_front(key, T());
    index_[items_.front().first] = items_.begin();
    return items_.front().second;
  }
  // nullptr where it is missing; else it becomes the last used.
  T* Find(absl::string_view key) {
    auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    items_.splice(items_.begin(), items_, it->second);
    return &it->second->second;
  }
  size_t size() const { return items_.size(); }

 private:
  using Items = std::list<std::pair<std::string, T>>;

  const size_t capacity_;
  Items items_;                                                             // last used first
  absl::flat_hash_map<absl::string_view, typename Items::iterator> index_;  // views into items_
};

}  // namespace hekla::util
