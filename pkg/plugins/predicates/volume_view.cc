#include "pkg/plugins/predicates/volume_view.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hekla::plugins {

using model::ClaimSpec;
using model::StorageClassSpec;
using model::TaskId;
using model::VolumeSpec;

std::string KeyOf(const ClaimSpec& claim) {
  return absl::StrCat(claim.namespace_name, "/", claim.name);
}

namespace {

template <typename Map>
typename Map::mapped_type FindIn(const Map& map, const std::string& key) {
  auto it = map.find(key);
  return it == map.end() ? nullptr : it->second;
}

}  // namespace

std::vector<PodClaim> VolumeView::ClaimsOf(TaskId task) const {
  const model::TaskSpec& spec = *context_->tables().tasks.spec[task];
  const model::SymbolTable& symbols = context_->cluster().dictionary().symbols;
  std::vector<PodClaim> out;
  for (const model::PodVolume& volume : spec.pod->volumes) {
    PodClaim claim;
    if (volume.claim.valid()) claim.name = std::string(symbols.Text(volume.claim));
    claim.ephemeral = volume.ephemeral;
    claim.spec = FindIn(table().claims, absl::StrCat(spec.namespace_name, "/", claim.name));
    out.push_back(std::move(claim));
  }
  return out;
}

bool VolumeView::IsDelayed(const ClaimSpec& claim) const {
  if (!claim.volume_name.empty() || !claim.storage_class.has_value()) return false;
  const auto storage = FindClass(*claim.storage_class);
  return storage != nullptr && storage->wait_for_first_consumer;
}

std::shared_ptr<const VolumeSpec> VolumeView::FindVolume(const std::string& name) const {
  return FindIn(table().volumes, name);
}

std::shared_ptr<const StorageClassSpec> VolumeView::FindClass(const std::string& name) const {
  return FindIn(table().storage_classes, name);
}

const std::string& VolumeView::SelectedNode(const ClaimSpec& claim) const {
  if (!claim.selected_node.empty() || claim_node_.empty()) return claim.selected_node;
  auto it = claim_node_.find(KeyOf(claim));
  return it == claim_node_.end() ? claim.selected_node : it->second;
}

std::string VolumeView::OwnerOf(const VolumeSpec& volume) const {
  if (!volume.claim_name.empty()) {
    return absl::StrCat(volume.claim_namespace, "/", volume.claim_name);
  }
  auto it = volume_owner_.find(volume.name);
  return it == volume_owner_.end() ? "" : it->second;
}

const std::vector<std::shared_ptr<const VolumeSpec>>& VolumeView::VolumesOfClass(
    const std::string& storage_class) {
  if (by_class_generation_ != table().generation) {
    by_class_generation_ = table().generation;
    by_class_.clear();
    for (const auto& [name, volume] : table().volumes) {
      by_class_[volume->storage_class].push_back(volume);
    }
    for (auto& [name, volumes] : by_class_) {
      std::sort(volumes.begin(), volumes.end(),
                [](const auto& a, const auto& b) { return a->name < b->name; });
    }
  }
  return by_class_[storage_class];
}

void VolumeView::Reserve(TaskId task, const std::string& node, VolumePlan plan) {
  for (const auto& [claim, volume] : plan.bind) volume_owner_[volume->name] = KeyOf(*claim);
  for (const auto& claim : plan.provision) claim_node_[KeyOf(*claim)] = node;
  plans_[task] = {node, std::move(plan)};
  ++reservations_;
}

void VolumeView::Release(TaskId task) {
  auto it = plans_.find(task);
  if (it == plans_.end()) return;
  const Reservation gone = std::move(it->second);
  plans_.erase(it);
  for (const auto& [claim, volume] : gone.plan.bind) volume_owner_.erase(volume->name);
  for (const auto& claim : gone.plan.provision) claim_node_.erase(KeyOf(*claim));
  // A claim shared with another placed pod stays reserved for that one.
  for (const auto& [other, reservation] : plans_) {
    for (const auto& [claim, volume] : reservation.plan.bind) {
      volume_owner_[volume->name] = KeyOf(*claim);
    }
    for (const auto& claim : reservation.plan.provision) {
      claim_node_[KeyOf(*claim)] = reservation.node;
    }
  }
  ++reservations_;
}

const VolumePlan* VolumeView::PlanOf(TaskId task) const {
  auto it = plans_.find(task);
  return it == plans_.end() ? nullptr : &it->second.plan;
}

const std::string* VolumeView::NodeOf(TaskId task) const {
  auto it = plans_.find(task);
  return it == plans_.end() ? nullptr : &it->second.node;
}

std::vector<TaskId> VolumeView::Planned() const {
  std::vector<TaskId> out;
  for (const auto& [task, reservation] : plans_) out.push_back(task);
  return out;
}

}  // namespace hekla::plugins
