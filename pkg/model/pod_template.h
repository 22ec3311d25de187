#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pkg/model/resource.h"
#include "pkg/model/selector.h"

namespace hekla::model {

struct HostPort {
  Symbol ip;  // "0.0.0.0" for every address
  Symbol protocol;
  int32_t port = 0;
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// A volume of a pod that has to do with a claim.
struct PodVolume {
  Symbol claim;            // name of the PersistentVolumeClaim in the pod's namespace
  bool ephemeral = false;  // claim made from the pod's template; `claim` is <pod>-<volume>
  friend bool operator==(const PodVolume&, const PodVolume&) = default;
};

// Everything of a pod that node-level plugins read, compiled at ingest and shared between all pods
// of equal content (one instance per content, so that pointers compare). Labels and namespace are
// not part of it; they enter the task class as far as live selectors look at them. Threads:
// immutable.
struct PodTemplate {
  Resource request;  // InitResreq: init containers, overhead, pods = 1 (spec scheduler-core 8.4)
  // Request for scoring: containers without one count 100 milli-cores and 200 MiB (spec
  // node-plugins 2.6).
  int64_t nonzero_cpu_milli = 0;
  int64_t nonzero_memory_bytes = 0;
  bool best_effort = false;  // request empty but for pods

  Labels node_selector;  // every pair must be present
  bool has_required_affinity = false;
  std::vector<NodeTerm> required_affinity;  // ORed
  std::vector<NodeTerm> preferred_affinity;
  std::vector<Toleration> tolerations;
  std::vector<HostPort> host_ports;
  std::vector<PodTerm> affinity, anti_affinity;  // required
  std::vector<PodTerm> preferred_pod_affinity, preferred_anti_affinity;
  std::vector<SpreadConstraint> spread;
  std::vector<Symbol> images;  // normalised names, one per container (init and regular)
  int32_t container_count = 0;
  std::vector<PodVolume> volumes;
  bool has_resource_claims = false;

  bool has_pod_affinity() const {
    return !affinity.empty() || !anti_affinity.empty() || !preferred_pod_affinity.empty() ||
           !preferred_anti_affinity.empty();
  }
  bool has_required_anti_affinity() const { return !anti_affinity.empty(); }
  friend bool operator==(const PodTemplate&, const PodTemplate&) = default;
};

// A content hash for interning.
uint64_t HashOf(const PodTemplate& pod);

}  // namespace hekla::model
