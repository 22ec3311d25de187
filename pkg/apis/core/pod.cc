#include "pkg/apis/core/pod.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/hash/hash.h"
#include "pkg/util/status_macros.h"

namespace hekla::apis::core {
namespace {

using meta::Reader;

void ReadHostPorts(const Reader& container, std::vector<HostPort>& out) {
  container.List("ports", [&](Reader& item) {
    HostPort port;
    item.Int("hostPort", port.port);
    if (port.port <= 0) return;
    item.String("protocol", port.protocol);
    item.String("hostIP", port.ip);
    if (port.protocol.empty()) port.protocol = "TCP";
    out.push_back(std::move(port));
  });
}

void ReadContainers(const Reader& spec, absl::string_view key, std::vector<Container>& out) {
  spec.List(key, [&](Reader& item) {
    Container& c = out.emplace_back();
    std::string restart;
    item.String("name", c.name);
    item.String("image", c.image);
    item.String("restartPolicy", restart);
    c.restart_always = restart == "Always";
    item.Object("resources", [&](Reader& resources) {
      resources.Resources("requests", c.requests);
      resources.Resources("limits", c.limits);
    });
    ReadHostPorts(item, c.host_ports);
  });
}

bool HasNoStorageBehind(absl::string_view source) {
  return source == "configMap" || source == "secret" || source == "emptyDir" ||
         source == "projected" || source == "downwardAPI" || source == "hostPath";
}

void ReadVolumes(const Reader& spec, std::vector<Volume>& out) {
  spec.List("volumes", [&](Reader& item) {
    Volume v;
    item.String("name", v.name);
    for (const json::Member& m : item.value().as_object()) {
      if (m.key == "name" || !m.value.is_object()) continue;
      if (HasNoStorageBehind(m.key)) return;
      v.inline_kind = m.key;
    }
    if (v.inline_kind == "persistentVolumeClaim") {
      v.source = Volume::Source::kClaim;
      item.Object("persistentVolumeClaim", [&](Reader& claim) {
        claim.String("claimName", v.claim_name);
        claim.Bool("readOnly", v.read_only);
      });
      v.inline_kind.clear();
    } else if (v.inline_kind == "ephemeral") {
      v.source = Volume::Source::kEphemeral;
      item.Object("ephemeral", [&](Reader& ephemeral) {
        ephemeral.Object("volumeClaimTemplate", [&](Reader& t) {
          t.Object("spec", [&](Reader& s) { s.String("storageClassName", v.storage_class); });
        });
      });
      v.inline_kind.clear();
    } else if (v.inline_kind.empty()) {
      return;  // an emptyDir by default
    }
    out.push_back(std::move(v));
  });
}

void ReadContainerStatuses(const Reader& status, absl::string_view key,
                           std::vector<ContainerStatus>& out) {
  status.List(key, [&](Reader& item) {
    // Only statuses that say something about resources matter.
    if (!item.Has("resources") && !item.Has("allocatedResources")) return;
    ContainerStatus& s = out.emplace_back();
    item.String("name", s.name);
    item.Resources("allocatedResources", s.allocated);
    item.Object("resources", [&](Reader& resources) {
      s.has_resources = true;
      resources.Resources("requests", s.requests);
      resources.Resources("limits", s.limits);
    });
  });
}

// The members of `spec` that ReadDemands reads.
constexpr absl::string_view kDemands[] = {"containers", "initContainers", "overhead",
                                          "resources",  "nodeSelector",   "tolerations"};

void ReadDemands(const Reader& spec, PodSpec& out) {
  ReadContainers(spec, "containers", out.containers);
  ReadContainers(spec, "initContainers", out.init_containers);
  spec.Resources("overhead", out.overhead);
  spec.Object("resources", [&](Reader& resources) {
    resources.Resources("requests", out.pod_requests);
    resources.Resources("limits", out.pod_limits);
  });
  spec.Map("nodeSelector", out.node_selector);
  ReadTolerations(spec, "tolerations", out.tolerations);
}

void ReadSpec(const Reader& spec, PodSpec& out) {
  spec.String("nodeName", out.node_name);
  spec.String("schedulerName", out.scheduler_name);
  spec.String("priorityClassName", out.priority_class_name);
  spec.Int("priority", out.priority);
  spec.String("preemptionPolicy", out.preemption_policy);
  spec.String("restartPolicy", out.restart_policy);
  spec.Bool("hostNetwork", out.host_network);
  ReadAffinity(spec, "affinity", out.affinity);
  ReadTopologySpread(spec, "topologySpreadConstraints", out.topology_spread);
  spec.List("schedulingGates",
            [&](Reader& item) { item.String("name", out.scheduling_gates.emplace_back()); });
  ReadVolumes(spec, out.volumes);
  spec.List("resourceClaims", [&](Reader& item) {
    PodResourceClaim& claim = out.resource_claims.emplace_back();
    item.String("name", claim.name);
    item.String("resourceClaimName", claim.claim_name);
    item.String("resourceClaimTemplateName", claim.template_name);
  });
}

void ReadStatus(const Reader& status, PodStatus& out) {
  status.String("phase", out.phase);
  status.String("nominatedNodeName", out.nominated_node_name);
  meta::ReadConditions(status, "conditions", out.conditions);
  ReadContainerStatuses(status, "containerStatuses", out.container_statuses);
  ReadContainerStatuses(status, "initContainerStatuses", out.init_container_statuses);
  status.List("resourceClaimStatuses", [&](Reader& item) {
    PodResourceClaimStatus& s = out.resource_claim_statuses.emplace_back();
    item.String("name", s.name);
    item.String("resourceClaimName", s.resource_claim_name);
  });
}

}  // namespace

const meta::Condition* PodStatus::FindCondition(absl::string_view type) const {
  for (const meta::Condition& c : conditions) {
    if (c.type == type) return &c;
  }
  return nullptr;
}

absl::StatusOr<Pod> DecodePod(const json::Value& value) {
  HEKLA_ASSIGN_OR_RETURN(Pod pod, DecodePodWithoutDemands(value));
  HEKLA_RETURN_IF_ERROR(DecodePodDemands(value, pod.spec));
  return pod;
}

absl::Status DecodePodDemands(const json::Value& value, PodSpec& out) {
  const Reader root(value);
  root.Object("spec", [&](Reader& spec) { ReadDemands(spec, out); });
  return root.status();
}

json::Value DemandsOf(const json::Value& pod) {
  json::Value out;
  json::Value& spec = out.Ensure({"spec"});
  for (const absl::string_view member : kDemands) {
    if (const json::Value* value = pod.At("spec").Find(member)) spec.Set(member, *value);
  }
  return out;
}

bool SameDemands(const json::Value& a, const json::Value& b) {
  return std::all_of(std::begin(kDemands), std::end(kDemands), [&](absl::string_view member) {
    return a.At("spec").At(member) == b.At("spec").At(member);
  });
}

uint64_t HashOfDemands(const json::Value& pod) {
  uint64_t hash = 0;
  for (const absl::string_view member : kDemands) {
    hash = absl::HashOf(hash, json::HashOf(pod.At("spec").At(member)));
  }
  return hash;
}

absl::StatusOr<Pod> DecodePodWithoutDemands(const json::Value& value) {
  Pod pod;
  const Reader root(value);
  meta::ReadObjectMeta(root, pod.metadata);
  root.Object("spec", [&](Reader& spec) { ReadSpec(spec, pod.spec); });
  root.Object("status", [&](Reader& status) { ReadStatus(status, pod.status); });
  if (!root.status().ok()) return root.status();
  return pod;
}

bool SetPodCondition(json::Value& pod, const PodConditionUpdate& update, absl::Time now) {
  const json::Value* old_list = pod.FindPath({"status", "conditions"});
  json::Value* old = nullptr;
  if (old_list != nullptr && old_list->is_array()) {
    for (json::Value& c : pod.FindPath({"status", "conditions"})->as_array()) {
      if (c.GetString("type") == update.type) old = &c;
    }
  }
  const std::string time = meta::TimeToString(now);
  if (old == nullptr) {
    json::Value& conditions = pod.Ensure({"status"})["conditions"];
    if (!conditions.is_array()) conditions = json::Value::MakeArray();
    json::Value added = json::Value::MakeObject({{"type", update.type}, {"status", update.status}});
    meta::SetOrRemove(added, "reason", update.reason);
    meta::SetOrRemove(added, "message", update.message);
    added.Set("lastProbeTime", json::Value());
    added.Set("lastTransitionTime", time);
    conditions.Append(std::move(added));
    return true;
  }
  const bool status_changes = old->GetString("status") != update.status;
  if (!status_changes && old->GetString("reason") == update.reason &&
      old->GetString("message") == update.message) {
    return false;
  }
  old->Set("status", update.status);
  meta::SetOrRemove(*old, "reason", update.reason);
  meta::SetOrRemove(*old, "message", update.message);
  if (status_changes) old->Set("lastTransitionTime", time);
  return true;
}

}  // namespace hekla::apis::core
