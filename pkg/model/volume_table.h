#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "pkg/model/ids.h"
#include "pkg/model/specs.h"
#include "pkg/model/volume_specs.h"
#include "pkg/util/id_vector.h"

namespace hekla::model {

// Storage objects and owners by key. Small next to pods; read when a class with claims is searched
// for. `generation` grows with every change, so that answers kept for a class know when they are
// stale.
struct VolumeTable {
  absl::flat_hash_map<std::string, std::shared_ptr<const ClaimSpec>> claims;  // "ns/name"
  absl::flat_hash_map<std::string, std::shared_ptr<const VolumeSpec>> volumes;
  absl::flat_hash_map<std::string, std::shared_ptr<const StorageClassSpec>> storage_classes;
  absl::flat_hash_map<std::string, std::shared_ptr<const CsiNodeSpec>> csi_nodes;
  absl::flat_hash_map<std::string, std::shared_ptr<const CsiDriverSpec>> csi_drivers;
  absl::flat_hash_map<std::string, std::shared_ptr<const CsiCapacitySpec>>
      csi_capacities;  // "ns/name"
  absl::flat_hash_map<std::string, std::shared_ptr<const VolumeAttachmentSpec>> attachments;
  absl::flat_hash_map<std::string, std::shared_ptr<const PodOwnerSpec>>
      pod_owners;  // "kind/ns/name"
  uint64_t generation = 0;
};

struct NamespaceTable {
  util::IdVector<NamespaceId, Symbol> name;
  util::IdVector<NamespaceId, Labels> labels;
  util::IdVector<NamespaceId, uint8_t> terminating;
  // Grows when labels of any namespace change.
  uint64_t generation = 0;
  size_t size() const { return name.size(); }
};

}  // namespace hekla::model
