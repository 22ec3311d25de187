#include "pkg/cache/ingest/volume_compiler.h"

#include <algorithm>

#include "pkg/apis/meta/well_known.h"
#include "pkg/cache/ingest/annotations.h"

namespace hekla::cache {
namespace {

constexpr absl::string_view kDriverNameParameter = "csi.storage.k8s.io/csi-driver-name";
constexpr absl::string_view kDefaultClassAnnotation = "storageclass.kubernetes.io/is-default-class";
constexpr absl::string_view kBetaDefaultClassAnnotation =
    "storageclass.beta.kubernetes.io/is-default-class";

std::vector<std::string> Sorted(std::vector<std::string> list) {
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace

std::shared_ptr<const model::ClaimSpec> VolumeCompiler::Claim(
    const apis::core::PersistentVolumeClaim& claim) const {
  auto out = std::make_shared<model::ClaimSpec>();
  const apis::meta::ObjectMeta& meta = claim.metadata;
  out->namespace_name = meta.ns;
  out->name = meta.name;
  out->uid = meta.uid;
  out->resource_version = ParseResourceVersion(meta.resource_version);
  out->volume_name = claim.volume_name;
  out->bind_completed = meta.annotations.Has(apis::meta::kBindCompletedAnnotation);
  out->selected_node = std::string(meta.annotations.Get(apis::meta::kSelectedNodeAnnotation));
  if (claim.storage_class_name || !claim.ClassName().empty()) {
    out->storage_class = claim.ClassName();
  }
  out->phase = claim.phase;
  out->deleting = meta.terminating();
  out->request_bytes = claim.request.Value();
  out->volume_mode = claim.volume_mode;
  out->access_modes = Sorted(claim.access_modes);
  out->attributes_class = claim.volume_attributes_class_name;
  if (claim.selector) out->selector = selectors_.Selector(*claim.selector);
  const apis::meta::OwnerReference* owner = meta.ControllerRef();
  if (owner != nullptr && owner->kind == "Pod") out->owner_pod_uid = owner->uid;
  return out;
}

std::shared_ptr<const model::VolumeSpec> VolumeCompiler::Volume(
    const apis::core::PersistentVolume& volume) const {
  auto out = std::make_shared<model::VolumeSpec>();
  const apis::meta::ObjectMeta& meta = volume.metadata;
  out->name = meta.name;
  out->uid = meta.uid;
  out->resource_version = ParseResourceVersion(meta.resource_version);
  out->capacity_bytes = volume.capacity.Value();
  out->storage_class = volume.storage_class_name;
  out->phase = volume.phase;
  out->volume_mode = volume.volume_mode;
  out->attributes_class = volume.volume_attributes_class_name;
  out->access_modes = Sorted(volume.access_modes);
  out->labels = selectors_.Labels(meta.labels);
  out->deleting = meta.terminating();
  out->claim_namespace = volume.claim_ref.ns;
  out->claim_name = volume.claim_ref.name;
  out->claim_uid = volume.claim_ref.uid;
  out->has_node_affinity = volume.node_affinity.has_value();
  if (volume.node_affinity) {
    out->node_affinity = selectors_.NodeTerms(volume.node_affinity->terms);
  }
  out->csi_driver = volume.csi_driver;
  out->csi_handle = volume.csi_volume_handle;
  return out;
}

std::shared_ptr<const model::StorageClassSpec> VolumeCompiler::StorageClass(
    const apis::storage::StorageClass& storage_class) const {
  auto out = std::make_shared<model::StorageClassSpec>();
  const apis::meta::ObjectMeta& meta = storage_class.metadata;
  out->name = meta.name;
  out->provisioner = storage_class.provisioner;
  out->wait_for_first_consumer = storage_class.volume_binding_mode == "WaitForFirstConsumer";
  out->has_binding_mode = !storage_class.volume_binding_mode.empty();
  out->is_default = meta.annotations.Get(kDefaultClassAnnotation) == "true" ||
                    meta.annotations.Get(kBetaDefaultClassAnnotation) == "true";
  out->allowed_topologies = selectors_.NodeTerms(storage_class.allowed_topologies);
  out->csi_driver_parameter = std::string(storage_class.parameters.Get(kDriverNameParameter));
  return out;
}

std::shared_ptr<const model::CsiNodeSpec> VolumeCompiler::CsiNode(
    const apis::storage::CsiNode& node) const {
  auto out = std::make_shared<model::CsiNodeSpec>();
  out->name = node.metadata.name;
  for (const apis::storage::CsiNodeDriver& driver : node.drivers) {
    out->drivers.emplace_back(driver.name, driver.allocatable_count);
  }
  return out;
}

std::shared_ptr<const model::CsiDriverSpec> VolumeCompiler::CsiDriver(
    const apis::storage::CsiDriver& driver) const {
  auto out = std::make_shared<model::CsiDriverSpec>();
  out->name = driver.metadata.name;
  out->storage_capacity = driver.storage_capacity;
  return out;
}

std::shared_ptr<const model::CsiCapacitySpec> VolumeCompiler::CsiCapacity(
    const apis::storage::CsiStorageCapacity& capacity) const {
  auto out = std::make_shared<model::CsiCapacitySpec>();
  out->namespace_name = capacity.metadata.ns;
  out->name = capacity.metadata.name;
  out->storage_class = capacity.storage_class_name;
  out->has_topology = capacity.node_topology.has_value();
  out->node_topology = selectors_.SelectorOrNothing(capacity.node_topology);
  if (capacity.capacity) out->capacity_bytes = capacity.capacity->Value();
  if (capacity.maximum_volume_size) {
    out->maximum_volume_bytes = capacity.maximum_volume_size->Value();
  }
  return out;
}

std::shared_ptr<const model::VolumeAttachmentSpec> VolumeCompiler::Attachment(
    const apis::storage::VolumeAttachment& attachment) const {
  auto out = std::make_shared<model::VolumeAttachmentSpec>();
  out->name = attachment.metadata.name;
  out->attacher = attachment.attacher;
  out->node = attachment.node_name;
  out->volume_name = attachment.volume_name;
  return out;
}

}  // namespace hekla::cache
