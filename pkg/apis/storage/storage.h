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

// storage.k8s.io/v1.
namespace hekla::apis::storage {

struct StorageClass {
  static constexpr absl::string_view kKind = "StorageClass";
  static constexpr absl::string_view kApiVersion = "storage.k8s.io/v1";
  meta::ObjectMeta metadata;
  std::string provisioner;
  meta::StringMap parameters;
  std::string volume_binding_mode;  // "" where the object has none
  // Each term's expressions are `key In values`.
  std::vector<core::NodeSelectorTerm> allowed_topologies;
};

struct CsiNodeDriver {
  std::string name;
  std::string node_id;
  std::optional<int32_t> allocatable_count;
};

struct CsiNode {
  static constexpr absl::string_view kKind = "CSINode";
  static constexpr absl::string_view kApiVersion = "storage.k8s.io/v1";
  meta::ObjectMeta metadata;
  std::vector<CsiNodeDriver> drivers;
};

struct CsiDriver {
  static constexpr absl::string_view kKind = "CSIDriver";
  static constexpr absl::string_view kApiVersion = "storage.k8s.io/v1";
  meta::ObjectMeta metadata;
  bool storage_capacity = false;
};

struct CsiStorageCapacity {
  static constexpr absl::string_view kKind = "CSIStorageCapacity";
  static constexpr absl::string_view kApiVersion = "storage.k8s.io/v1";
  meta::ObjectMeta metadata;
  std::string storage_class_name;
  std::optional<meta::LabelSelector> node_topology;
  std::optional<meta::Quantity> capacity;
  std::optional<meta::Quantity> maximum_volume_size;
};

struct VolumeAttachment {
  static constexpr absl::string_view kKind = "VolumeAttachment";
  static constexpr absl::string_view kApiVersion = "storage.k8s.io/v1";
  meta::ObjectMeta metadata;
  std::string attacher;
  std::string node_name;
  std::string volume_name;  // spec.source.persistentVolumeName
};

// Errors of all: kInvalidArgument with the path of the first wrong field.
absl::StatusOr<StorageClass> DecodeStorageClass(const json::Value& value);
absl::StatusOr<CsiNode> DecodeCsiNode(const json::Value& value);
absl::StatusOr<CsiDriver> DecodeCsiDriver(const json::Value& value);
absl::StatusOr<CsiStorageCapacity> DecodeCsiStorageCapacity(const json::Value& value);
absl::StatusOr<VolumeAttachment> DecodeVolumeAttachment(const json::Value& value);

}  // namespace hekla::apis::storage
