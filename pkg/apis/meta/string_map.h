#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace hekla::apis::meta {

// Labels, annotations: strings by key, sorted by key, in one allocation.
class StringMap {
 public:
  using Entry = std::pair<std::string, std::string>;

  StringMap() = default;
  StringMap(std::initializer_list<Entry> entries) {
    for (const Entry& e : entries) Set(e.first, e.second);
  }

  // nullptr where absent. Valid until the map changes.
  const std::string* Find(absl::string_view key) const {
    const auto it = std::lower_bound(entries_.begin(), entries_.end(), key, Before);
    return it != entries_.end() && it->first == key ? &it->second : nullptr;
  }
  absl::string_view Get(absl::string_view key, absl::string_view fallback = "") const {
    const std::string* value = Find(key);
    return value == nullptr ? fallback : absl::string_view(*value);
  }
  bool Has(absl::string_view key) const { return Find(key) != nullptr; }
  void Set(absl::string_view key, absl::string_view value) {
    const auto it = std::lower_bound(entries_.begin(), entries_.end(), key, Before);
    if (it != entries_.end() && it->first == key) {
      it->second = std::string(value);
    } else {
      entries_.emplace(it, std::string(key), std::string(value));
    }
  }
  void Erase(absl::string_view key) {
    const auto it = std::lower_bound(entries_.begin(), entries_.end(), key, Before);
    if (it != entries_.end() && it->first == key) entries_.erase(it);
  }
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  void reserve(size_t n) { entries_.reserve(n); }
  friend bool operator==(const StringMap& a, const StringMap& b) {
    return a.entries_ == b.entries_;
  }

 private:
  static bool Before(const Entry& e, absl::string_view key) { return e.first < key; }
  std::vector<Entry> entries_;
};

}  // namespace hekla::apis::meta
