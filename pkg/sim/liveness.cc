#include "pkg/sim/liveness.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hekla::sim {
namespace {

using Pod = ClusterMirror::Pod;

// Room that is left, on nodes and under the capabilities of queues.
class Room {
 public:
  explicit Room(const ClusterMirror& mirror) : mirror_(mirror) {
    for (const auto& [name, node] : mirror.nodes()) {
      if (!node.exists || !node.usable) continue;
      Amounts& free = free_[name];
      free = node.allocatable;
      Add(free, node.used, -1);
    }
    for (const auto& [name, queue] : mirror.queues()) {
      if (!queue.exists || queue.capability.empty()) continue;
      Amounts& left = left_[name];
      left = queue.capability;
      Add(left, mirror.UsedBelow(name, /*leaving=*/true), -1);
    }
  }
  // Takes it away where there is enough.
  bool Take(const Pod& pod, const std::string& queue) {
    const auto path = mirror_.PathOf(queue);
    for (const std::string& name : path) {
      const auto left = left_.find(name);
      if (left != left_.end() && !Covers(left->second, pod.request, /*absent=*/true)) return false;
    }
    for (auto& [name, free] : free_) {
      if (!Covers(free, pod.request, /*absent=*/false)) continue;
      Add(free, pod.request, -1);
      for (const std::string& above : path) {
        if (const auto left = left_.find(above); left != left_.end()) {
          for (auto& [dimension, amount] : left->second) amount -= AmountOf(pod.request, dimension);
        }
      }
      return true;
    }
    return false;
  }

 private:
  static bool Covers(const Amounts& room, const Amounts& request, bool absent) {
    for (const auto& [dimension, amount] : request) {
      if (amount == 0) continue;
      const auto has = room.find(dimension);
      if (has == room.end() ? !absent : has->second < amount) return false;
    }
    return true;
  }

  const ClusterMirror& mirror_;
  std::map<std::string, Amounts> free_;  // by node
  std::map<std::string, Amounts> left_;  // by queue with a capability
};

bool EverythingFits(const ClusterMirror& mirror) {
  Amounts total, asked;
  for (const auto& [name, node] : mirror.nodes()) {
    if (node.exists) Add(total, node.allocatable);
  }
  for (const auto& [uid, pod] : mirror.pods()) {
    if (!pod.ended()) Add(asked, pod.request);
  }
  return std::all_of(asked.begin(), asked.end(), [&total](const auto& one) {
    return one.second == 0 || AmountOf(total, one.first) >= one.second;
  });
}

// Whether these are the minimum of the group and that of each role.
bool Whole(const ClusterMirror::Group& group, int64_t placed,
           const std::map<std::string, int64_t>& by_role) {
  if (placed < group.min_member) return false;
  return std::all_of(group.min_role.begin(), group.min_role.end(), [&by_role](const auto& role) {
    const auto have = by_role.find(role.first);
    return have != by_role.end() && have->second >= role.second;
  });
}

// How many of the pods would find room, and whether the gang would be whole then.
int64_t Placeable(const ClusterMirror& mirror, const std::string& key,
                  const std::vector<const Pod*>& pods) {
  Room room(mirror);
  std::map<std::string, int64_t> by_role;
  int64_t placed = 0, found = 0;
  const ClusterMirror::Group* group = mirror.FindGroup(key);
  if (group != nullptr) {
    for (const std::string& uid : mirror.MembersOf(key)) {
      const Pod& pod = *mirror.FindPod(uid);
      if (pod.node.empty() || !pod.placed()) continue;
      ++placed;
      ++by_role[pod.role];
    }
  }
  for (const Pod* pod : pods) {
    if (!room.Take(*pod, mirror.QueueOf(*pod))) continue;
    ++found;
    ++placed;
    ++by_role[pod->role];
  }
  return group == nullptr || Whole(*group, placed, by_role) ? found : 0;
}

}  // namespace

std::vector<Violation> LeftPending(const ClusterMirror& mirror, absl::Time now) {
  std::vector<Violation> findings;
  if (!EverythingFits(mirror)) return findings;
  std::map<std::string, std::vector<const Pod*>> pending;  // by group, or "pod ns/name"
  for (const auto& [uid, pod] : mirror.pods()) {
    if (!pod.node.empty() || pod.ended() || pod.terminating) continue;
    const ClusterMirror::Queue* queue = mirror.FindQueue(mirror.QueueOf(pod));
    if (queue == nullptr || !queue->exists) continue;  // rightly left alone
    if (!pod.group.empty()) {
      const ClusterMirror::Group* group = mirror.FindGroup(pod.group);
      if (group == nullptr || !group->exists) continue;  // so is this
    }
    pending[pod.group.empty() ? absl::StrCat("pod ", pod.key) : pod.group].push_back(&pod);
  }
  for (const auto& [name, pods] : pending) {
    const int64_t found = Placeable(mirror, pods.front()->group, pods);
    if (found == 0) continue;
    findings.push_back({now, "left-pending",
                        absl::StrCat(name, " has ", pods.size(), " pending pods, of which ", found,
                                     " would fit")});
  }
  return findings;
}

std::vector<Violation> StaleStatuses(const ClusterMirror& mirror, absl::Time now) {
  std::vector<Violation> findings;
  for (const auto& [key, group] : mirror.groups()) {
    if (!group.exists) continue;
    // Without its queue it takes no part, and its status stays as it is.
    const ClusterMirror::Queue* queue = mirror.FindQueue(group.queue);
    if (!group.queue.empty() && (queue == nullptr || !queue->exists)) continue;
    int64_t running = 0, succeeded = 0, failed = 0;
    for (const std::string& uid : mirror.MembersOf(key)) {
      const Pod& pod = *mirror.FindPod(uid);
      running += pod.phase == "Running" && !pod.terminating ? 1 : 0;
      succeeded += pod.phase == "Succeeded" ? 1 : 0;
      failed += pod.phase == "Failed" ? 1 : 0;
    }
    if (running == group.running && succeeded == group.succeeded && failed == group.failed) {
      continue;
    }
    findings.push_back(
        {now, "stale-status",
         absl::StrCat("pod group ", key, " counts ", group.running, " running, ", group.succeeded,
                      " succeeded, ", group.failed, " failed; there are ", running, ", ", succeeded,
                      ", ", failed)});
  }
  return findings;
}

}  // namespace hekla::sim
