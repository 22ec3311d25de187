#include "pkg/sim/decision_auditor.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace hekla::sim {

void DecisionAuditor::Report(absl::Time now, absl::string_view rule, std::string text) {
  violations_.push_back({now, std::string(rule), std::move(text)});
}

void DecisionAuditor::CheckPod(const std::string& uid, const Knowledge& knowledge, absl::Time now) {
  if (const auto before = flights_.find(uid); before != flights_.end()) {
    if (before->second.read) return Settled(uid, now);
    Report(
        now, "bound-twice",
        absl::StrCat("pod ", before->second.pod.key, " is decided for again, while its binding to ",
                     before->second.node, " is under way"));
    return;
  }
  const ClusterMirror::Pod* pod = mirror_->FindPod(uid);
  if (const ClusterMirror::Pod* gone = mirror_->FindGone(uid); pod == nullptr && gone != nullptr) {
    if (gone->changed <= knowledge.pods) {
      Report(now, "vanished-pod", absl::StrCat("pod ", gone->key, " is decided for, and is gone"));
    }
    mirror_->NoteLoss(*gone, now);  // for its gang it counts in this cycle
  }
  if (pod == nullptr || pod->changed > knowledge.pods) return;
  if (!pod->node.empty()) {
    Report(now, "bound-twice",
           absl::StrCat("pod ", pod->key, " is decided for, and stands on ", pod->node));
  } else if (pod->terminating) {
    Report(now, "vanished-pod", absl::StrCat("pod ", pod->key, " is decided for, and leaves"));
  }
}

void DecisionAuditor::CheckNode(const Flight& flight, const Knowledge& knowledge, absl::Time now) {
  const ClusterMirror::Node* node = mirror_->FindNode(flight.node);
  if (node == nullptr) {
    Report(now, "vanished-node", absl::StrCat("there never was a node ", flight.node));
    return;
  }
  if (node->changed > knowledge.nodes) return;
  const std::string what = absl::StrCat("pod ", flight.pod.key, " is decided for ", flight.node);
  if (!node->exists) return Report(now, "vanished-node", absl::StrCat(what, ", which is gone"));
  if (!node->usable) {
    return Report(now, "unusable-node", absl::StrCat(what, ", which is cordoned or tainted"));
  }
  Amounts used = node->used;
  for (const auto& [uid, other] : flights_) {
    if (other.node == flight.node && !other.read) Add(used, other.pod.request);
  }
  for (const auto& [name, amount] : flight.pod.request) {
    const __int128 limit = AmountOf(node->allocatable, name);
    if (amount > 0 && used[name] > limit) {
      Report(now, "node-capacity",
             absl::StrCat(what, ", which then holds ", Show(used[name]), " ", name, " of ",
                          Show(limit)));
    }
  }
}

void DecisionAuditor::CheckQueues(const Flight& flight, const Knowledge& knowledge,
                                  absl::Time now) {
  const ClusterMirror::Group* group = mirror_->FindGroup(flight.pod.group);
  if (group != nullptr && group->changed > knowledge.groups) return;
  for (const std::string& name : mirror_->PathOf(flight.queue)) {
    const ClusterMirror::Queue& queue = *mirror_->FindQueue(name);
    if (queue.changed > knowledge.queues) return;  // nor is known what lies above
    if (queue.capability.empty()) continue;
    // What came under it may be news.
    if (mirror_->ChangedBelow(name) > knowledge.queues) continue;
    if (mirror_->MovedBelow(name) > knowledge.groups) continue;
    Amounts used = mirror_->UsedBelow(name, /*leaving=*/false);
    for (const auto& [uid, other] : flights_) {
      if (other.read) continue;
      for (const std::string& above : mirror_->PathOf(other.queue)) {
        if (above == name) Add(used, other.pod.request);
      }
    }
    for (const auto& [dimension, limit] : queue.capability) {
      if (AmountOf(flight.pod.request, dimension) <= 0 || used[dimension] <= limit) continue;
      Report(now, "queue-capability",
             absl::StrCat("queue ", name, " uses ", Show(used[dimension]), " ", dimension, " of ",
                          Show(limit), " with pod ", flight.pod.key));
    }
  }
}

void DecisionAuditor::Decided(const std::string& uid, const std::string& node,
                              const Knowledge& knowledge, absl::Time now) {
  if (!knowledge.leads) return;  // what it sends is judged when it leaves
  if (!knowledge.complete) {
    Report(now, "incomplete-cache", absl::StrCat("a decision before every initial list is there"));
  }
  CheckPod(uid, knowledge, now);
  const ClusterMirror::Pod* pod = mirror_->FindPod(uid);
  if (pod == nullptr) return;  // it has gone meanwhile; the server refuses its binding
  Flight& flight = flights_[uid];
  flight = {node, mirror_->QueueOf(*pod), *pod, /*read=*/false};
  late_.erase(uid);
  CheckNode(flight, knowledge, now);
  CheckQueues(flight, knowledge, now);
  if (!pod->group.empty()) fresh_groups_.insert(pod->group);
}

void DecisionAuditor::CheckGang(const std::string& key, const Knowledge& knowledge,
                                absl::Time now) {
  const ClusterMirror::Group* group = mirror_->FindGroup(key);
  if (group == nullptr || !group->exists || group->changed > knowledge.groups) return;
  int64_t placed = 0;
  std::map<std::string, int64_t> by_role;
  for (const std::string& uid : mirror_->MembersOf(key)) {
    const ClusterMirror::Pod& pod = *mirror_->FindPod(uid);
    const bool flies = flights_.contains(uid) &&
                       (!pod.terminating || pod.changed > knowledge.pods) && pod.node.empty();
    if (!flies && !pod.placed()) continue;
    ++placed;
    ++by_role[pod.role];
  }
  for (const ClusterMirror::Loss& loss : mirror_->LossesOf(key)) {
    if (loss.time <= knowledge.pods) continue;
    ++placed;
    ++by_role[loss.role];
  }
  for (const std::string& what : Shortfalls(*group, placed, by_role)) {
    Report(now, "gang-minimum", absl::StrCat("pod group ", key, " sends bindings with ", what));
  }
}

void DecisionAuditor::Evicting(const std::string& uid, const Knowledge& knowledge) {
  if (knowledge.leads) victims_.insert(uid);
}

void DecisionAuditor::Pipelined(const std::string& uid, const std::string& node) {
  pipelined_[uid] = node;
}

// Whether the room that evictions make there is for somebody, who then fits.
void DecisionAuditor::CheckEvictedNode(const std::string& name, absl::Time now) {
  const ClusterMirror::Node* node = mirror_->FindNode(name);
  if (node == nullptr || !node->exists) return;
  Amounts used;
  for (const auto& [uid, pod] : mirror_->pods()) {
    if (pod.node == name && pod.holds() && !pod.terminating && !victims_.contains(uid)) {
      Add(used, pod.request);
    }
  }
  for (const auto& [uid, flight] : flights_) {
    if (flight.node == name) Add(used, flight.pod.request);
  }
  bool any = false;
  for (const auto& [uid, on] : pipelined_) {
    const ClusterMirror::Pod* pod = mirror_->FindPod(uid);
    if (on != name || pod == nullptr) continue;
    any = true;
    Add(used, pod->request);
  }
  if (!any) {
    Report(now, "vain-eviction", absl::StrCat("pods leave node ", name, " for nobody"));
    return;
  }
  for (const auto& [dimension, amount] : used) {
    const __int128 limit = AmountOf(node->allocatable, dimension);
    if (amount > limit) {
      Report(now, "vain-eviction",
             absl::StrCat("pods leave node ", name, " and what waits for it does not fit: ",
                          Show(amount), " ", dimension, " of ", Show(limit)));
    }
  }
}

void DecisionAuditor::CheckEvictions(const Knowledge& knowledge, absl::Time now) {
  std::set<std::string> nodes, groups;
  for (const std::string& uid : victims_) {
    const ClusterMirror::Pod* pod = mirror_->FindPod(uid);
    if (pod == nullptr || !pod->holds()) continue;
    const ClusterMirror::Node* node = mirror_->FindNode(pod->node);
    if (node != nullptr && node->changed <= knowledge.nodes) nodes.insert(pod->node);
    if (!pod->group.empty()) groups.insert(pod->group);
  }
  for (const std::string& name : nodes) CheckEvictedNode(name, now);
  for (const std::string& key : groups) {
    const ClusterMirror::Group* group = mirror_->FindGroup(key);
    if (group == nullptr || !group->exists || group->changed > knowledge.groups) continue;
    int64_t left = 0;
    for (const std::string& uid : mirror_->MembersOf(key)) {
      const bool stays = mirror_->FindPod(uid)->placed() || flights_.contains(uid);
      left += stays && !victims_.contains(uid) ? 1 : 0;
    }
    for (const ClusterMirror::Loss& loss : mirror_->LossesOf(key)) {
      left += loss.time > knowledge.pods ? 1 : 0;
    }
    if (left > 0 && left < group->min_member) {
      Report(now, "evicted-below-minimum",
             absl::StrCat("evictions leave pod group ", key, " ", left, " of ", group->min_member,
                          " members"));
    }
  }
}

void DecisionAuditor::EndOfCycle(const Knowledge& knowledge, absl::Time now) {
  for (const std::string& key : fresh_groups_) CheckGang(key, knowledge, now);
  if (!victims_.empty()) CheckEvictions(knowledge, now);
  fresh_groups_.clear();
  victims_.clear();
  pipelined_.clear();
}

void DecisionAuditor::Read(const std::string& uid) {
  const auto it = flights_.find(uid);
  if (it != flights_.end()) it->second.read = true;
}

void DecisionAuditor::Settled(const std::string& uid, absl::Time now) {
  const auto it = flights_.find(uid);
  if (it == flights_.end()) return;
  mirror_->NoteLoss(it->second.pod, now);  // cycles of this very moment may not know yet
  flights_.erase(it);
}

void DecisionAuditor::Abandon() {
  for (auto& [uid, flight] : flights_) late_[uid] = flight.node;
  flights_.clear();
  fresh_groups_.clear();
  victims_.clear();
  pipelined_.clear();
}

void DecisionAuditor::Observe(absl::string_view type, const std::string& uid, absl::Time now) {
  const auto flight = flights_.find(uid);
  if (type == "DELETED") {
    if (flight != flights_.end()) mirror_->NoteLoss(flight->second.pod, now);
    flights_.erase(uid);
    late_.erase(uid);
    bound_.erase(uid);
    return;
  }
  const ClusterMirror::Pod* pod = mirror_->FindPod(uid);
  if (pod == nullptr || pod->node.empty() || !bound_.insert(uid).second) return;
  const auto late = late_.find(uid);
  if (flight != flights_.end() ? flight->second.node != pod->node
                               : late == late_.end() || late->second != pod->node) {
    Report(now, "undecided",
           absl::StrCat("pod ", pod->key, " stands on ", pod->node, ", which nobody has decided"));
  }
  if (late != late_.end()) {
    // A newer process had no way to know.
    mirror_->NoteSurprise(pod->node, mirror_->QueueOf(*pod), now);
    late_.erase(late);
  }
  if (flight != flights_.end()) flights_.erase(flight);
}

bool DecisionAuditor::InFlight(const std::string& uid, absl::string_view node) const {
  const auto it = flights_.find(uid);
  if (it != flights_.end()) return it->second.node == node;
  const auto late = late_.find(uid);
  return late != late_.end() && late->second == node;
}

}  // namespace hekla::sim
