#pragma once

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace hekla::cache {

// Delays per item: 5 ms x 2^k, at most 1000 s. Source: spec scheduler-core 9.6, E17.
class ItemBackoff {
 public:
  // The delay after one more failure of that item.
  absl::Duration Next(const std::string& item) {
    const int failures = failures_[item]++;
    if (failures >= 18) return kCap;
    return std::min(absl::Milliseconds(5) * (int64_t{1} << failures), kCap);
  }
  int failures(absl::string_view item) const {
    const auto it = failures_.find(item);
    return it == failures_.end() ? 0 : it->second;
  }
  void Forget(absl::string_view item) { failures_.erase(item); }
  size_t size() const { return failures_.size(); }

 private:
  static constexpr absl::Duration kCap = absl::Seconds(1000);
  absl::flat_hash_map<std::string, int> failures_;
};

}  // namespace hekla::cache
