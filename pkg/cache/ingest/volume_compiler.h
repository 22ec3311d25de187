#pragma once

#include <memory>

#include "pkg/apis/core/volume.h"
#include "pkg/apis/storage/storage.h"
#include "pkg/cache/ingest/selector_compiler.h"
#include "pkg/model/dictionary.h"
#include "pkg/model/volume_specs.h"

namespace hekla::cache {

// Storage objects to immutable rows. Source: spec scheduler-node-plugins 2.9 to 2.11.
// Threads: any.
class VolumeCompiler {
 public:
  explicit VolumeCompiler(std::shared_ptr<model::Dictionary> dictionary)
      : dictionary_(std::move(dictionary)), selectors_(dictionary_->symbols) {}

  std::shared_ptr<const model::ClaimSpec> Claim(
      const apis::core::PersistentVolumeClaim& claim) const;
  std::shared_ptr<const model::VolumeSpec> Volume(const apis::core::PersistentVolume& volume) const;
  std::shared_ptr<const model::StorageClassSpec> StorageClass(
      const apis::storage::StorageClass& storage_class) const;
  std::shared_ptr<const model::CsiNodeSpec> CsiNode(const apis::storage::CsiNode& node) const;
  std::shared_ptr<const model::CsiDriverSpec> CsiDriver(
      const apis::storage::CsiDriver& driver) const;
  std::shared_ptr<const model::CsiCapacitySpec> CsiCapacity(
      const apis::storage::CsiStorageCapacity& capacity) const;
  std::shared_ptr<const model::VolumeAttachmentSpec> Attachment(
      const apis::storage::VolumeAttachment& attachment) const;

 private:
  const std::shared_ptr<model::Dictionary> dictionary_;
  const SelectorCompiler selectors_;
};

}  // namespace hekla::cache
