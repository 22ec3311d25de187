#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "pkg/model/selector.h"

// Rows of the storage objects that VolumeBinding, VolumeZone and NodeVolumeLimits read.
namespace hekla::model {

struct ClaimSpec {  // PersistentVolumeClaim
  std::string namespace_name, name, uid;
  int64_t resource_version = 0;
  std::string volume_name;      // spec.volumeName
  bool bind_completed = false;  // annotation pv.kubernetes.io/bind-completed
  std::string selected_node;    // annotation volume.kubernetes.io/selected-node
  std::optional<std::string> storage_class;
  std::string phase;
  bool deleting = false;
  int64_t request_bytes = 0;
  std::string volume_mode = "Filesystem";
  std::vector<std::string> access_modes;  // sorted
  std::string attributes_class;
  std::optional<Selector> selector;
  std::string owner_pod_uid;  // controlling owner of kind Pod
};

struct VolumeSpec {  // PersistentVolume
  std::string name, uid;
  int64_t resource_version = 0;
  int64_t capacity_bytes = 0;
  std::string storage_class, phase, volume_mode = "Filesystem", attributes_class;
  std::vector<std::string> access_modes;  // sorted
  Labels labels;
  bool deleting = false;
  std::string claim_namespace, claim_name, claim_uid;  // spec.claimRef
  bool has_node_affinity = false;
  std::vector<NodeTerm> node_affinity;  // required, ORed
  std::string csi_driver, csi_handle;   // "" for volumes without CSI
};

struct StorageClassSpec {
  std::string name, provisioner;
  bool wait_for_first_consumer = false;
  bool has_binding_mode = true;
  bool is_default = false;
  std::vector<NodeTerm> allowed_topologies;  // ORed; empty allows every node
  std::string csi_driver_parameter;          // parameters["csi.storage.k8s.io/csi-driver-name"]
};

struct CsiNodeSpec {
  std::string name;
  std::vector<std::pair<std::string, std::optional<int32_t>>>
      drivers;  // driver → allocatable.count
};

struct CsiDriverSpec {
  std::string name;
  bool storage_capacity = false;
};

struct CsiCapacitySpec {
  std::string namespace_name, name;
  std::string storage_class;
  bool has_topology = false;
  Selector node_topology;
  std::optional<int64_t> capacity_bytes, maximum_volume_bytes;
};

struct VolumeAttachmentSpec {
  std::string name, attacher, node, volume_name;
};

}  // namespace hekla::model
