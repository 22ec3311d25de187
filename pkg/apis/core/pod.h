#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "pkg/apis/core/scheduling_types.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/quantity.h"

// What scheduling reads of a pod. A decoded pod is meant to be compiled and dropped, not kept: what
// it does not name (probes, mounts, environment, ...) is not decoded. Who writes a pod back takes
// the JSON the server sent.
namespace hekla::apis::core {

struct HostPort {
  int32_t port = 0;
  std::string protocol = "TCP";
  std::string ip;  // "" = every address
};

struct Container {
  std::string name;
  std::string image;
  meta::ResourceList requests;
  meta::ResourceList limits;
  std::vector<HostPort> host_ports;  // only ports with hostPort > 0
  bool restart_always = false;       // of an init container: a sidecar
};

struct Volume {
  enum class Source : uint8_t { kClaim, kEphemeral, kInline };
  std::string name;
  Source source = Source::kInline;
  std::string claim_name;     // kClaim: of the claim; kEphemeral: ""
  std::string storage_class;  // kEphemeral: of the template
  bool read_only = false;
  // kInline: JSON name of the source (gcePersistentDisk, csi, ...). Sources without storage behind
  // them (configMap, secret, emptyDir, projected, downwardAPI, hostPath) are left out altogether.
  std::string inline_kind;
};

struct PodResourceClaim {
  std::string name;
  std::string claim_name;     // given by name, or
  std::string template_name;  // made from a template
};

struct PodSpec {
  std::string node_name;
  std::string scheduler_name;
  std::string priority_class_name;
  std::optional<int32_t> priority;
  std::string preemption_policy;
  std::string restart_policy;
  bool host_network = false;
  std::vector<Container> containers;
  std::vector<Container> init_containers;
  meta::ResourceList overhead;
  meta::ResourceList pod_requests;  // spec.resources
  meta::ResourceList pod_limits;
  meta::StringMap node_selector;
  std::optional<Affinity> affinity;
  std::vector<Toleration> tolerations;
  std::vector<TopologySpreadConstraint> topology_spread;
  std::vector<std::string> scheduling_gates;
  std::vector<Volume> volumes;
  std::vector<PodResourceClaim> resource_claims;
};

struct ContainerStatus {
  std::string name;
  bool has_resources = false;  // status.resources is there
  meta::ResourceList requests;
  meta::ResourceList limits;
  meta::ResourceList allocated;
};

struct PodResourceClaimStatus {
  std::string name;
  std::string resource_claim_name;
};

struct PodStatus {
  std::string phase;
  std::string nominated_node_name;
  std::vector<meta::Condition> conditions;
  std::vector<ContainerStatus> container_statuses;
  std::vector<ContainerStatus> init_container_statuses;
  std::vector<PodResourceClaimStatus> resource_claim_statuses;

  // nullptr where there is none.
  const meta::Condition* FindCondition(absl::string_view type) const;
};

struct Pod {
  static constexpr absl::string_view kKind = "Pod";
  static constexpr absl::string_view kApiVersion = "v1";

  meta::ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;
};

// Errors: kInvalidArgument with the path of the first wrong field, such as
//         `spec.containers[0].resources.requests.cpu: invalid quantity "x"`.
absl::StatusOr<Pod> DecodePod(const json::Value& value);

// The two parts of DecodePod. A pod's demands are what its containers ask of a node: of PodSpec
// containers, init_containers, overhead, pod_requests, pod_limits, node_selector and tolerations.
// They are most of the work, and mostly the same for many pods.
absl::StatusOr<Pod> DecodePodWithoutDemands(const json::Value& value);
absl::Status DecodePodDemands(const json::Value& value, PodSpec& out);
// The demands of a pod as JSON, for SameDemands and HashOfDemands, which take whole pods too.
json::Value DemandsOf(const json::Value& pod);
bool SameDemands(const json::Value& a, const json::Value& b);
uint64_t HashOfDemands(const json::Value& pod);

// What of a pod's status the scheduler writes.
struct PodConditionUpdate {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
};
// Changes or adds the condition in a pod as the server sent it. `now` becomes lastTransitionTime
// where the condition is new or its status changes; all other members stay.
// Returns whether anything but times would change; if not, `pod` is left as it was.
bool SetPodCondition(json::Value& pod, const PodConditionUpdate& update, absl::Time now);

}  // namespace hekla::apis::core
