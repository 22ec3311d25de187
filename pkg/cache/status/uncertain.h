#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace hekla::cache {

// Objects to which something was written without anybody knowing whether it took effect. Until a
// newer version of the object has been seen, "the server already has this" cannot be concluded from
// what is known of it.
class Uncertain {
 public:
  // A write based on `version` got no answer.
  void Lost(const std::string& key, int64_t version) { versions_[key] = version; }
  // Whether what is known (`version`) may be older than what the server has because of us.
  bool IsSo(const std::string& key, int64_t version) {
    const auto it = versions_.find(key);
    if (it == versions_.end()) return false;
    if (version <= it->second) return true;
    versions_.erase(it);
    return false;
  }
  void Forget(absl::string_view key) { versions_.erase(key); }

 private:
  absl::flat_hash_map<std::string, int64_t> versions_;
};

}  // namespace hekla::cache
