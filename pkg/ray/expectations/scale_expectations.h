#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace hekla::ray::expectations {

enum class Action : uint8_t { kCreate, kDelete };

// What was written and may not yet show in the cache: bridges the gap between a successful write
// and the watch event about it, so that no second pod is made for one missing replica and none is
// deleted twice.
// A creation is settled once the cache has the pod, at the latest 30 s after it was recorded; a
// deletion once the cache has it no more, however long that takes.
// All times are uptimes (Clock::Uptime): nobody may be given up early because a clock was set.
// Threads: any.
// Source:  spec ray-cluster 4.7.
class ScaleExpectations {
 public:
  static constexpr absl::Duration kCreateTimeout = absl::Seconds(30);
  // Whether the cache has a pod of that name in the cluster's namespace.
  using InCache = std::function<bool(const std::string& pod)>;

  // `cluster`: "namespace/name". `group`: "" is the head. A later record for the same pod replaces
  // the earlier one.
  void Expect(const std::string& cluster, const std::string& group, const std::string& pod,
              Action action, absl::Duration now);
  // Drops what is settled; true when nothing of the group is open. `given_up`, which may be null,
  // is set where a creation was settled by time alone.
  bool Satisfied(const std::string& cluster, const std::string& group, const InCache& in_cache,
                 absl::Duration now, bool* given_up = nullptr);
  // When the first open creation of these groups runs into its time-out; nothing where none is
  // open. Groups that the spec has no more are nobody's business: nobody settles their records.
  std::optional<absl::Duration> NextTimeout(const std::string& cluster,
                                            const std::set<std::string>& groups) const;
  // Whether a creation of these groups that is younger than `patience` does not show yet. Drops
  // nothing.
  bool JustCreated(const std::string& cluster, const std::set<std::string>& groups,
                   const InCache& in_cache, absl::Duration now, absl::Duration patience) const;
  void Forget(const std::string& cluster);
  size_t size() const;

 private:
  struct Record {
    std::string group;
    Action action;
    absl::Duration at;
  };

  mutable absl::Mutex mutex_;
  // By cluster, then by pod.
  std::map<std::string, std::map<std::string, Record>> records_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hekla::ray::expectations
