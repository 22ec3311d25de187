#pragma once

#include <memory>
#include <string>
#include <variant>

#include "pkg/model/specs.h"
#include "pkg/model/volume_specs.h"

namespace hekla::model {

// "This object is now so": replaces what was known under its key (name, namespace/name, or uid of a
// pod).
template <typename Spec>
struct Upsert {
  std::shared_ptr<const Spec> spec;
};

// "This object is gone."
template <typename Spec>
struct Remove {
  std::string key;  // name or namespace/name; pods: uid
};

// Outcome of a decision that left the process.
struct BindFailed {
  std::string uid;      // of the pod
  std::string node;     // where it should have gone
  std::string message;  // rendered into the pod's condition by the status writer
  // The pod as read again after the failure; null: it is gone. The task goes back to what this
  // says.
  std::shared_ptr<const TaskSpec> now;
};
struct EvictFailed {
  std::string uid;
  std::shared_ptr<const TaskSpec> now;
};

using Delta =
    std::variant<Upsert<NodeSpec>, Remove<NodeSpec>, Upsert<TaskSpec>, Remove<TaskSpec>,
                 Upsert<JobSpec>, Remove<JobSpec>, Upsert<QueueSpec>, Remove<QueueSpec>,
                 Upsert<PriorityClassSpec>, Remove<PriorityClassSpec>, Upsert<NamespaceSpec>,
                 Remove<NamespaceSpec>, Upsert<PodOwnerSpec>, Remove<PodOwnerSpec>,
                 Upsert<ClaimSpec>, Remove<ClaimSpec>, Upsert<VolumeSpec>, Remove<VolumeSpec>,
                 Upsert<StorageClassSpec>, Remove<StorageClassSpec>, Upsert<CsiNodeSpec>,
                 Remove<CsiNodeSpec>, Upsert<CsiDriverSpec>, Remove<CsiDriverSpec>,
                 Upsert<CsiCapacitySpec>, Remove<CsiCapacitySpec>, Upsert<VolumeAttachmentSpec>,
                 Remove<VolumeAttachmentSpec>, BindFailed, EvictFailed>;

}  // namespace hekla::model
