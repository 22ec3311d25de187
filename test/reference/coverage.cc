#include "test/reference/coverage.h"

#include <algorithm>

namespace hekla::reference {

Coverage::Coverage() {
  for (const char* kind :
       {"affinity",        "affinity-policy",  "anti-affinity",     "best-effort",
        "capability",      "claim-bound",      "claim-waiting",     "default-spread",
        "foreign",         "group-again",      "guarantee",         "host-port",
        "match-fields",    "match-label-keys", "min-domains",       "min-resources",
        "min-task-member", "namespace-names",  "namespace-labels",  "node-affinity",
        "node-preference", "node-selector",    "nodes-100",         "numeric-operator",
        "pipelined",       "pod-again",        "preferred",         "preferred-anti",
        "priority",        "spread-hard",      "spread-soft",       "taints-policy",
        "toleration",      "unknown-queue",    "waiting-for-group", "weighted-queue"}) {
    counts_[kind] = 0;
  }
}

void Coverage::AddPod(const Cluster& cluster, const Pod& pod) {
  const auto count = [&](bool has, const char* kind) { counts_[kind] += has ? 1 : 0; };
  count(!pod.selector.empty(), "node-selector");
  for (const Term& term : pod.required) {
    count(!term.labels.empty(), "node-affinity");
    count(!term.fields.empty(), "match-fields");
    count(!term.labels.empty() && term.labels[0].op >= Expression::kGreater, "numeric-operator");
  }
  count(!pod.preferred.empty(), "node-preference");
  count(!pod.tolerations.empty(), "toleration");
  count(pod.host_port.port != 0, "host-port");
  for (const PodTerm& term : pod.terms) {
    static constexpr const char* kKinds[] = {"affinity", "anti-affinity", "preferred",
                                             "preferred-anti"};
    count(true, kKinds[term.kind]);
    count(!term.namespaces.empty(), "namespace-names");
    count(term.namespace_labels.has_value(), "namespace-labels");
  }
  for (const Spread& spread : pod.spread) {
    count(true, spread.hard ? "spread-hard" : "spread-soft");
    count(spread.min_domains > 1, "min-domains");
    count(!spread.label_keys.empty(), "match-label-keys");
    count(!spread.honors_affinity, "affinity-policy");
    count(spread.honors_taints, "taints-policy");
  }
  for (const std::string& name : pod.claims) {
    for (const Claim& claim : cluster.claims) {
      if (claim.space != pod.space || claim.name != name) continue;
      count(true, claim.bound ? "claim-bound" : "claim-waiting");
    }
  }
  count(pod.priority > 0, "priority");
  count(pod.BestEffort(), "best-effort");
  count(pod.incarnation > 0, "pod-again");
}

void Coverage::AddGroup(const Cluster& cluster, const Pod& pod) {
  const auto count = [&](bool has, const char* kind) { counts_[kind] += has ? 1 : 0; };
  for (const Service& service : cluster.services) {
    count(service.space == pod.space && service.app == pod.group && pod.spread.empty(),
          "default-spread");
  }
  for (const Group& group : cluster.groups) {
    if (group.name != pod.group) continue;
    count(!group.role_minimums.empty(), "min-task-member");
    count(group.min_resources.has_value(), "min-resources");
    count(group.incarnation > 0, "group-again");
    for (const Queue& queue : cluster.queues) {
      if (queue.name != group.queue) continue;
      count(queue.weight > 1, "weighted-queue");
      count(queue.capability != decltype(queue.capability)(), "capability");
      count(queue.guarantee != Amounts(), "guarantee");
    }
  }
}

void Coverage::Add(const Cluster& cluster, const Decision& decision) {
  for (const Pod& pod : cluster.pods) {
    counts_["foreign"] += pod.foreign ? 1 : 0;
    if (!pod.foreign && pod.node.empty()) {
      const auto group = std::find_if(cluster.groups.begin(), cluster.groups.end(),
                                      [&](const Group& g) { return g.name == pod.group; });
      counts_["waiting-for-group"] += group == cluster.groups.end() ? 1 : 0;
      counts_["unknown-queue"] +=
          group != cluster.groups.end() && decision.phases.count(group->name) == 0 ? 1 : 0;
    }
    if (decision.binds.count(pod.name) == 0) continue;
    AddPod(cluster, pod);
    AddGroup(cluster, pod);
  }
  counts_["pipelined"] += static_cast<int64_t>(decision.pipelined.size());
  counts_["nodes-100"] += cluster.nodes.size() >= 100 ? 1 : 0;
}

std::string Coverage::Missing() const {
  std::string missing;
  for (const auto& [kind, count] : counts_) {
    if (count == 0) missing += " " + kind;
  }
  return missing;
}

std::string Coverage::Text() const {
  std::string text;
  for (const auto& [kind, count] : counts_) text += " " + kind + "=" + std::to_string(count);
  return text;
}

}  // namespace hekla::reference
