#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "pkg/plugins/predicates/filter_context.h"
#include "pkg/ports/decision_sink.h"

namespace hekla::plugins {

// A claim of a pod as the volume filters see it.
struct PodClaim {
  std::string name;
  bool ephemeral = false;
  std::shared_ptr<const model::ClaimSpec> spec;  // null: there is none
};

// What a placed pod's claims will become: volumes to pre-bind, claims to provision on its node.
struct VolumePlan {
  std::vector<
      std::pair<std::shared_ptr<const model::ClaimSpec>, std::shared_ptr<const model::VolumeSpec>>>
      bind;
  std::vector<std::shared_ptr<const model::ClaimSpec>> provision;
  bool empty() const { return bind.empty() && provision.empty(); }
};

// Claims, volumes and classes with what pods placed by us have reserved but the API server does not
// show yet. Threads: the session thread.
class VolumeView {
 public:
  explicit VolumeView(FilterContext& context) : context_(&context) {}

  const model::VolumeTable& table() const { return context_->tables().volumes; }
  std::vector<PodClaim> ClaimsOf(model::TaskId task) const;

  static bool IsBound(const model::ClaimSpec& claim) {
    return !claim.volume_name.empty() && claim.bind_completed;
  }
  // Bound to a volume only once its pod has a node.
  bool IsDelayed(const model::ClaimSpec& claim) const;
  std::shared_ptr<const model::VolumeSpec> FindVolume(const std::string& name) const;
  std::shared_ptr<const model::StorageClassSpec> FindClass(const std::string& name) const;
  // The node a claim is to be provisioned on, by the API server or by a reservation; "" if none.
  const std::string& SelectedNode(const model::ClaimSpec& claim) const;
  // The claim "namespace/name" that a volume belongs to, reserved ones included; "" if none.
  std::string OwnerOf(const model::VolumeSpec& volume) const;
  // Volumes of a class, by name.
  const std::vector<std::shared_ptr<const model::VolumeSpec>>& VolumesOfClass(
      const std::string& storage_class);

  void Reserve(model::TaskId task, const std::string& node, VolumePlan plan);
  void Release(model::TaskId task);
  const VolumePlan* PlanOf(model::TaskId task) const;
  const std::string* NodeOf(model::TaskId task) const;
  // Tasks with a plan, in no particular order.
  std::vector<model::TaskId> Planned() const;
  // Grows with every change of objects or reservations.
  uint64_t version() const { return reservations_ + table().generation; }

 private:
  struct Reservation {
    std::string node;
    VolumePlan plan;
  };
  FilterContext* context_;
  absl::flat_hash_map<model::TaskId, Reservation> plans_;
  absl::flat_hash_map<std::string, std::string> volume_owner_;  // volume → "namespace/claim"
  absl::flat_hash_map<std::string, std::string> claim_node_;    // "namespace/claim" → node
  absl::flat_hash_map<std::string, std::vector<std::shared_ptr<const model::VolumeSpec>>> by_class_;
  uint64_t by_class_generation_ = UINT64_MAX;
  uint64_t reservations_ = 0;
};

std::string KeyOf(const model::ClaimSpec& claim);

}  // namespace hekla::plugins
