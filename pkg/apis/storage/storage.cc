#include "pkg/apis/storage/storage.h"

namespace hekla::apis::storage {

using meta::Reader;

absl::StatusOr<StorageClass> DecodeStorageClass(const json::Value& value) {
  StorageClass out;
  const Reader root(value);
  meta::ReadObjectMeta(root, out.metadata);
  root.String("provisioner", out.provisioner);
  root.Map("parameters", out.parameters);
  root.String("volumeBindingMode", out.volume_binding_mode);
  root.List("allowedTopologies", [&](Reader& item) {
    core::NodeSelectorTerm& term = out.allowed_topologies.emplace_back();
    item.List("matchLabelExpressions", [&](Reader& expression) {
      meta::Requirement& r = term.match_expressions.emplace_back();
      r.op = meta::SelectorOperator::kIn;
      expression.String("key", r.key);
      expression.Strings("values", r.values);
    });
  });
  if (!root.status().ok()) return root.status();
  return out;
}

absl::StatusOr<CsiNode> DecodeCsiNode(const json::Value& value) {
  CsiNode out;
  const Reader root(value);
  meta::ReadObjectMeta(root, out.metadata);
  root.Object("spec", [&](Reader& spec) {
    spec.List("drivers", [&](Reader& item) {
      CsiNodeDriver& driver = out.drivers.emplace_back();
      item.String("name", driver.name);
      item.String("nodeID", driver.node_id);
      item.Object("allocatable", [&](Reader& a) { a.Int("count", driver.allocatable_count); });
    });
  });
  if (!root.status().ok()) return root.status();
  return out;
}

absl::StatusOr<CsiDriver> DecodeCsiDriver(const json::Value& value) {
  CsiDriver out;
  const Reader root(value);
  meta::ReadObjectMeta(root, out.metadata);
  root.Object("spec", [&](Reader& spec) { spec.Bool("storageCapacity", out.storage_capacity); });
  if (!root.status().ok()) return root.status();
  return out;
}

absl::StatusOr<CsiStorageCapacity> DecodeCsiStorageCapacity(const json::Value& value) {
  CsiStorageCapacity out;
  const Reader root(value);
  meta::ReadObjectMeta(root, out.metadata);
  root.String("storageClassName", out.storage_class_name);
  meta::ReadLabelSelector(root, "nodeTopology", out.node_topology);
  if (root.Has("capacity")) root.Amount("capacity", out.capacity.emplace());
  if (root.Has("maximumVolumeSize")) {
    root.Amount("maximumVolumeSize", out.maximum_volume_size.emplace());
  }
  if (!root.status().ok()) return root.status();
  return out;
}

absl::StatusOr<VolumeAttachment> DecodeVolumeAttachment(const json::Value& value) {
  VolumeAttachment out;
  const Reader root(value);
  meta::ReadObjectMeta(root, out.metadata);
  root.Object("spec", [&](Reader& spec) {
    spec.String("attacher", out.attacher);
    spec.String("nodeName", out.node_name);
    spec.Object("source", [&](Reader& s) { s.String("persistentVolumeName", out.volume_name); });
  });
  if (!root.status().ok()) return root.status();
  return out;
}

}  // namespace hekla::apis::storage
