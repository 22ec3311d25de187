#pragma once

#include "pkg/model/specs.h"
#include "pkg/model/volume_specs.h"

// Whether an object changed in nothing that its row holds, versions aside: status updates of
// workloads, heartbeats of nodes, annotations nobody reads. Such changes are not passed on, because
// every row that is put makes answers stale that were kept.
namespace hekla::cache {

bool Same(const model::NodeSpec& a, const model::NodeSpec& b);
bool Same(const model::NamespaceSpec& a, const model::NamespaceSpec& b);
bool Same(const model::PriorityClassSpec& a, const model::PriorityClassSpec& b);
bool Same(const model::PodOwnerSpec& a, const model::PodOwnerSpec& b);
bool Same(const model::ClaimSpec& a, const model::ClaimSpec& b);
bool Same(const model::VolumeSpec& a, const model::VolumeSpec& b);
bool Same(const model::StorageClassSpec& a, const model::StorageClassSpec& b);
bool Same(const model::CsiNodeSpec& a, const model::CsiNodeSpec& b);
bool Same(const model::CsiDriverSpec& a, const model::CsiDriverSpec& b);
bool Same(const model::CsiCapacitySpec& a, const model::CsiCapacitySpec& b);
bool Same(const model::VolumeAttachmentSpec& a, const model::VolumeAttachmentSpec& b);

}  // namespace hekla::cache
