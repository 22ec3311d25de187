#include "pkg/sim/auditor.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hekla::sim {

using apis::json::Value;

Auditor::Auditor(Options options) : options_(std::move(options)), mirror_(options_.default_queue) {}

void Auditor::Report(absl::Time now, absl::string_view rule, std::string text) {
  violations_.push_back(Violation{now, std::string(rule), std::move(text)});
}

void Auditor::Observe(absl::string_view type, const Value& object, absl::Time now) {
  if (object.GetString("kind") != "Pod") {
    mirror_.Observe(type, object, now);
    return;
  }
  const std::string uid(object.At("metadata").GetString("uid"));
  const ClusterMirror::Pod* before = mirror_.FindPod(uid);
  const bool known = before != nullptr;
  const std::string old_node = known ? before->node : "";
  mirror_.Observe(type, object, now);
  const ClusterMirror::Pod* pod = mirror_.FindPod(uid);
  if (pod == nullptr || pod->node.empty() || !known || pod->node == old_node) return;
  if (!old_node.empty()) {
    Report(now, "bound-twice",
           absl::StrCat("pod ", pod->key, " moved from ", old_node, " to ", pod->node));
  } else if (pod->holds()) {
    CheckBinding(*pod, now);
  }
}

void Auditor::CheckBinding(const ClusterMirror::Pod& pod, absl::Time now) {
  ++bindings_;
  if (!pod.group.empty()) fresh_groups_.insert(pod.group);
  if (!options_.check_arrivals) return;
  const ClusterMirror::Node* node = mirror_.FindNode(pod.node);
  if (node == nullptr || !node->exists) {
    Report(now, "vanished-node",
           absl::StrCat("pod ", pod.key, " bound to ", pod.node, ", which is gone"));
    return;
  }
  for (const auto& [name, amount] : pod.request) {
    if (amount == 0) continue;
    const __int128 limit = AmountOf(node->allocatable, name);
    const __int128 used = node->used.at(name);
    if (used > limit) {
      Report(now, "node-capacity",
             absl::StrCat("node ", pod.node, " holds ", Show(used), " ", name, " of ", Show(limit),
                          " after pod ", pod.key));
    }
  }
  for (const std::string& name : mirror_.PathOf(pod.booked_queue)) {
    const Amounts& capability = mirror_.FindQueue(name)->capability;
    if (capability.empty()) continue;
    const Amounts used = mirror_.UsedBelow(name, /*leaving=*/true);
    for (const auto& [dimension, limit] : capability) {
      if (AmountOf(pod.request, dimension) <= 0) continue;
      if (const __int128 sum = AmountOf(used, dimension); sum > limit) {
        Report(now, "queue-capability",
               absl::StrCat("queue ", name, " uses ", Show(sum), " ", dimension, " of ",
                            Show(limit), " after pod ", pod.key));
      }
    }
  }
}

void Auditor::CheckGang(const std::string& key, absl::Time now) {
  const ClusterMirror::Group* group = mirror_.FindGroup(key);
  if (group == nullptr || !group->exists) return;
  int64_t placed = 0;
  std::map<std::string, int64_t> by_role;
  for (const std::string& uid : mirror_.MembersOf(key)) {
    const ClusterMirror::Pod& pod = *mirror_.FindPod(uid);
    if (pod.node.empty() && !pod.ended()) continue;
    ++placed;
    ++by_role[pod.role];
  }
  for (const std::string& what : Shortfalls(*group, placed, by_role)) {
    Report(now, "gang-minimum", absl::StrCat("pod group ", key, " has ", what));
  }
}

void Auditor::EndOfStep(absl::Time now) {
  if (options_.check_gangs) {
    for (const std::string& key : fresh_groups_) CheckGang(key, now);
  }
  fresh_groups_.clear();
}

}  // namespace hekla::sim
