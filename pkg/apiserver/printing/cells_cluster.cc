#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pkg/apiserver/printing/columns.h"

// Cells of nodes, namespaces, storage, network, rights and what else belongs to the cluster.
namespace hekla::apiserver::printing::internal {
namespace {

using apis::json::Member;
using apis::json::Value;

// Lists of addresses and ports show this many entries.
constexpr size_t kShownEntries = 3;

std::string NodeStatus(const Value& node) {
  std::string status = "Unknown";
  const Value& conditions = node.At("status").At("conditions");
  if (conditions.is_array()) {
    for (const Value& condition : conditions.as_array()) {
      if (condition.GetString("type") != "Ready") continue;
      status = condition.GetString("status") == "True" ? "Ready" : "NotReady";
    }
  }
  if (node.At("spec").GetBool("unschedulable")) status += ",SchedulingDisabled";
  return status;
}

std::string NodeRoles(const Value& node) {
  static constexpr absl::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  const Value& labels = node.At("metadata").At("labels");
  if (labels.is_object()) {
    for (const Member& label : labels.as_object()) {
      if (absl::StartsWith(label.key, kPrefix) && label.key.size() > kPrefix.size()) {
        roles.insert(label.key.substr(kPrefix.size()));
      } else if (label.key == "kubernetes.io/role" && label.value.is_string() &&
                 !label.value.as_string().empty()) {
        roles.insert(label.value.as_string());
      }
    }
  }
  return Or(absl::StrJoin(roles, ","), "<none>");
}

std::string NodeAddress(const Value& node, absl::string_view type) {
  const Value& addresses = node.At("status").At("addresses");
  if (!addresses.is_array()) return "<none>";
  for (const Value& address : addresses.as_array()) {
    if (address.GetString("type") == type) return std::string(address.GetString("address"));
  }
  return "<none>";
}

Value NodeCells(const Value& o, absl::Time now) {
  const Value& info = o.At("status").At("nodeInfo");
  std::string kernel = Or(info.GetString("kernelVersion"), "<unknown>");
  const absl::string_view architecture = info.GetString("architecture");
  if (!architecture.empty()) absl::StrAppend(&kernel, " (", architecture, ")");
  return Value::MakeArray({NameOf(o), NodeStatus(o), NodeRoles(o), Age(o, now),
                           info.GetString("kubeletVersion"), NodeAddress(o, "InternalIP"),
                           NodeAddress(o, "ExternalIP"), Or(info.GetString("osImage"), "<unknown>"),
                           kernel, Or(info.GetString("containerRuntimeVersion"), "<unknown>")});
}

Value NamespaceCells(const Value& o, absl::Time now) {
  return Value::MakeArray({NameOf(o), o.At("status").GetString("phase"), Age(o, now)});
}

Value PriorityClassCells(const Value& o, absl::Time now) {
  return Value::MakeArray({NameOf(o), o.GetInt("value"), o.GetBool("globalDefault"), Age(o, now),
                           o.GetString("preemptionPolicy")});
}

Value LeaseCells(const Value& o, absl::Time now) {
  return Value::MakeArray({NameOf(o), o.At("spec").GetString("holderIdentity"), Age(o, now)});
}

// "RWO,ROX" in a fixed order, each once.
std::string AccessModes(const Value& modes) {
  static constexpr std::pair<absl::string_view, absl::string_view> kShort[] = {
      {"ReadWriteOnce", "RWO"},
      {"ReadOnlyMany", "ROX"},
      {"ReadWriteMany", "RWX"},
      {"ReadWriteOncePod", "RWOP"}};
  std::vector<absl::string_view> out;
  if (!modes.is_array()) return "";
  for (const auto& [name, text] : kShort) {
    const auto& items = modes.as_array();
    if (std::any_of(items.begin(), items.end(), [name = name](const Value& mode) {
          return mode.is_string() && mode.as_string() == name;
        })) {
      out.push_back(text);
    }
  }
  return absl::StrJoin(out, ",");
}

std::string StorageClassOf(const Value& o) {
  const Value& annotations = o.At("metadata").At("annotations");
  const Value* beta = annotations.Find("volume.beta.kubernetes.io/storage-class");
  if (beta != nullptr && beta->is_string()) return beta->as_string();
  return std::string(o.At("spec").GetString("storageClassName"));
}

std::string PhaseOf(const Value& o) {
  if (!o.At("metadata").At("deletionTimestamp").is_null()) return "Terminating";
  return std::string(o.At("status").GetString("phase"));
}

Value PersistentVolumeCells(const Value& o, absl::Time now) {
  const Value& spec = o.At("spec");
  const Value& claim = spec.At("claimRef");
  return Value::MakeArray(
      {NameOf(o), Or(spec.At("capacity").GetString("storage"), "0"),
       AccessModes(spec.At("accessModes")), spec.GetString("persistentVolumeReclaimPolicy"),
       PhaseOf(o),
       claim.is_object() ? absl::StrCat(claim.GetString("namespace"), "/", claim.GetString("name"))
                         : "",
       StorageClassOf(o), spec.GetString("volumeAttributesClassName", "<unset>"),
       o.At("status").GetString("reason"), Age(o, now), spec.GetString("volumeMode", "<unset>")});
}

Value PersistentVolumeClaimCells(const Value& o, absl::Time now) {
  const Value& spec = o.At("spec");
  const absl::string_view volume = spec.GetString("volumeName");
  const Value& status = o.At("status");
  return Value::MakeArray(
      {NameOf(o), PhaseOf(o), volume,
       volume.empty() ? "" : Or(status.At("capacity").GetString("storage"), "0"),
       volume.empty() ? "" : AccessModes(status.At("accessModes")), StorageClassOf(o),
       spec.GetString("volumeAttributesClassName", "<unset>"), Age(o, now),
       spec.GetString("volumeMode", "<unset>")});
}

bool IsDefaultClass(const Value& o, absl::string_view annotation) {
  return o.At("metadata").At("annotations").GetString(annotation) == "true";
}

Value StorageClassCells(const Value& o, absl::Time now) {
  const bool preferred = IsDefaultClass(o, "storageclass.kubernetes.io/is-default-class") ||
                         IsDefaultClass(o, "storageclass.beta.kubernetes.io/is-default-class");
  return Value::MakeArray({NameOf(o) + (preferred ? " (default)" : ""), o.GetString("provisioner"),
                           o.GetString("reclaimPolicy", "Delete"),
                           o.GetString("volumeBindingMode", "Immediate"),
                           o.GetBool("allowVolumeExpansion"), Age(o, now)});
}

Value CsiNodeCells(const Value& o, absl::Time now) {
  return Value::MakeArray({NameOf(o), o.At("spec").At("drivers").size(), Age(o, now)});
}

Value CsiDriverCells(const Value& o, absl::Time now) {
  const Value& spec = o.At("spec");
  std::vector<absl::string_view> audiences;
  const Value& tokens = spec.At("tokenRequests");
  if (tokens.is_array()) {
    for (const Value& token : tokens.as_array()) audiences.push_back(token.GetString("audience"));
  }
  return Value::MakeArray({NameOf(o), spec.GetBool("attachRequired", true),
                           spec.GetBool("podInfoOnMount"), spec.GetBool("storageCapacity"),
                           tokens.is_array() ? absl::StrJoin(audiences, ",") : "<unset>",
                           spec.GetBool("requiresRepublish"),
                           Or(Join(spec.At("volumeLifecycleModes")), "<none>"), Age(o, now)});
}

Value CsiCapacityCells(const Value& o, absl::Time) {
  return Value::MakeArray(
      {NameOf(o), o.GetString("storageClassName"), o.GetString("capacity", "<unset>")});
}

Value VolumeAttachmentCells(const Value& o, absl::Time now) {
  const Value& spec = o.At("spec");
  return Value::MakeArray(
      {NameOf(o), spec.GetString("attacher"), spec.At("source").GetString("persistentVolumeName"),
       spec.GetString("nodeName"), o.At("status").GetBool("attached"), Age(o, now)});
}

Value ResourceQuotaCells(const Value& o, absl::Time now) {
  const Value& hard = o.At("status").At("hard");
  const Value& used = o.At("status").At("used");
  std::vector<std::string> requests, limits;
  if (hard.is_object()) {
    std::vector<const Member*> members;
    for (const Member& member : hard.as_object()) members.push_back(&member);
    std::sort(members.begin(), members.end(),
              [](const Member* a, const Member* b) { return a->key < b->key; });
    for (const Member* member : members) {
      auto& column = absl::StartsWith(member->key, "limits.") ? limits : requests;
      column.push_back(absl::StrCat(member->key, ": ", used.GetString(member->key, "0"), "/",
                                    hard.GetString(member->key, "0")));
    }
  }
  return Value::MakeArray(
      {NameOf(o), absl::StrJoin(requests, ", "), absl::StrJoin(limits, ", "), Age(o, now)});
}

std::string Shown(const std::vector<std::string>& entries, absl::string_view none) {
  if (entries.empty()) return std::string(none);
  const size_t shown = std::min(entries.size(), kShownEntries);
  std::string out = absl::StrJoin(entries.begin(), entries.begin() + shown, ",");
  if (entries.size() > shown) {
    absl::StrAppend(&out, " + ", entries.size() - shown, " more...");
  }
  return out;
}

Value EndpointsCells(const Value& o, absl::Time now) {
  std::vector<std::string> entries;
  const Value& subsets = o.At("subsets");
  if (subsets.is_array()) {
    for (const Value& subset : subsets.as_array()) {
      const Value& addresses = subset.At("addresses");
      const Value& ports = subset.At("ports");
      if (!addresses.is_array()) continue;
      for (size_t p = 0; p < std::max<size_t>(ports.size(), 1); ++p) {
        for (const Value& address : addresses.as_array()) {
          std::string ip(address.GetString("ip"));
          if (ports.size() > 0) {
            if (absl::StrContains(ip, ":")) ip = absl::StrCat("[", ip, "]");
            absl::StrAppend(&ip, ":", ports.as_array()[p].GetInt("port"));
          }
          entries.push_back(std::move(ip));
        }
      }
    }
  }
  return Value::MakeArray(
      {NameOf(o), subsets.size() == 0 ? "<none>" : Shown(entries, ""), Age(o, now)});
}

Value EndpointSliceCells(const Value& o, absl::Time now) {
  std::vector<std::string> ports, addresses;
  if (o.At("ports").is_array()) {
    for (const Value& port : o.At("ports").as_array()) {
      const Value* number = port.Find("port");
      ports.push_back(number != nullptr && number->is_int()
                          ? absl::StrCat(number->as_int())
                          : std::string(port.GetString("name", "*")));
    }
  }
  if (o.At("endpoints").is_array()) {
    for (const Value& endpoint : o.At("endpoints").as_array()) {
      const Value& list = endpoint.At("addresses");
      if (!list.is_array()) continue;
      for (const Value& address : list.as_array()) {
        addresses.push_back(address.is_string() ? address.as_string() : "");
      }
    }
  }
  return Value::MakeArray({NameOf(o), o.GetString("addressType"), Shown(ports, "<unset>"),
                           Shown(addresses, "<unset>"), Age(o, now)});
}

Value RoleBindingCells(const Value& o, absl::Time now) {
  std::vector<std::string> users, groups, accounts;
  const Value& subjects = o.At("subjects");
  if (subjects.is_array()) {
    for (const Value& subject : subjects.as_array()) {
      const std::string name(subject.GetString("name"));
      const absl::string_view kind = subject.GetString("kind");
      if (kind == "User") users.push_back(name);
      if (kind == "Group") groups.push_back(name);
      if (kind == "ServiceAccount") {
        accounts.push_back(absl::StrCat(subject.GetString("namespace"), "/", name));
      }
    }
  }
  const Value& role = o.At("roleRef");
  return Value::MakeArray(
      {NameOf(o), absl::StrCat(role.GetString("kind"), "/", role.GetString("name")), Age(o, now),
       absl::StrJoin(users, ", "), absl::StrJoin(groups, ", "), absl::StrJoin(accounts, ", ")});
}

Value IngressCells(const Value& o, absl::Time now) {
  const Value& spec = o.At("spec");
  std::vector<std::string> hosts, addresses;
  if (spec.At("rules").is_array()) {
    for (const Value& rule : spec.At("rules").as_array()) {
      if (!rule.GetString("host").empty()) hosts.emplace_back(rule.GetString("host"));
    }
  }
  const Value& points = o.At("status").At("loadBalancer").At("ingress");
  if (points.is_array()) {
    for (const Value& point : points.as_array()) {
      addresses.push_back(Or(point.GetString("ip"), point.GetString("hostname")));
    }
  }
  std::sort(addresses.begin(), addresses.end());
  return Value::MakeArray({NameOf(o), spec.GetString("ingressClassName", "<none>"),
                           Shown(hosts, "*"), absl::StrJoin(addresses, ","),
                           spec.At("tls").size() > 0 ? "80, 443" : "80", Age(o, now)});
}

Value IngressClassCells(const Value& o, absl::Time now) {
  const bool preferred = IsDefaultClass(o, "ingressclass.kubernetes.io/is-default-class");
  const Value& reference = o.At("spec").At("parameters");
  std::string parameters = "<none>";
  if (reference.is_object()) {
    parameters = std::string(reference.GetString("kind"));
    if (reference.Has("apiGroup")) {
      absl::StrAppend(&parameters, ".", reference.GetString("apiGroup"));
    }
    absl::StrAppend(&parameters, "/", reference.GetString("name"));
  }
  return Value::MakeArray({NameOf(o) + (preferred ? " (default)" : ""),
                           o.At("spec").GetString("controller"), parameters, Age(o, now)});
}

Value NetworkPolicyCells(const Value& o, absl::Time now) {
  return Value::MakeArray({NameOf(o), Selector(o.At("spec").At("podSelector")), Age(o, now)});
}

Value ResourceClaimCells(const Value& o, absl::Time now) {
  const bool deleted = !o.At("metadata").At("deletionTimestamp").is_null();
  std::vector<absl::string_view> states;
  if (deleted) states.push_back("deleted");
  if (!o.At("status").At("allocation").is_object()) {
    if (!deleted) states.push_back("pending");
  } else {
    states.push_back("allocated");
    if (o.At("status").At("reservedFor").size() > 0) states.push_back("reserved");
  }
  return Value::MakeArray({NameOf(o), absl::StrJoin(states, ","), Age(o, now)});
}

Value ResourceSliceCells(const Value& o, absl::Time now) {
  const Value& spec = o.At("spec");
  return Value::MakeArray({NameOf(o), spec.GetString("nodeName"), spec.GetString("driver"),
                           spec.At("pool").GetString("name"), Age(o, now)});
}

Value ScaleCells(const Value& o, absl::Time now) {
  return Value::MakeArray(
      {NameOf(o), o.At("spec").GetInt("replicas"), o.At("status").GetInt("replicas"), Age(o, now)});
}

}  // namespace

CellsFunction FindClusterCells(absl::string_view group, absl::string_view kind) {
  static constexpr struct {
    absl::string_view group;
    absl::string_view kind;
    CellsFunction cells;
  } kCells[] = {
      {"", "Node", &NodeCells},
      {"", "Namespace", &NamespaceCells},
      {"scheduling.k8s.io", "PriorityClass", &PriorityClassCells},
      {"coordination.k8s.io", "Lease", &LeaseCells},
      {"", "PersistentVolume", &PersistentVolumeCells},
      {"", "PersistentVolumeClaim", &PersistentVolumeClaimCells},
      {"storage.k8s.io", "StorageClass", &StorageClassCells},
      {"storage.k8s.io", "CSINode", &CsiNodeCells},
      {"storage.k8s.io", "CSIDriver", &CsiDriverCells},
      {"storage.k8s.io", "CSIStorageCapacity", &CsiCapacityCells},
      {"storage.k8s.io", "VolumeAttachment", &VolumeAttachmentCells},
      {"", "ResourceQuota", &ResourceQuotaCells},
      {"", "Endpoints", &EndpointsCells},
      {"discovery.k8s.io", "EndpointSlice", &EndpointSliceCells},
      {"rbac.authorization.k8s.io", "RoleBinding", &RoleBindingCells},
      {"rbac.authorization.k8s.io", "ClusterRoleBinding", &RoleBindingCells},
      {"networking.k8s.io", "Ingress", &IngressCells},
      {"networking.k8s.io", "IngressClass", &IngressClassCells},
      {"networking.k8s.io", "NetworkPolicy", &NetworkPolicyCells},
      {"resource.k8s.io", "ResourceClaim", &ResourceClaimCells},
      {"resource.k8s.io", "ResourceSlice", &ResourceSliceCells},
      {"autoscaling", "Scale", &ScaleCells},
  };
  for (const auto& entry : kCells) {
    if (entry.group == group && entry.kind == kind) return entry.cells;
  }
  return nullptr;
}

}  // namespace hekla::apiserver::printing::internal
