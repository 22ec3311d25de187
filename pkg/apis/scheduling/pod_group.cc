#include "pkg/apis/scheduling/pod_group.h"

#include <algorithm>

namespace hekla::apis::scheduling {
namespace {

using meta::Reader;

void ReadNetworkTopology(const Reader& parent, std::optional<NetworkTopology>& out) {
  parent.Object("networkTopology", [&](Reader& topology) {
    out.emplace();
    std::string mode;
    topology.String("mode", mode);
    out->soft = mode == "soft";
    topology.Int("highestTierAllowed", out->highest_tier_allowed);
    topology.String("highestTierName", out->highest_tier_name);
  });
}

void ReadSubGroups(const Reader& spec, std::vector<SubGroupPolicy>& out) {
  spec.List("subGroupPolicy", [&](Reader& item) {
    SubGroupPolicy& policy = out.emplace_back();
    item.String("name", policy.name);
    meta::ReadLabelSelector(item, "labelSelector", policy.label_selector);
    item.Strings("matchLabelKeys", policy.match_label_keys);
    item.Int("subGroupSize", policy.sub_group_size);
    item.Int("minSubGroups", policy.min_sub_groups);
    ReadNetworkTopology(item, policy.network_topology);
  });
}

void ReadSpec(const Reader& spec, PodGroupSpec& out) {
  spec.Int("minMember", out.min_member);
  spec.Object("minTaskMember", [&](Reader& roles) {
    for (const json::Member& m : roles.value().as_object()) {
      int32_t minimum = 0;
      roles.Int(m.key, minimum);
      out.min_task_member.emplace_back(m.key, minimum);
    }
    std::sort(out.min_task_member.begin(), out.min_task_member.end());
  });
  spec.String("queue", out.queue);
  spec.String("priorityClassName", out.priority_class_name);
  if (spec.Has("minResources")) spec.Resources("minResources", out.min_resources.emplace());
  ReadNetworkTopology(spec, out.network_topology);
  ReadSubGroups(spec, out.sub_group_policy);
}

void ReadStatus(const Reader& status, PodGroupStatus& out) {
  status.String("phase", out.phase);
  status.Int("running", out.running);
  status.Int("succeeded", out.succeeded);
  status.Int("failed", out.failed);
  status.List("conditions", [&](Reader& item) {
    PodGroupCondition& c = out.conditions.emplace_back();
    item.String("type", c.type);
    item.String("status", c.status);
    item.String("transitionID", c.transition_id);
    item.Time("lastTransitionTime", c.last_transition_time);
    item.String("reason", c.reason);
    item.String("message", c.message);
  });
}

json::Value EncodeTopology(const NetworkTopology& topology, json::Value base) {
  base.Set("mode", topology.soft ? "soft" : "hard");
  if (topology.highest_tier_allowed) {
    base.Set("highestTierAllowed", *topology.highest_tier_allowed);
  } else {
    base.Remove("highestTierAllowed");
  }
  meta::SetOrRemove(base, "highestTierName", topology.highest_tier_name);
  return base;
}

json::Value EncodeSubGroup(const SubGroupPolicy& policy) {
  json::Value out = json::Value::MakeObject();
  meta::SetOrRemove(out, "name", policy.name);
  if (policy.label_selector) {
    out.Set("labelSelector", meta::EncodeLabelSelector(*policy.label_selector));
  }
  if (!policy.match_label_keys.empty()) {
    out.Set("matchLabelKeys", meta::EncodeStrings(policy.match_label_keys));
  }
  if (policy.sub_group_size) out.Set("subGroupSize", *policy.sub_group_size);
  if (policy.min_sub_groups) out.Set("minSubGroups", *policy.min_sub_groups);
  if (policy.network_topology) {
    out.Set("networkTopology", EncodeTopology(*policy.network_topology, json::Value::MakeObject()));
  }
  return out;
}

// Zero counters are left out, as omitempty does.
void SetCount(json::Value& object, absl::string_view key, int32_t count) {
  if (count == 0) {
    object.Remove(key);
  } else {
    object.Set(key, count);
  }
}

}  // namespace

absl::StatusOr<PodGroup> DecodePodGroup(const json::Value& value) {
  PodGroup group;
  const Reader root(value);
  meta::ReadObjectMeta(root, group.metadata);
  root.Object("spec", [&](Reader& spec) { ReadSpec(spec, group.spec); });
  root.Object("status", [&](Reader& status) { ReadStatus(status, group.status); });
  if (!root.status().ok()) return root.status();
  return group;
}

void WritePodGroupStatus(const PodGroupStatus& status, json::Value& group) {
  json::Value& out = group.Ensure({"status"});
  meta::SetOrRemove(out, "phase", status.phase);
  SetCount(out, "running", status.running);
  SetCount(out, "succeeded", status.succeeded);
  SetCount(out, "failed", status.failed);
  // Conditions of the same type keep members we do not know.
  json::Value old = out.At("conditions");
  out.Remove("conditions");
  for (const PodGroupCondition& c : status.conditions) {
    json::Value item = json::Value::MakeObject();
    if (old.is_array()) {
      for (json::Value& candidate : old.as_array()) {
        if (candidate.GetString("type") == c.type) item = candidate;
      }
    }
    item.Set("type", c.type);
    item.Set("status", c.status);
    meta::SetOrRemove(item, "transitionID", c.transition_id);
    meta::SetOrRemove(item, "lastTransitionTime", meta::TimeToString(c.last_transition_time));
    meta::SetOrRemove(item, "reason", c.reason);
    meta::SetOrRemove(item, "message", c.message);
    out["conditions"].Append(std::move(item));
  }
}

json::Value EncodePodGroup(const PodGroup& group, json::Value base) {
  base.Set("apiVersion", PodGroup::kApiVersion);
  base.Set("kind", PodGroup::kKind);
  meta::WriteObjectMeta(group.metadata, base);
  json::Value& spec = base.Ensure({"spec"});
  spec.Set("minMember", group.spec.min_member);
  spec.Remove("minTaskMember");
  for (const auto& [role, minimum] : group.spec.min_task_member) {
    spec.Ensure({"minTaskMember"}).Set(role, minimum);
  }
  meta::SetOrRemove(spec, "queue", group.spec.queue);
  meta::SetOrRemove(spec, "priorityClassName", group.spec.priority_class_name);
  spec.Remove("minResources");
  if (group.spec.min_resources) {
    spec.Set("minResources", meta::EncodeResources(*group.spec.min_resources));
  }
  if (group.spec.network_topology) {
    spec.Set("networkTopology",
             EncodeTopology(*group.spec.network_topology, spec.At("networkTopology")));
  } else {
    spec.Remove("networkTopology");
  }
  spec.Remove("subGroupPolicy");
  for (const SubGroupPolicy& policy : group.spec.sub_group_policy) {
    spec["subGroupPolicy"].Append(EncodeSubGroup(policy));
  }
  WritePodGroupStatus(group.status, base);
  return base;
}

}  // namespace hekla::apis::scheduling
