#include "pkg/ray/expectations/scale_expectations.h"

#include <algorithm>

namespace hekla::ray::expectations {

void ScaleExpectations::Expect(const std::string& cluster, const std::string& group,
                               const std::string& pod, Action action, absl::Duration now) {
  absl::MutexLock lock(&mutex_);
  records_[cluster][pod] = Record{group, action, now};
}

bool ScaleExpectations::Satisfied(const std::string& cluster, const std::string& group,
                                  const InCache& in_cache, absl::Duration now, bool* given_up) {
  absl::MutexLock lock(&mutex_);
  const auto found = records_.find(cluster);
  if (found == records_.end()) return true;
  bool open = false;
  for (auto it = found->second.begin(); it != found->second.end();) {
    const Record& record = it->second;
    if (record.group != group) {
      ++it;
      continue;
    }
    const bool shown = in_cache(it->first);
    const bool late =
        record.action == Action::kCreate && !shown && now - record.at >= kCreateTimeout;
    if (late && given_up != nullptr) *given_up = true;
    const bool settled = late || shown == (record.action == Action::kCreate);
    open = open || !settled;
    it = settled ? found->second.erase(it) : std::next(it);
  }
  if (found->second.empty()) records_.erase(found);
  return !open;
}

std::optional<absl::Duration> ScaleExpectations::NextTimeout(
    const std::string& cluster, const std::set<std::string>& groups) const {
  absl::MutexLock lock(&mutex_);
  const auto found = records_.find(cluster);
  if (found == records_.end()) return std::nullopt;
  std::optional<absl::Duration> next;
  for (const auto& [pod, record] : found->second) {
    if (record.action != Action::kCreate || !groups.contains(record.group)) continue;
    const absl::Duration due = record.at + kCreateTimeout;
    next = next.has_value() ? std::min(*next, due) : due;
  }
  return next;
}

bool ScaleExpectations::JustCreated(const std::string& cluster, const std::set<std::string>& groups,
                                    const InCache& in_cache, absl::Duration now,
                                    absl::Duration patience) const {
  absl::MutexLock lock(&mutex_);
  const auto found = records_.find(cluster);
  if (found == records_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const auto& entry) {
    const auto& [pod, record] = entry;
    return record.action == Action::kCreate && groups.contains(record.group) &&
           now - record.at < patience && !in_cache(pod);
  });
}

void ScaleExpectations::Forget(const std::string& cluster) {
  absl::MutexLock lock(&mutex_);
  records_.erase(cluster);
}

size_t ScaleExpectations::size() const {
  absl::MutexLock lock(&mutex_);
  size_t size = 0;
  for (const auto& [cluster, pods] : records_) size += pods.size();
  return size;
}

}  // namespace hekla::ray::expectations
