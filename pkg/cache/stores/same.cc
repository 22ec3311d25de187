#include "pkg/cache/stores/same.h"

namespace hekla::cache {

bool Same(const model::NodeSpec& a, const model::NodeSpec& b) {
  return a.uid == b.uid && a.creation == b.creation && a.allocatable == b.allocatable &&
         a.capacity == b.capacity && a.labels == b.labels && a.taints == b.taints &&
         a.images == b.images && a.unschedulable == b.unschedulable &&
         a.revocable_zone == b.revocable_zone && a.offline_job_evicting == b.offline_job_evicting &&
         a.annotations == b.annotations;
}

bool Same(const model::NamespaceSpec& a, const model::NamespaceSpec& b) {
  return a.labels == b.labels && a.terminating == b.terminating;
}

bool Same(const model::PriorityClassSpec& a, const model::PriorityClassSpec& b) {
  return a.value == b.value && a.global_default == b.global_default;
}

bool Same(const model::PodOwnerSpec& a, const model::PodOwnerSpec& b) {
  return a.kind == b.kind && a.selector == b.selector;
}

bool Same(const model::ClaimSpec& a, const model::ClaimSpec& b) {
  return a.uid == b.uid && a.volume_name == b.volume_name && a.bind_completed == b.bind_completed &&
         a.selected_node == b.selected_node && a.storage_class == b.storage_class &&
         a.phase == b.phase && a.deleting == b.deleting && a.request_bytes == b.request_bytes &&
         a.volume_mode == b.volume_mode && a.access_modes == b.access_modes &&
         a.attributes_class == b.attributes_class && a.selector == b.selector &&
         a.owner_pod_uid == b.owner_pod_uid;
}

bool Same(const model::VolumeSpec& a, const model::VolumeSpec& b) {
  return a.uid == b.uid && a.capacity_bytes == b.capacity_bytes &&
         a.storage_class == b.storage_class && a.phase == b.phase &&
         a.volume_mode == b.volume_mode && a.attributes_class == b.attributes_class &&
         a.access_modes == b.access_modes && a.labels == b.labels && a.deleting == b.deleting &&
         a.claim_namespace == b.claim_namespace && a.claim_name == b.claim_name &&
         a.claim_uid == b.claim_uid && a.has_node_affinity == b.has_node_affinity &&
         a.node_affinity == b.node_affinity && a.csi_driver == b.csi_driver &&
         a.csi_handle == b.csi_handle;
}

bool Same(const model::StorageClassSpec& a, const model::StorageClassSpec& b) {
  return a.provisioner == b.provisioner && a.wait_for_first_consumer == b.wait_for_first_consumer &&
         a.has_binding_mode == b.has_binding_mode && a.is_default == b.is_default &&
         a.allowed_topologies == b.allowed_topologies &&
         a.csi_driver_parameter == b.csi_driver_parameter;
}

bool Same(const model::CsiNodeSpec& a, const model::CsiNodeSpec& b) {
  return a.drivers == b.drivers;
}

bool Same(const model::CsiDriverSpec& a, const model::CsiDriverSpec& b) {
  return a.storage_capacity == b.storage_capacity;
}

bool Same(const model::CsiCapacitySpec& a, const model::CsiCapacitySpec& b) {
  return a.storage_class == b.storage_class && a.has_topology == b.has_topology &&
         a.node_topology == b.node_topology && a.capacity_bytes == b.capacity_bytes &&
         a.maximum_volume_bytes == b.maximum_volume_bytes;
}

bool Same(const model::VolumeAttachmentSpec& a, const model::VolumeAttachmentSpec& b) {
  return a.attacher == b.attacher && a.node == b.node && a.volume_name == b.volume_name;
}

}  // namespace hekla::cache
