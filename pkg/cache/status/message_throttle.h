#pragma once

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "pkg/util/clock.h"

namespace hekla::cache {

// Paces writes that only change the wording of a condition: one at once, the next a second later,
// then after two, four, ... up to 64 seconds; a write that changes more starts over.
// Source: design.md section 4.
class MessageThrottle {
 public:
  // How long a write of that object has to wait, asked at that uptime; takes the turn.
  absl::Duration Delay(const std::string& key, bool message_only, absl::Duration now) {
    if (!message_only) {
      entries_.erase(key);
      return absl::ZeroDuration();
    }
    Entry& entry = entries_[key];
    const absl::Duration wait = std::max(entry.next - now, absl::ZeroDuration());
    entry.interval = std::min(std::max(entry.interval * 2, absl::Seconds(1)), absl::Seconds(64));
    entry.next = now + wait + entry.interval;
    return wait;
  }
  void Forget(absl::string_view key) { entries_.erase(key); }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    absl::Duration next = util::kNotYet;
    absl::Duration interval = absl::ZeroDuration();
  };
  absl::flat_hash_map<std::string, Entry> entries_;
};

}  // namespace hekla::cache
