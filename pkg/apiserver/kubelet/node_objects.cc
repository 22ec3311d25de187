#include "pkg/apiserver/kubelet/node_objects.h"

#include "absl/strings/str_cat.h"
#include "pkg/apiserver/kubelet/kubelet.h"

namespace hekla::apiserver::kubelet {
namespace {

using apis::json::Value;

constexpr int kLeaseSeconds = 40;

// What a node without capacity gets.
constexpr char kDefaultCpu[] = "1k";
constexpr char kDefaultMemory[] = "1Ti";
constexpr char kDefaultPods[] = "1M";

struct Condition {
  const char* type;
  const char* status;
  const char* reason;
  const char* message;
};
constexpr Condition kReady = {"Ready", "True", "KubeletReady", "kubelet is posting ready status"};
constexpr Condition kConditions[] = {
    kReady,
    {"MemoryPressure", "False", "KubeletHasSufficientMemory",
     "kubelet has sufficient memory available"},
    {"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
    {"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
    {"NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"}};

Value ConditionValue(const Condition& condition, absl::Time now) {
  return Value::MakeObject({{"type", condition.type},
                            {"status", condition.status},
                            {"lastHeartbeatTime", TimeText(now)},
                            {"lastTransitionTime", TimeText(now)},
                            {"reason", condition.reason},
                            {"message", condition.message}});
}

Value Conditions(absl::Time now) {
  Value out = Value::MakeArray();
  for (const Condition& condition : kConditions) out.Append(ConditionValue(condition, now));
  return out;
}

Value NodeInfo() {
  return Value::MakeObject({{"architecture", "amd64"},
                            {"bootID", ""},
                            {"containerRuntimeVersion", "hollow://1"},
                            {"kernelVersion", "hollow"},
                            {"kubeProxyVersion", "kwok-hollow"},
                            {"kubeletVersion", "kwok-hollow"},
                            {"machineID", ""},
                            {"operatingSystem", "linux"},
                            {"osImage", "hollow"},
                            {"systemUUID", ""}});
}

Value Addresses(absl::string_view name, absl::string_view ip) {
  return Value::MakeArray({Value::MakeObject({{"type", "InternalIP"}, {"address", ip}}),
                           Value::MakeObject({{"type", "Hostname"}, {"address", name}})});
}

std::string Address(uint32_t base, uint32_t mask, uint32_t index) {
  // .0 is left out.
  const uint32_t bits = base | ((index + 1) & mask);
  return absl::StrCat(bits >> 24, ".", (bits >> 16) & 255, ".", (bits >> 8) & 255, ".", bits & 255);
}

}  // namespace

std::string NodeAddress(uint32_t index) { return Address(0xac100000, 0x000fffff, index); }
std::string PodAddress(uint32_t index) { return Address(0x0a000000, 0x00ffffff, index); }

std::string TimeText(absl::Time time) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%SZ", time, absl::UTCTimeZone());
}

std::string MicroTimeText(absl::Time time) {
  return absl::FormatTime("%E4Y-%m-%dT%H:%M:%E6SZ", time, absl::UTCTimeZone());
}

std::string InternalAddressOf(const Value& node) {
  const Value& addresses = node.At("status").At("addresses");
  if (!addresses.is_array()) return "";
  for (const Value& address : addresses.as_array()) {
    if (address.GetString("type") == "InternalIP") {
      return std::string(address.GetString("address"));
    }
  }
  return "";
}

bool IsReady(const Value& node) {
  const Value& conditions = node.At("status").At("conditions");
  if (!conditions.is_array()) return false;
  for (const Value& condition : conditions.as_array()) {
    if (condition.GetString("type") == "Ready") return condition.GetString("status") == "True";
  }
  return false;
}

Value MakeNode(const NodeTemplate& node, int index, absl::Time now) {
  Value labels = Value::MakeObject({{"beta.kubernetes.io/arch", "amd64"},
                                    {"beta.kubernetes.io/os", "linux"},
                                    {"kubernetes.io/arch", "amd64"},
                                    {"kubernetes.io/hostname", node.name},
                                    {"kubernetes.io/os", "linux"}});
  if (!node.zone.empty()) labels.Set("topology.kubernetes.io/zone", node.zone);
  for (const auto& [key, value] : node.labels) labels.Set(key, value);
  Value amounts =
      Value::MakeObject({{"cpu", node.cpu}, {"memory", node.memory}, {"pods", node.pods}});
  if (node.gpus > 0) amounts.Set(node.gpu_resource, absl::StrCat(node.gpus));
  for (const auto& [key, value] : node.extra_resources) amounts.Set(key, value);
  Value out = Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Node"}});
  out.Set("metadata",
          Value::MakeObject({{"name", node.name},
                             {"labels", std::move(labels)},
                             {"annotations", Value::MakeObject({{kFakeNodeAnnotation, "fake"}})}}));
  out.Set("spec", Value::MakeObject());
  out.Set("status",
          Value::MakeObject(
              {{"capacity", amounts},
               {"allocatable", amounts},
               {"conditions", Conditions(now)},
               {"addresses", Addresses(node.name, NodeAddress(static_cast<uint32_t>(index)))},
               {"nodeInfo", NodeInfo()}}));
  return out;
}

Value InitPatch(const Value& node, uint32_t index, absl::Time now) {
  const Value& had = node.At("status");
  Value status = Value::MakeObject({{"conditions", Conditions(now)}, {"phase", "Running"}});
  if (had.At("nodeInfo").GetString("kubeletVersion").empty()) status.Set("nodeInfo", NodeInfo());
  if (InternalAddressOf(node).empty()) {
    status.Set("addresses", Addresses(node.At("metadata").GetString("name"), NodeAddress(index)));
  }
  const Value defaults =
      Value::MakeObject({{"cpu", kDefaultCpu}, {"memory", kDefaultMemory}, {"pods", kDefaultPods}});
  const bool no_capacity = had.At("capacity").size() == 0;
  if (no_capacity) status.Set("capacity", defaults);
  if (had.At("allocatable").size() == 0) {
    status.Set("allocatable", no_capacity ? defaults : had.At("capacity"));
  }
  return Value::MakeObject({{"status", std::move(status)}});
}

Value HeartbeatPatch(absl::Time now) {
  Value conditions = Value::MakeArray();
  for (const Condition& condition : kConditions) {
    conditions.Append(
        Value::MakeObject({{"type", condition.type}, {"lastHeartbeatTime", TimeText(now)}}));
  }
  return Value::MakeObject({{"status", Value::MakeObject({{"conditions", conditions}})}});
}

Value LostPatch(absl::Time now) {
  const Condition lost = {"Ready", "Unknown", "NodeStatusUnknown",
                          "Kubelet stopped posting node status."};
  Value condition = ConditionValue(lost, now);
  condition.Remove("lastHeartbeatTime");
  return Value::MakeObject(
      {{"status", Value::MakeObject({{"conditions", Value::MakeArray({condition})}})}});
}

Value NodeLease(absl::string_view node, absl::string_view uid, absl::Time now) {
  Value owner =
      Value::MakeObject({{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}, {"uid", uid}});
  return Value::MakeObject(
      {{"apiVersion", "coordination.k8s.io/v1"},
       {"kind", "Lease"},
       {"metadata", Value::MakeObject({{"name", node},
                                       {"namespace", "kube-node-lease"},
                                       {"ownerReferences", Value::MakeArray({owner})}})},
       {"spec", Value::MakeObject({{"holderIdentity", node},
                                   {"leaseDurationSeconds", kLeaseSeconds},
                                   {"renewTime", MicroTimeText(now)}})}});
}

}  // namespace hekla::apiserver::kubelet
