#include "pkg/sim/liveness.h"

#include <algorithm>
#include <map>
#include <optional>
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
  // A queue's capability has refused a pod.
  bool queue_in_the_way() const { return queue_in_the_way_; }
  // Takes it away where there is enough.
  bool Take(const Pod& pod, const std::string& queue) {
    const auto path = mirror_.PathOf(queue);
    for (const std::string& name : path) {
      const auto left = left_.find(name);
      if (left == left_.end() || Covers(left->second, pod.request, /*absent=*/true)) continue;
      queue_in_the_way_ = true;
      return false;
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
  bool queue_in_the_way_ = false;
};

// A queue's parent; "" for the root.
std::string ParentOf(const ClusterMirror& mirror, const std::string& queue) {
  if (queue == "root") return "";
  const ClusterMirror::Queue* row = mirror.FindQueue(queue);
  return row == nullptr || row->parent.empty() ? "root" : row->parent;
}

// Without a way to the root, or with queues below it, a queue of a tree takes no jobs.
bool TakesJobs(const ClusterMirror& mirror, const std::string& queue, Sharing sharing) {
  const auto exists = [&mirror](const std::string& name) {
    const ClusterMirror::Queue* row = mirror.FindQueue(name);
    return row != nullptr && row->exists;
  };
  if (!exists(queue)) return false;
  if (sharing != Sharing::kAsTree) return true;
  std::string up = queue;
  for (size_t steps = mirror.queues().size(); up != "root"; --steps) {
    up = ParentOf(mirror, up);
    if (steps == 0 || !exists(up)) return false;
  }
  return std::none_of(mirror.queues().begin(), mirror.queues().end(), [&](const auto& other) {
    return other.second.exists && other.first != queue && ParentOf(mirror, other.first) == queue;
  });
}

// Where the scheduler sees the pod: in the queue of its group; "" where that is missing.
std::string JobQueueOf(const ClusterMirror& mirror, const Pod& pod) {
  const ClusterMirror::Group* group = mirror.FindGroup(pod.group);
  if (!pod.group.empty() && (group == nullptr || !group->exists)) return "";
  return mirror.QueueOf(pod);
}

// What each queue itself holds, counted afresh; what leaves is not held any more.
std::map<std::string, Amounts> HeldByQueue(const ClusterMirror& mirror) {
  std::map<std::string, Amounts> held;
  for (const auto& [uid, pod] : mirror.pods()) {
    if (pod.holds() && !pod.terminating) Add(held[JobQueueOf(mirror, pod)], pod.request);
  }
  return held;
}

Amounts TotalOf(const ClusterMirror& mirror) {
  Amounts total;
  for (const auto& [name, node] : mirror.nodes()) {
    if (node.exists) Add(total, node.allocatable);
  }
  return total;
}

bool EverythingFits(const ClusterMirror& mirror) {
  const Amounts total = TotalOf(mirror);
  Amounts asked;
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

// Members that have their place.
struct Placed {
  int64_t count = 0;
  std::map<std::string, int64_t> by_role;
  void Take(const Pod& pod) {
    ++count;
    ++by_role[pod.role];
  }
};
Placed PlacedOf(const ClusterMirror& mirror, const std::string& group) {
  Placed placed;
  for (const std::string& uid : mirror.MembersOf(group)) {
    const Pod& pod = *mirror.FindPod(uid);
    if (!pod.node.empty() && pod.placed()) placed.Take(pod);
  }
  return placed;
}

// How many of the pods would find room; 0 where the gang would not be whole then. Nothing where a
// queue refuses one: then it depends on the order in which they are tried.
std::optional<int64_t> Placeable(const ClusterMirror& mirror, const std::string& key,
                                 const std::vector<const Pod*>& pods) {
  Room room(mirror);
  const ClusterMirror::Group* group = mirror.FindGroup(key);
  Placed placed = group == nullptr ? Placed() : PlacedOf(mirror, key);
  int64_t found = 0;
  for (const Pod* pod : pods) {
    if (!room.Take(*pod, mirror.QueueOf(*pod))) continue;
    ++found;
    placed.Take(*pod);
  }
  // With roles it matters who gets the room that does not do for all: the scheduler's choice.
  const bool roles = group != nullptr && !group->min_role.empty();
  if (roles && found < static_cast<int64_t>(pods.size())) return 0;
  if (room.queue_in_the_way()) return std::nullopt;
  return group == nullptr || Whole(*group, placed.count, placed.by_role) ? found : 0;
}

// Members that a gang lacks and that have room by the sums of the auditor. Taking each for as large
// as the largest makes the order in which they are placed irrelevant.
class GangRoom {
 public:
  GangRoom(const ClusterMirror& mirror, Sharing sharing)
      : mirror_(mirror), sharing_(sharing), total_(TotalOf(mirror)), held_(HeldByQueue(mirror)) {
    for (const auto& [name, queue] : mirror.queues()) weights_ += queue.exists ? queue.weight : 0;
  }

  int64_t Lacking(const std::string& key, const std::vector<const Pod*>& pods) const {
    const ClusterMirror::Group& group = *mirror_.FindGroup(key);
    const auto count = static_cast<int64_t>(pods.size());
    Placed placed = PlacedOf(mirror_, key);
    int64_t needed = std::max<int64_t>(1, group.min_member - placed.count);
    if (!group.min_role.empty()) needed = count;
    Pod largest = *pods.front();
    for (const Pod* pod : pods) {
      placed.Take(*pod);
      for (const auto& [name, amount] : pod->request) {
        largest.request[name] = std::max(largest.request[name], amount);
      }
    }
    if (needed > count || !Whole(group, placed.count, placed.by_role)) return 0;
    const std::string queue = mirror_.QueueOf(largest);
    if (!InShare(queue, largest.request, needed)) return 0;
    Room room(mirror_);
    for (int64_t i = 0; i < needed; ++i) {
      if (!room.Take(largest, queue)) return 0;
    }
    return needed;
  }

 private:
  // What a queue may hold at least is its part of a first division, as far as it asks for it.
  bool InShare(const std::string& queue, const Amounts& request, int64_t times) const {
    if (sharing_ == Sharing::kAsTree) return true;  // only capabilities count
    const int64_t weight = mirror_.FindQueue(queue)->weight;
    const auto held = held_.find(queue);
    return std::all_of(request.begin(), request.end(), [&](const auto& one) {
      const __int128 has = held == held_.end() ? 0 : AmountOf(held->second, one.first);
      __int128 limit = AmountOf(total_, one.first);
      if (sharing_ == Sharing::kByWeight) limit = limit * weight / weights_;
      return one.second == 0 || has + one.second * times <= limit;
    });
  }

  const ClusterMirror& mirror_;
  const Sharing sharing_;
  const Amounts total_;
  const std::map<std::string, Amounts> held_;
  int64_t weights_ = 0;
};

// A group's pods as its status and phase count them.
struct Members {
  int64_t running = 0, succeeded = 0, failed = 0;
  int64_t scheduled = 0;  // on a node, or ended
  int64_t ready = 0;      // placed, and not about to leave
  int64_t waiting = 0, leaving = 0;
};

Members CountMembers(const ClusterMirror& mirror, const std::string& key) {
  Members m;
  for (const std::string& uid : mirror.MembersOf(key)) {
    const Pod& pod = *mirror.FindPod(uid);
    m.running += pod.phase == "Running" && !pod.terminating ? 1 : 0;
    m.succeeded += pod.phase == "Succeeded" ? 1 : 0;
    m.failed += pod.phase == "Failed" ? 1 : 0;
    m.scheduled += pod.ended() || !pod.node.empty() ? 1 : 0;
    m.ready += pod.placed() ? 1 : 0;
    m.waiting += pod.node.empty() && !pod.ended() && !pod.terminating ? 1 : 0;
    m.leaving += pod.holds() && pod.terminating ? 1 : 0;
  }
  return m;
}

// Which phase follows from the pods; "" stands for Pending or Inqueue.
std::string PhaseOf(const Members& m, int64_t minimum) {
  // One that ends in order is not blamed for what it lacks.
  const bool ends = m.leaving > 0 && m.waiting == 0 && m.scheduled >= minimum;
  if (m.running > 0 && m.ready < minimum && !ends) return "Unknown";
  if (m.scheduled < minimum) return "";
  return m.scheduled == m.succeeded + m.failed ? "Completed" : "Running";
}

void CheckGroup(const ClusterMirror& mirror, const std::string& key, absl::Time now,
                std::vector<Violation>& findings) {
  const ClusterMirror::Group& group = *mirror.FindGroup(key);
  const Members m = CountMembers(mirror, key);
  if (m.running != group.running || m.succeeded != group.succeeded || m.failed != group.failed) {
    findings.push_back(
        {now, "stale-status",
         absl::StrCat("pod group ", key, " counts ", group.running, " running, ", group.succeeded,
                      " succeeded, ", group.failed, " failed; there are ", m.running, ", ",
                      m.succeeded, ", ", m.failed)});
  }
  const std::string phase = PhaseOf(m, group.min_member);
  const bool waits = group.phase == "Pending" || group.phase == "Inqueue";
  if (phase.empty() ? waits : phase == group.phase) return;
  findings.push_back(
      {now, "stale-status",
       absl::StrCat("pod group ", key, " has phase \"", group.phase, "\"; of ", group.min_member,
                    " members ", m.scheduled, " are scheduled, ", m.ready, " ready, ", m.running,
                    " running, ", m.succeeded + m.failed, " ended")});
}

// The sums of a queue and of all below it; they are those of its status.
void CheckQueues(const ClusterMirror& mirror, absl::Time now, std::vector<Violation>& findings) {
  std::map<std::string, Amounts> sums;
  for (const auto& [queue, held] : HeldByQueue(mirror)) {
    std::string up = queue;
    for (size_t steps = mirror.queues().size(); steps > 0 && !up.empty(); --steps) {
      const ClusterMirror::Queue* row = mirror.FindQueue(up);
      if (row == nullptr || !row->exists) break;
      Add(sums[up], held);
      up = ParentOf(mirror, up);
    }
  }
  for (const auto& [name, queue] : mirror.queues()) {
    if (!queue.exists) continue;
    Amounts differ = sums[name];
    Add(differ, queue.allocated, -1);
    for (const auto& [dimension, amount] : differ) {
      if (amount == 0) continue;
      findings.push_back(
          {now, "stale-status",
           absl::StrCat("queue ", name, " says that ", Show(AmountOf(queue.allocated, dimension)),
                        " ", dimension, " is allocated; ", Show(AmountOf(sums[name], dimension)),
                        " is")});
    }
  }
}

}  // namespace

std::vector<Violation> LeftPending(const ClusterMirror& mirror, Sharing sharing, absl::Time now) {
  std::vector<Violation> findings;
  std::map<std::string, std::vector<const Pod*>> pending;  // by group, or "pod ns/name"
  for (const auto& [uid, pod] : mirror.pods()) {
    if (!pod.node.empty() || pod.ended() || pod.terminating) continue;
    // Without group or queue it is rightly left alone.
    if (!TakesJobs(mirror, JobQueueOf(mirror, pod), sharing)) continue;
    pending[pod.group.empty() ? absl::StrCat("pod ", pod.key) : pod.group].push_back(&pod);
  }
  if (pending.empty()) return findings;
  const bool everything_fits = EverythingFits(mirror);
  const GangRoom gang_room(mirror, sharing);
  for (const auto& [name, pods] : pending) {
    const std::string& group = pods.front()->group;
    std::optional<int64_t> found;
    if (everything_fits) found = Placeable(mirror, group, pods);
    if (!found.has_value()) found = group.empty() ? 0 : gang_room.Lacking(group, pods);
    if (*found == 0) continue;
    findings.push_back({now, "left-pending",
                        absl::StrCat(name, " has ", pods.size(), " pending pods, of which ", *found,
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
    CheckGroup(mirror, key, now, findings);
  }
  CheckQueues(mirror, now, findings);
  return findings;
}

}  // namespace hekla::sim
