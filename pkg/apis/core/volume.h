#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "pkg/apis/core/scheduling_types.h"
#include "pkg/apis/json/value.h"
#include "pkg/apis/meta/object_meta.h"
#include "pkg/apis/meta/quantity.h"

namespace hekla::apis::core {

struct ClaimReference {
  std::string ns;
  std::string name;
  std::string uid;
  bool set() const { return !name.empty(); }
};

struct PersistentVolume {
  static constexpr absl::string_view kKind = "PersistentVolume";
  static constexpr absl::string_view kApiVersion = "v1";

  meta::ObjectMeta metadata;
  meta::Quantity capacity;  // of `storage`
  std::vector<std::string> access_modes;
  std::string storage_class_name;
  std::string volume_mode = "Filesystem";
  std::string volume_attributes_class_name;
  ClaimReference claim_ref;
  std::optional<NodeSelector> node_affinity;  // spec.nodeAffinity.required
  std::string csi_driver;                     // "" where the volume is not of CSI
  std::string csi_volume_handle;
  std::string
      source_kind;  // JSON name of the source where it is not CSI, e.g. awsElasticBlockStore
  std::string phase;
};

struct PersistentVolumeClaim {
  static constexpr absl::string_view kKind = "PersistentVolumeClaim";
  static constexpr absl::string_view kApiVersion = "v1";

  meta::ObjectMeta metadata;
  std::vector<std::string> access_modes;
  meta::Quantity request;                         // of `storage`
  std::string volume_name;                        // "" while unbound
  std::optional<std::string> storage_class_name;  // "" asks for none, absent for the default
  std::string volume_mode = "Filesystem";
  std::string volume_attributes_class_name;
  std::optional<meta::LabelSelector> selector;
  std::string phase;

  // The class's name, the beta annotation first.
  std::string ClassName() const;
};

// Errors of both: kInvalidArgument with the path of the first wrong field.
absl::StatusOr<PersistentVolume> DecodePersistentVolume(const json::Value& value);
absl::StatusOr<PersistentVolumeClaim> DecodePersistentVolumeClaim(const json::Value& value);

}  // namespace hekla::apis::core
