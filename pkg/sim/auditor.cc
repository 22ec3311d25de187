#include "pkg/sim/auditor.h"

#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hekla::sim {
namespace {

using apis::json::Value;
// Thousandths of the unit, so that every quantity in use is whole.
using Amounts = std::map<std::string, __int128>;

// Thousandths of a quantity, rounded up. Anything unreadable counts as zero: the API server has
// validated it before.
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
  const std::string suffix = text.substr(i);
  static const std::map<std::string, __int128> kUnits = {
      {"m", 1},
      {"", 1000},
      {"k", 1000000},
      {"M", static_cast<__int128>(1000000000)},
      {"G", static_cast<__int128>(1000000000000)},
      {"T", static_cast<__int128>(1000000000000000)},
      {"P", static_cast<__int128>(1000000000000000000)},
      {"Ki", static_cast<__int128>(1000) << 10},
      {"Mi", static_cast<__int128>(1000) << 20},
      {"Gi", static_cast<__int128>(1000) << 30},
      {"Ti", static_cast<__int128>(1000) << 40},
      {"Pi", static_cast<__int128>(1000) << 50},
  };
  auto unit = kUnits.find(suffix);
  if (unit == kUnits.end()) {
    if (suffix.size() > 1 && (suffix[0] == 'e' || suffix[0] == 'E')) {
      return static_cast<__int128>(std::ceil(std::strtod(text.c_str(), nullptr) * 1000));
    }
    return 0;
  }
  return (number * unit->second + scale - 1) / scale;
}

Amounts ParseAmounts(const Value& map) {
  Amounts amounts;
  if (!map.is_object()) return amounts;
  for (const auto& member : map.as_object()) amounts[member.key] = ParseMilli(member.value);
  return amounts;
}

void Add(Amounts& to, const Amounts& what, int sign = 1) {
  for (const auto& [name, amount] : what) to[name] += sign * amount;
}

void Max(Amounts& to, const Amounts& what) {
  for (const auto& [name, amount] : what) {
    __int128& mine = to[name];
    if (amount > mine) mine = amount;
  }
}

// Sum of containers and sidecars, or the largest init phase if that is more, plus overhead and one
// pod.
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
  for (const auto& [name, amount] : ParseAmounts(spec.At("resources").At("requests")))
    sum[name] = amount;
  Add(sum, ParseAmounts(spec.At("overhead")));
  sum["pods"] = 1000;
  return sum;
}

std::string Show(__int128 milli) {
  const double value = static_cast<double>(milli) / 1000;
  return absl::StrCat(value);
}

bool Terminal(absl::string_view phase) { return phase == "Succeeded" || phase == "Failed"; }

}  // namespace

struct Auditor::World {
  struct Pod {
    std::string key, uid, node, phase, group, role, queue;
    Amounts request;
    bool holds() const { return !node.empty() && !Terminal(phase); }
  };
  struct Node {
    bool exists = false;
    absl::Time changed = absl::InfinitePast();
    Amounts allocatable, used;
  };
  struct Group {
    bool exists = false;
    int64_t min_member = 0;
    std::map<std::string, int64_t> min_role;
    std::string queue;
  };
  struct Queue {
    Amounts capability, used;
    std::string parent;
    bool exists = false;
  };

  std::map<std::string, Pod> pods;  // by uid
  std::map<std::string, std::string> uid_of;
  std::map<std::string, std::set<std::string>> members;  // group → uids
  std::map<std::string, Node> nodes;
  std::map<std::string, Group> groups;
  std::map<std::string, Queue> queues;
  std::set<std::string> fresh_groups;  // bound a member in this step

  std::string QueueOf(const Pod& pod, const std::string& fallback) const {
    auto it = groups.find(pod.group);
    if (it != groups.end() && !it->second.queue.empty()) return it->second.queue;
    return pod.queue.empty() ? fallback : pod.queue;
  }
};

Auditor::Auditor(Options options)
    : options_(std::move(options)), world_(std::make_unique<World>()) {}
Auditor::~Auditor() = default;

void Auditor::Report(absl::Time now, absl::string_view rule, std::string text) {
  violations_.push_back(Violation{now, std::string(rule), std::move(text)});
}

void Auditor::Observe(absl::string_view type, const Value& object, absl::Time now) {
  const bool gone = type == "DELETED";
  const absl::string_view kind = object.GetString("kind");
  const Value& metadata = object.At("metadata");
  const std::string name(metadata.GetString("name"));
  const Value& spec = object.At("spec");
  if (kind == "Node") {
    ObserveNode(gone, object, now);
  } else if (kind == "Pod") {
    ObservePod(gone, object, now);
  } else if (kind == "PodGroup") {
    World::Group& group = world_->groups[absl::StrCat(metadata.GetString("namespace"), "/", name)];
    group.exists = !gone;
    group.min_member = gone ? 0 : spec.GetInt("minMember");
    group.min_role.clear();
    group.queue = std::string(spec.GetString("queue"));
    if (!gone && spec.At("minTaskMember").is_object()) {
      for (const auto& m : spec.At("minTaskMember").as_object()) {
        if (m.value.is_int()) group.min_role[m.key] = m.value.as_int();
      }
    }
  } else if (kind == "Queue") {
    World::Queue& queue = world_->queues[name];
    queue.exists = !gone;
    queue.capability = ParseAmounts(spec.At("capability"));
    queue.parent = std::string(spec.GetString("parent"));
  }
}

void Auditor::ObserveNode(bool gone, const Value& node, absl::Time now) {
  World::Node& row = world_->nodes[std::string(node.At("metadata").GetString("name"))];
  const bool existed = std::exchange(row.exists, !gone);
  Amounts allocatable = ParseAmounts(node.At("status").At("allocatable"));
  if (existed == gone || allocatable != row.allocatable) row.changed = now;
  row.allocatable = std::move(allocatable);
}

void Auditor::ObservePod(bool gone, const Value& object, absl::Time now) {
  const Value& metadata = object.At("metadata");
  const std::string uid(metadata.GetString("uid"));
  const std::string key =
      absl::StrCat(metadata.GetString("namespace"), "/", metadata.GetString("name"));
  World::Pod next;
  next.key = key;
  next.uid = uid;
  next.node = std::string(object.At("spec").GetString("nodeName"));
  next.phase = std::string(object.At("status").GetString("phase"));
  const Value& annotations = metadata.At("annotations");
  const absl::string_view group = annotations.GetString("scheduling.k8s.io/group-name");
  if (!group.empty()) next.group = absl::StrCat(metadata.GetString("namespace"), "/", group);
  next.role = std::string(annotations.GetString(
      "volcano.sh/task-spec", metadata.At("labels").GetString("volcano.sh/task-spec")));
  next.queue = std::string(annotations.GetString("scheduling.volcano.sh/queue-name"));
  next.request = RequestOf(object);

  auto before = world_->pods.find(uid);
  const bool known = before != world_->pods.end();
  if (known) {
    World::Pod& old = before->second;
    if (!old.node.empty() && !next.node.empty() && old.node != next.node) {
      Report(now, "bound-twice",
             absl::StrCat("pod ", key, " moved from ", old.node, " to ", next.node));
    }
    if (old.holds()) {
      Add(world_->nodes[old.node].used, old.request, -1);
      Add(world_->queues[world_->QueueOf(old, options_.default_queue)].used, old.request, -1);
    }
    if (!old.group.empty()) world_->members[old.group].erase(uid);
  }
  const bool newly_bound = !gone && next.holds() && (known ? before->second.node.empty() : false);
  if (gone) {
    if (known) world_->pods.erase(before);
    return;
  }
  if (next.holds()) {
    Add(world_->nodes[next.node].used, next.request);
    Add(world_->queues[world_->QueueOf(next, options_.default_queue)].used, next.request);
  }
  if (!next.group.empty()) world_->members[next.group].insert(uid);
  world_->pods[uid] = std::move(next);
  if (newly_bound) CheckBinding(uid, now);
}

void Auditor::CheckBinding(const std::string& uid, absl::Time now) {
  ++bindings_;
  const World::Pod& pod = world_->pods[uid];
  const World::Node& node = world_->nodes[pod.node];
  const bool fresh_node =
      options_.staleness > absl::ZeroDuration() && now - node.changed <= options_.staleness;
  if (!node.exists && !fresh_node) {
    Report(now, "vanished-node",
           absl::StrCat("pod ", pod.key, " bound to ", pod.node, ", which is gone"));
  }
  for (const auto& [name, amount] : pod.request) {
    if (amount == 0) continue;
    const auto room = node.allocatable.find(name);
    const __int128 limit = room == node.allocatable.end() ? 0 : room->second;
    const __int128 used = node.used.at(name);
    if (node.exists && !fresh_node && used > limit) {
      Report(now, "node-capacity",
             absl::StrCat("node ", pod.node, " holds ", Show(used), " ", name, " of ", Show(limit),
                          " after pod ", pod.key));
    }
  }
  // The queue and its ancestors; a parent that does not exist ends the path.
  std::string name = world_->QueueOf(pod, options_.default_queue);
  for (int depth = 0; depth < 64 && !name.empty(); ++depth) {
    auto it = world_->queues.find(name);
    if (it == world_->queues.end()) break;
    for (const auto& [dimension, limit] : it->second.capability) {
      Amounts used = it->second.used;
      for (const auto& [child_name, child] : world_->queues) {  // everything below
        std::string up = child.parent;
        for (int d = 0; d < 64 && !up.empty() && child_name != name; ++d) {
          if (up == name) {
            Add(used, child.used);
            break;
          }
          auto parent = world_->queues.find(up);
          up = parent == world_->queues.end() ? "" : parent->second.parent;
        }
      }
      const bool asked = pod.request.contains(dimension) && pod.request.at(dimension) > 0;
      if (asked && used[dimension] > limit) {
        Report(now, "queue-capability",
               absl::StrCat("queue ", name, " uses ", Show(used[dimension]), " ", dimension, " of ",
                            Show(limit), " after pod ", pod.key));
      }
    }
    name = it->second.parent;
  }
  if (!pod.group.empty()) world_->fresh_groups.insert(pod.group);
}

void Auditor::EndOfStep(absl::Time now) {
  if (options_.check_gangs) {
    for (const std::string& key : world_->fresh_groups) {
      const World::Group& group = world_->groups[key];
      if (!group.exists) continue;
      int64_t placed = 0, role_total = 0;
      std::map<std::string, int64_t> by_role;
      for (const std::string& uid : world_->members[key]) {
        const World::Pod& pod = world_->pods[uid];
        if (pod.node.empty() && !Terminal(pod.phase)) continue;
        ++placed;
        ++by_role[pod.role];
      }
      if (placed < group.min_member) {
        Report(now, "gang-minimum",
               absl::StrCat("pod group ", key, " has ", placed, " of ", group.min_member,
                            " members placed"));
      }
      for (const auto& [role, minimum] : group.min_role) role_total += minimum;
      if (group.min_member < role_total) continue;
      for (const auto& [role, minimum] : group.min_role) {
        if (by_role[role] < minimum) {
          Report(now, "gang-minimum",
                 absl::StrCat("pod group ", key, " has ", by_role[role], " of ", minimum,
                              " members of role ", role, " placed"));
        }
      }
    }
  }
  world_->fresh_groups.clear();
}

}  // namespace hekla::sim
