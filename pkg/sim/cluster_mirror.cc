#include "pkg/sim/cluster_mirror.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

constexpr int kDeepest = 64;  // of a path of queues; a cycle ends here
// What went earlier than this is known to everybody.
constexpr absl::Duration kLossesKept = absl::Minutes(30);

// Thousandths of a quantity, rounded up.
__int128 ParseMilli(const Value& value) {
  const std::string text = value.is_string() ? value.as_string() : apis::json::Dump(value);
  __int128 number = 0;
  __int128 scale = 1;  // of the fraction
  size_t i = 0;
  bool fraction = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      fraction = true;
    } else if (c >= '0' && c <= '9') {
      number = number * 10 + (c - '0');
      if (fraction) scale *= 10;
    } else if (c != '+') {
      break;
    }
  }
  const absl::string_view suffix = absl::string_view(text).substr(i);
  static constexpr std::pair<absl::string_view, int64_t> kUnits[] = {
      {"m", 1},
      {"", 1000},
      {"k", 1000000},
      {"M", 1000000000},
      {"G", 1000000000000},
      {"T", 1000000000000000},
      {"P", 1000000000000000000},
      {"Ki", int64_t{1000} << 10},
      {"Mi", int64_t{1000} << 20},
      {"Gi", int64_t{1000} << 30},
      {"Ti", int64_t{1000} << 40},
      {"Pi", int64_t{1000} << 50},
  };
  for (const auto& [name, unit] : kUnits) {
    if (name == suffix) return (number * unit + scale - 1) / scale;
  }
  if (suffix.size() > 1 && (suffix[0] == 'e' || suffix[0] == 'E')) {
    return static_cast<__int128>(std::ceil(std::strtod(text.c_str(), nullptr) * 1000));
  }
  return 0;
}

void Max(Amounts& to, const Amounts& what) {
  for (const auto& [name, amount] : what) {
    __int128& mine = to[name];
    if (amount > mine) mine = amount;
  }
}

std::string KeyOf(const Value& metadata) {
  return absl::StrCat(metadata.GetString("namespace"), "/", metadata.GetString("name"));
}

bool Usable(const Value& spec) {
  if (spec.GetBool("unschedulable")) return false;
  const Value& taints = spec.At("taints");
  for (size_t i = 0; taints.is_array() && i < taints.size(); ++i) {
    if (taints.as_array()[i].GetString("effect") != "PreferNoSchedule") return false;
  }
  return true;
}

template <typename Map>
auto FindIn(const Map& map, const std::string& key) -> decltype(&map.begin()->second) {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}

}  // namespace

__int128 AmountOf(const Amounts& amounts, const std::string& resource) {
  const __int128* amount = FindIn(amounts, resource);
  return amount == nullptr ? 0 : *amount;
}

Amounts ParseAmounts(const Value& map) {
  Amounts amounts;
  if (!map.is_object()) return amounts;
  for (const auto& member : map.as_object()) amounts[member.key] = ParseMilli(member.value);
  return amounts;
}

void Add(Amounts& to, const Amounts& what, int sign) {
  for (const auto& [name, amount] : what) to[name] += sign * amount;
}

Amounts RequestOf(const Value& pod) {
  const Value& spec = pod.At("spec");
  Amounts sum, sidecars, peak;
  if (spec.At("containers").is_array()) {
    for (const Value& c : spec.At("containers").as_array()) {
      Add(sum, ParseAmounts(c.At("resources").At("requests")));
    }
  }
  if (spec.At("initContainers").is_array()) {
    for (const Value& c : spec.At("initContainers").as_array()) {
      const Amounts own = ParseAmounts(c.At("resources").At("requests"));
      if (c.GetString("restartPolicy") == "Always") {
        Add(sum, own);
        Add(sidecars, own);
        Max(peak, sidecars);
      } else {
        Amounts phase = sidecars;
        Add(phase, own);
        Max(peak, phase);
      }
    }
  }
  Max(sum, peak);
  for (const auto& [name, amount] : ParseAmounts(spec.At("resources").At("requests"))) {
    sum[name] = amount;
  }
  Add(sum, ParseAmounts(spec.At("overhead")));
  sum["pods"] = 1000;
  return sum;
}

std::string Show(__int128 milli) { return absl::StrCat(static_cast<double>(milli) / 1000); }

void ClusterMirror::Observe(absl::string_view type, const Value& object, absl::Time now) {
  const bool gone = type == "DELETED";
  const absl::string_view kind = object.GetString("kind");
  if (kind == "Pod") {
    ObservePod(gone, object, now);
  } else if (kind == "Node") {
    ObserveNode(gone, object, now);
  } else if (kind == "PodGroup") {
    ObserveGroup(gone, object, now);
  } else if (kind == "Queue") {
    ObserveQueue(gone, object, now);
  }
}

void ClusterMirror::ObserveNode(bool gone, const Value& node, absl::Time now) {
  Node& row = nodes_[std::string(node.At("metadata").GetString("name"))];
  const bool existed = std::exchange(row.exists, !gone);
  const bool was_usable = std::exchange(row.usable, !gone && Usable(node.At("spec")));
  Amounts allocatable = ParseAmounts(node.At("status").At("allocatable"));
  if (existed == gone || was_usable != row.usable || allocatable != row.allocatable) {
    row.changed = now;
  }
  row.allocatable = std::move(allocatable);
}

void ClusterMirror::ObserveGroup(bool gone, const Value& object, absl::Time now) {
  const Value& spec = object.At("spec");
  Group next;
  next.exists = !gone;
  next.min_member = gone ? 0 : spec.GetInt("minMember");
  next.queue = std::string(spec.GetString("queue"));
  const Value& status = object.At("status");
  next.running = status.GetInt("running");
  next.succeeded = status.GetInt("succeeded");
  next.failed = status.GetInt("failed");
  next.phase = std::string(status.GetString("phase"));
  if (!gone && spec.At("minTaskMember").is_object()) {
    for (const auto& m : spec.At("minTaskMember").as_object()) {
      if (m.value.is_int()) next.min_role[m.key] = m.value.as_int();
    }
  }
  const std::string key = KeyOf(object.At("metadata"));
  Group& group = groups_[key];
  const bool same = group.exists == next.exists && group.min_member == next.min_member &&
                    group.min_role == next.min_role && group.queue == next.queue;
  next.changed = same ? group.changed : now;
  for (const std::string& uid : MembersOf(key)) Book(pods_.at(uid), -1);
  group = std::move(next);
  for (const std::string& uid : MembersOf(key)) {
    Pod& pod = pods_.at(uid);
    const std::string before = pod.booked_queue;
    Book(pod, +1);
    if (pod.holds() && pod.booked_queue != before) queues_[pod.booked_queue].moved = now;
  }
}

void ClusterMirror::ObserveQueue(bool gone, const Value& object, absl::Time now) {
  Queue& queue = queues_[std::string(object.At("metadata").GetString("name"))];
  const Value& spec = object.At("spec");
  Amounts capability = ParseAmounts(spec.At("capability"));
  std::string parent(spec.GetString("parent"));
  if (queue.exists == gone || queue.capability != capability || queue.parent != parent) {
    queue.changed = now;
  }
  queue.exists = !gone;
  queue.weight = spec.GetInt("weight", 1);
  queue.allocated = ParseAmounts(object.At("status").At("allocated"));
  queue.capability = std::move(capability);
  queue.parent = std::move(parent);
}

void ClusterMirror::Book(Pod& pod, int sign) {
  if (!pod.holds()) return;
  Add(nodes_[pod.node].used, pod.request, sign);
  if (sign > 0) {
    // Nobody can tell the queue of a pod whose group is gone.
    const Group* group = FindGroup(pod.group);
    pod.booked_queue = group != nullptr && !group->exists ? "" : QueueOf(pod);
  }
  Queue& queue = queues_[pod.booked_queue];
  Add(queue.used, pod.request, sign);
  if (pod.terminating) Add(queue.leaving, pod.request, sign);
}

void ClusterMirror::ObservePod(bool gone, const Value& object, absl::Time now) {
  const Value& metadata = object.At("metadata");
  Pod next;
  next.key = KeyOf(metadata);
  next.uid = std::string(metadata.GetString("uid"));
  next.node = std::string(object.At("spec").GetString("nodeName"));
  next.phase = std::string(object.At("status").GetString("phase"));
  next.terminating = metadata.Has("deletionTimestamp");
  next.changed = now;
  const Value& annotations = metadata.At("annotations");
  const absl::string_view group = annotations.GetString("scheduling.k8s.io/group-name");
  if (!group.empty()) next.group = absl::StrCat(metadata.GetString("namespace"), "/", group);
  next.role = std::string(annotations.GetString(
      "volcano.sh/task-spec", metadata.At("labels").GetString("volcano.sh/task-spec")));
  next.queue = std::string(annotations.GetString("scheduling.volcano.sh/queue-name"));

  const auto before = pods_.find(next.uid);
  const bool known = before != pods_.end();
  next.request = known ? before->second.request : RequestOf(object);  // nobody can change it
  if (known) {
    Pod& old = before->second;
    Book(old, -1);
    if (!old.group.empty()) members_[old.group].erase(old.uid);
    if (old.placed() && (gone || !next.placed())) NoteLoss(old, now);
    if (old.node == next.node && old.phase == next.phase && old.terminating == next.terminating) {
      next.changed = old.changed;
    }
  }
  if (gone) {
    if (!known) return;
    if (auto it = uid_of_.find(next.key); it != uid_of_.end() && it->second == next.uid) {
      uid_of_.erase(it);
    }
    Bury(std::move(before->second), now);
    pods_.erase(before);
    return;
  }
  Book(next, 1);
  if (!next.group.empty()) members_[next.group].insert(next.uid);
  uid_of_[next.key] = next.uid;
  const std::string uid = next.uid;
  pods_[uid] = std::move(next);
}

void ClusterMirror::Bury(Pod pod, absl::Time now) {
  while (!gone_in_order_.empty()) {
    const auto oldest = gone_.find(gone_in_order_.front());
    if (oldest->second.changed >= now - kLossesKept) break;
    gone_.erase(oldest);
    gone_in_order_.pop_front();
  }
  pod.changed = now;
  gone_in_order_.push_back(pod.uid);
  gone_[pod.uid] = std::move(pod);
}

void ClusterMirror::NoteLoss(const Pod& pod, absl::Time now) {
  if (pod.group.empty()) return;
  std::deque<Loss>& losses = losses_[pod.group];
  while (!losses.empty() && losses.front().time < now - kLossesKept) losses.pop_front();
  losses.push_back({now, pod.role});
}

void ClusterMirror::NoteSurprise(const std::string& node, const std::string& queue,
                                 absl::Time now) {
  nodes_[node].changed = now;
  for (const std::string& name : PathOf(queue)) queues_[name].changed = now;
}

const ClusterMirror::Pod* ClusterMirror::FindPod(const std::string& uid) const {
  return FindIn(pods_, uid);
}
const ClusterMirror::Pod* ClusterMirror::FindPodByName(const std::string& key) const {
  const std::string* uid = FindIn(uid_of_, key);
  return uid == nullptr ? nullptr : FindPod(*uid);
}
const ClusterMirror::Pod* ClusterMirror::FindGone(const std::string& uid) const {
  return FindIn(gone_, uid);
}
const ClusterMirror::Node* ClusterMirror::FindNode(const std::string& name) const {
  return FindIn(nodes_, name);
}
const ClusterMirror::Group* ClusterMirror::FindGroup(const std::string& key) const {
  return FindIn(groups_, key);
}
const ClusterMirror::Queue* ClusterMirror::FindQueue(const std::string& name) const {
  return FindIn(queues_, name);
}
const std::set<std::string>& ClusterMirror::MembersOf(const std::string& group) const {
  static const auto* const kNone = new std::set<std::string>();
  const auto* found = FindIn(members_, group);
  return found == nullptr ? *kNone : *found;
}
const std::deque<ClusterMirror::Loss>& ClusterMirror::LossesOf(const std::string& group) const {
  static const auto* const kNone = new std::deque<Loss>();
  const auto* found = FindIn(losses_, group);
  return found == nullptr ? *kNone : *found;
}

std::string ClusterMirror::QueueOf(const Pod& pod) const {
  const Group* group = FindGroup(pod.group);
  if (group != nullptr && !group->queue.empty()) return group->queue;
  return pod.queue.empty() ? default_queue_ : pod.queue;
}

std::vector<std::string> ClusterMirror::PathOf(const std::string& queue) const {
  std::vector<std::string> path;
  std::string name = queue;
  for (int depth = 0; depth < kDeepest && !name.empty(); ++depth) {
    const Queue* row = FindQueue(name);
    if (row == nullptr || !row->exists) break;
    path.push_back(name);
    name = row->parent;
  }
  return path;
}

// Whether the way up from `name` meets `queue`; one that does not exist ends it.
bool ClusterMirror::IsBelow(const std::string& name, const std::string& queue) const {
  std::string up = name;
  for (int depth = 0; depth < kDeepest && !up.empty(); ++depth) {
    const Queue* row = FindQueue(up);
    if (row == nullptr || !row->exists) return false;
    if (up == queue) return true;
    up = row->parent;
  }
  return false;
}

Amounts ClusterMirror::UsedBelow(const std::string& queue, bool leaving) const {
  Amounts used;
  for (const auto& [name, row] : queues_) {
    if (!IsBelow(name, queue)) continue;
    Add(used, row.used);
    if (!leaving) Add(used, row.leaving, -1);
  }
  return used;
}

absl::Time ClusterMirror::LastBelow(const std::string& queue, absl::Time Queue::*when) const {
  absl::Time last = absl::InfinitePast();
  for (const auto& [name, row] : queues_) {
    if (IsBelow(name, queue)) last = std::max(last, row.*when);
  }
  return last;
}
absl::Time ClusterMirror::ChangedBelow(const std::string& queue) const {
  return LastBelow(queue, &Queue::changed);
}
absl::Time ClusterMirror::MovedBelow(const std::string& queue) const {
  return LastBelow(queue, &Queue::moved);
}

std::vector<std::string> Shortfalls(const ClusterMirror::Group& group, int64_t placed,
                                    const std::map<std::string, int64_t>& by_role) {
  std::vector<std::string> out;
  if (placed < group.min_member) {
    out.push_back(absl::StrCat(placed, " of ", group.min_member, " members placed"));
  }
  int64_t role_total = 0;
  for (const auto& [role, minimum] : group.min_role) role_total += minimum;
  if (group.min_member < role_total) return out;
  for (const auto& [role, minimum] : group.min_role) {
    const int64_t* found = FindIn(by_role, role);
    const int64_t have = found == nullptr ? 0 : *found;
    if (have >= minimum) continue;
    out.push_back(absl::StrCat(have, " of ", minimum, " members of role ", role, " placed"));
  }
  return out;
}

}  // namespace hekla::sim
