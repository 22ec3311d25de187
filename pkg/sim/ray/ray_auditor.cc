#include "pkg/sim/ray/ray_auditor.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace hekla::sim {
namespace {

using apis::json::Value;

std::string UidOf(const Value& object) {
  return std::string(object.At("metadata").GetString("uid"));
}

std::string FullName(const Value& object) {
  return absl::StrCat(object.At("metadata").GetString("namespace"), "/",
                      object.At("metadata").GetString("name"));
}

// Pods that a spec asks for, per group. Groups of one name are added up.
std::map<std::string, int64_t> AskedFor(const Value& cluster) {
  std::map<std::string, int64_t> out;
  const Value& groups = cluster.At("spec").At("workerGroupSpecs");
  for (size_t i = 0; groups.is_array() && i < groups.size(); ++i) {
    const Value& group = groups.as_array()[i];
    const int64_t low = group.GetInt("minReplicas");
    const int64_t high = group.GetInt("maxReplicas", 2147483647);
    const int64_t replicas = std::max(low, std::min(high, group.GetInt("replicas")));
    out[std::string(group.GetString("groupName"))] += replicas * group.GetInt("numOfHosts", 1);
  }
  return out;
}

}  // namespace

void RayAuditor::Report(absl::Time now, std::string rule, std::string text) {
  violations_.push_back({now, std::move(rule), std::move(text)});
}

void RayAuditor::ObserveCluster(absl::string_view type, const Value& cluster, absl::Time now) {
  const std::string uid = UidOf(cluster);
  if (type == "DELETED") {
    clusters_.erase(uid);
    return;
  }
  Cluster& known = clusters_[uid];
  known.name = FullName(cluster);
  known.terminating = cluster.At("metadata").Has("deletionTimestamp");
  std::map<std::string, int64_t> asked = AskedFor(cluster);
  if (!known.asked.empty()) {
    if (known.asked.back().pods_per_group == asked) return;
    known.asked.back().until = now;
  }
  known.asked.push_back({absl::InfiniteFuture(), std::move(asked)});
  while (known.asked.front().until < now - staleness_) known.asked.pop_front();
}

void RayAuditor::ObservePod(absl::string_view type, const Value& object, absl::Time now) {
  const std::string uid = UidOf(object);
  const bool known = pods_.contains(uid);
  Pod& pod = pods_[uid];
  if (!known) {
    const Value& labels = object.At("metadata").At("labels");
    const Value& owners = object.At("metadata").At("ownerReferences");
    if (owners.size() > 0) pod.owner = std::string(owners.as_array().front().GetString("uid"));
    pod.head = labels.GetString("ray.io/node-type") == "head";
    pod.group = pod.head ? "" : std::string(labels.GetString("ray.io/group"));
  }
  const bool is_live = type != "DELETED" && !object.At("metadata").Has("deletionTimestamp");
  std::set<std::string>& live = live_[{pod.owner, pod.group}];
  if (is_live) {
    live.insert(uid);
  } else {
    live.erase(uid);
  }
  if (type == "ADDED" && !known && is_live && !pod.owner.empty()) {
    ++pods_made_;
    CheckNewPod(pod, FullName(object), now);
  }
  if (type == "DELETED") pods_.erase(uid);
}

void RayAuditor::CheckNewPod(const Pod& pod, const std::string& name, absl::Time now) {
  const auto cluster = clusters_.find(pod.owner);
  // Made by an operator that does not know yet that the owner is gone; collected at once.
  if (cluster == clusters_.end()) return;
  const int64_t count = static_cast<int64_t>(live_[{pod.owner, pod.group}].size());
  if (pod.head) {
    if (count > 1) Report(now, "one-head", absl::StrCat(name, " is head number ", count));
    return;
  }
  int64_t most = 0;
  for (const Asked& asked : cluster->second.asked) {
    const auto it = asked.pods_per_group.find(pod.group);
    if (it != asked.pods_per_group.end()) most = std::max(most, it->second);
  }
  if (count > most) {
    Report(now, "one-pod-per-replica",
           absl::StrCat(name, " is live pod number ", count, " of group ", pod.group, " of ",
                        cluster->second.name, ", which asked for ", most));
  }
}

void RayAuditor::CheckEnd(const std::vector<Value>& objects, absl::Time now) {
  for (const Value& object : objects) {
    const Value& owners = object.At("metadata").At("ownerReferences");
    for (size_t i = 0; owners.is_array() && i < owners.size(); ++i) {
      const Value& owner = owners.as_array()[i];
      if (owner.GetString("kind") != "RayCluster") continue;
      if (clusters_.contains(std::string(owner.GetString("uid")))) continue;
      Report(now, "no-leaked-child",
             absl::StrCat(object.GetString("kind"), " ", FullName(object), " outlives its owner ",
                          owner.GetString("name")));
    }
  }
  for (const auto& [uid, cluster] : clusters_) {
    if (!cluster.terminating) continue;
    Report(now, "finalizers-end", absl::StrCat(cluster.name, " is still being deleted"));
  }
}

}  // namespace hekla::sim
