#include "pkg/plugins/predicates/volume_binding.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hekla::plugins {

using framework::Cause;
using framework::Code;
using framework::PreFilterResult;
using framework::ReasonId;
using model::ClaimSpec;
using model::NodeId;
using model::TaskId;
using model::VolumeSpec;

namespace {

constexpr uint32_t kOnTheWay = model::StatusBit(model::TaskStatus::kAllocated) |
                               model::StatusBit(model::TaskStatus::kPipelined) |
                               model::StatusBit(model::TaskStatus::kBinding);

// All that the claim asks for is among what the volume offers; both sorted.
bool OffersModes(const VolumeSpec& volume, const ClaimSpec& claim) {
  return std::includes(volume.access_modes.begin(), volume.access_modes.end(),
                       claim.access_modes.begin(), claim.access_modes.end());
}

}  // namespace

void VolumeBindingFilter::Open(framework::ReasonTable& reasons) {
  struct Conflict {
    uint8_t bit;
    Cause cause;
    absl::string_view text;
  };
  constexpr Conflict kConflicts[] = {
      {kNodeAffinity, Cause::kVolumeNodeAffinity,
       "node(s) didn't match PersistentVolume's node affinity"},
      {kNoVolume, Cause::kNoVolumeToBind,
       "node(s) didn't find available persistent volumes to bind"},
      {kNoSpace, Cause::kNotEnoughStorage, "node(s) did not have enough free storage"},
      {kNoPersistentVolume, Cause::kVolumeGone,
       "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"},
  };
  for (uint8_t mask = 1; reasons_of_ != &reasons && mask < reasons_.size(); ++mask) {
    std::vector<absl::string_view> parts;
    Cause cause = Cause::kNodeRefused;  // that of the first part
    for (const Conflict& conflict : kConflicts) {
      if ((mask & conflict.bit) == 0) continue;
      if (parts.empty()) cause = conflict.cause;
      parts.push_back(conflict.text);
    }
    reasons_[mask] =
        reasons.Intern(Code::kUnschedulableAndUnresolvable, cause, absl::StrJoin(parts, ", "));
  }
  reasons_of_ = &reasons;
  if (!started_) {
    started_ = true;
    ReserveAnew();
  }
  if (seen_generation_ != view_->table().generation) {
    seen_generation_ = view_->table().generation;
    changed_at_ = context().counts.Now() + 1;
    DropFulfilled();
  }
}

PreFilterResult VolumeBindingFilter::PreFilter(TaskId task) {
  if (context().pod(task).volumes.empty()) return SkipFilter();
  const model::TaskSpec& pod = *context().tables().tasks.spec[task];
  bool immediate = false;
  for (const PodClaim& claim : view_->ClaimsOf(task)) {
    const std::string quoted = absl::StrCat("persistentvolumeclaim \"", claim.name, "\"");
    if (claim.spec == nullptr) {
      return context().RejectAll(
          name(), Cause::kClaimNotFound,
          claim.ephemeral
              ? absl::StrCat("waiting for ephemeral volume controller to create the ", quoted)
              : absl::StrCat(quoted, " not found"));
    }
    const ClaimSpec& spec = *claim.spec;
    if (spec.phase == "Lost") {
      return context().RejectAll(name(), Cause::kClaimLost,
                                 absl::StrCat(quoted, " bound to non-existent persistentvolume \"",
                                              spec.volume_name, "\""));
    }
    if (spec.deleting)
      return context().RejectAll(name(), Cause::kClaimDeleted,
                                 absl::StrCat(quoted, " is being deleted"));
    if (claim.ephemeral && spec.owner_pod_uid != pod.uid) {
      return context().RejectAll(
          name(), Cause::kClaimOfAnother,
          absl::StrCat("PVC ", KeyOf(spec), " was not created for pod ", pod.namespace_name, "/",
                       pod.name, " (pod is not owner)"));
    }
    if (VolumeView::IsBound(spec) || view_->IsDelayed(spec)) continue;
    immediate = true;
    if (!spec.storage_class.has_value()) continue;
    const auto storage = view_->FindClass(*spec.storage_class);
    if (storage != nullptr && !storage->has_binding_mode) {
      return context().RejectAll(
          name(), Cause::kStorageClassInvalid,
          absl::StrCat("VolumeBindingMode not set for StorageClass \"", storage->name, "\""));
    }
  }
  if (immediate) {
    return context().RejectAll(name(), Cause::kClaimNotBound,
                               "pod has unbound immediate PersistentVolumeClaims");
  }
  return {};
}

void VolumeBindingFilter::Split(TaskId task, std::vector<Claim>& bound,
                                std::vector<Claim>& delayed) const {
  for (PodClaim& claim : view_->ClaimsOf(task)) {
    if (claim.spec == nullptr) continue;
    if (VolumeView::IsBound(*claim.spec)) {
      bound.push_back(std::move(claim.spec));
    } else if (view_->IsDelayed(*claim.spec)) {
      delayed.push_back(std::move(claim.spec));
    }
  }
  std::stable_sort(delayed.begin(), delayed.end(), [](const Claim& a, const Claim& b) {
    return a->request_bytes < b->request_bytes;
  });
}

void VolumeBindingFilter::Filter(TaskId task, absl::Span<const NodeId> nodes,
                                 absl::Span<ReasonId> out) {
  std::vector<Claim> bound;
  std::vector<Claim> delayed;
  Split(task, bound, delayed);
  for (size_t i = 0; i < nodes.size(); ++i) out[i] = ReasonFor(Find(bound, delayed, nodes[i]));
}

ReasonId VolumeBindingFilter::ReasonFor(const Verdict& verdict) {
  if (!verdict.error.empty()) {
    return context().reasons->Intern(Code::kError, Cause::kStorageClassInvalid, verdict.error);
  }
  return reasons_[verdict.conflicts];
}

// The terms name labels of the node only, never its name.
bool VolumeBindingFilter::Reaches(const std::vector<model::NodeTerm>& terms, NodeId node) const {
  const model::NodeSpec* spec = context().tables().nodes.spec[node].get();
  if (spec == nullptr) return false;
  for (const model::NodeTerm& term : terms) {
    if (MatchesTerm(term, *spec, model::Symbol(), context().cluster().dictionary().symbols)) {
      return true;
    }
  }
  return false;
}

VolumeBindingFilter::Verdict VolumeBindingFilter::Find(const std::vector<Claim>& bound,
                                                       const std::vector<Claim>& delayed,
                                                       NodeId node) {
  Verdict verdict;
  const model::NodeSpec* spec = context().tables().nodes.spec[node].get();
  if (spec == nullptr) return verdict;
  for (const Claim& claim : bound) {
    const auto volume = view_->FindVolume(claim->volume_name);
    if (volume == nullptr) {
      verdict.conflicts |= kNoPersistentVolume;
      break;
    }
    if (volume->has_node_affinity && !Reaches(volume->node_affinity, node)) {
      verdict.conflicts |= kNodeAffinity;
      break;
    }
  }
  std::vector<Claim> provision;
  for (const Claim& claim : delayed) {
    const std::string& selected = view_->SelectedNode(*claim);
    if (selected.empty()) continue;
    if (selected != spec->name) {
      verdict.conflicts |= kNoVolume;
      return verdict;
    }
    provision.push_back(claim);
  }
  for (const Claim& claim : delayed) {
    if (!view_->SelectedNode(*claim).empty()) continue;
    if (auto volume = Match(claim, node, verdict.plan)) {
      verdict.plan.bind.emplace_back(claim, std::move(volume));
    } else {
      provision.push_back(claim);
    }
  }
  Provision(provision, node, verdict);
  return verdict;
}

std::shared_ptr<const VolumeSpec> VolumeBindingFilter::Match(const Claim& claim, NodeId node,
                                                             const VolumePlan& taken) {
  std::shared_ptr<const VolumeSpec> smallest;
  const std::string key = KeyOf(*claim);
  for (const auto& volume : view_->VolumesOfClass(*claim->storage_class)) {
    const bool used = std::any_of(taken.bind.begin(), taken.bind.end(),
                                  [&](const auto& b) { return b.second == volume; });
    if (used) continue;
    const std::string owner = view_->OwnerOf(*volume);
    if (!owner.empty() && owner != key) continue;
    if (!owner.empty() && !volume->claim_uid.empty() && volume->claim_uid != claim->uid) continue;
    if (volume->capacity_bytes < claim->request_bytes || volume->deleting) continue;
    if (volume->volume_mode != claim->volume_mode) continue;
    if (volume->attributes_class != claim->attributes_class) continue;
    const bool reachable = !volume->has_node_affinity || Reaches(volume->node_affinity, node);
    if (!owner.empty()) return reachable ? volume : nullptr;
    if (volume->phase != "Available" || !reachable || !OffersModes(*volume, *claim)) continue;
    if (claim->selector.has_value() && !model::Matches(*claim->selector, volume->labels,
                                                       context().cluster().dictionary().symbols)) {
      continue;
    }
    if (smallest == nullptr || volume->capacity_bytes < smallest->capacity_bytes) smallest = volume;
  }
  return smallest;
}

void VolumeBindingFilter::Provision(const std::vector<Claim>& claims, NodeId node,
                                    Verdict& verdict) const {
  for (const Claim& claim : claims) {
    const auto storage = view_->FindClass(*claim->storage_class);
    if (storage == nullptr) {
      verdict.error = absl::StrCat("failed to find storage class \"", *claim->storage_class, "\"");
      return;
    }
    if (storage->provisioner.empty() || storage->provisioner == "kubernetes.io/no-provisioner" ||
        (!storage->allowed_topologies.empty() && !Reaches(storage->allowed_topologies, node))) {
      verdict.conflicts |= kNoVolume;
      return;
    }
    if (!HasSpace(*claim, *storage, node)) {
      verdict.conflicts |= kNoSpace;
      return;
    }
    verdict.plan.provision.push_back(claim);
  }
}

bool VolumeBindingFilter::HasSpace(const ClaimSpec& claim, const model::StorageClassSpec& storage,
                                   NodeId node) const {
  if (!options_.check_capacity || claim.request_bytes == 0) return true;
  const model::VolumeTable& table = view_->table();
  const auto driver = table.csi_drivers.find(storage.provisioner);
  if (driver == table.csi_drivers.end() || !driver->second->storage_capacity) return true;
  const model::NodeSpec& spec = *context().tables().nodes.spec[node];
  for (const auto& [name, capacity] : table.csi_capacities) {
    if (capacity->storage_class != storage.name || !capacity->has_topology) continue;
    const std::optional<int64_t> limit = capacity->maximum_volume_bytes.has_value()
                                             ? capacity->maximum_volume_bytes
                                             : capacity->capacity_bytes;
    if (!limit.has_value() || *limit < claim.request_bytes) continue;
    if (model::Matches(capacity->node_topology, spec.labels,
                       context().cluster().dictionary().symbols)) {
      return true;
    }
  }
  return false;
}

void VolumeBindingFilter::ReserveFor(TaskId task, NodeId node) {
  std::vector<Claim> bound;
  std::vector<Claim> delayed;
  Split(task, bound, delayed);
  if (delayed.empty()) return;
  Verdict verdict = Find(bound, delayed, node);
  if (verdict.conflicts != 0 || !verdict.error.empty() || verdict.plan.empty()) return;
  view_->Reserve(task, context().tables().nodes.spec[node]->name, std::move(verdict.plan));
  changed_at_ = context().counts.Now() + 1;
}

void VolumeBindingFilter::OnTaskMoved(TaskId task, NodeId node, bool added) {
  if (!started_ || context().pod(task).volumes.empty()) return;
  if (!added) {
    if (view_->PlanOf(task) == nullptr) return;
    view_->Release(task);
    changed_at_ = context().counts.Now() + 1;
  } else if (model::IsOneOf(context().tables().tasks.status[task], kOnTheWay)) {
    ReserveFor(task, node);
  }
}

// In cluster order, so that two instances reserve alike.
void VolumeBindingFilter::ReserveAnew() {
  const model::TaskTable& tasks = context().tables().tasks;
  std::vector<TaskId> on_the_way;
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    const TaskId task(i);
    if (tasks.live[task] == 0 || !tasks.node[task].valid()) continue;
    if (!model::IsOneOf(tasks.status[task], kOnTheWay) || tasks.pod[task]->volumes.empty())
      continue;
    on_the_way.push_back(task);
  }
  std::sort(on_the_way.begin(), on_the_way.end(), [&](TaskId a, TaskId b) {
    if (tasks.creation_ns[a] != tasks.creation_ns[b]) {
      return tasks.creation_ns[a] < tasks.creation_ns[b];
    }
    const model::TaskSpec& x = *tasks.spec[a];
    const model::TaskSpec& y = *tasks.spec[b];
    return std::tie(x.namespace_name, x.name) < std::tie(y.namespace_name, y.name);
  });
  for (TaskId task : on_the_way) ReserveFor(task, tasks.node[task]);
}

// Forgets plans that the API server has caught up with.
void VolumeBindingFilter::DropFulfilled() {
  const model::TaskTable& tasks = context().tables().tasks;
  for (TaskId task : view_->Planned()) {
    if (model::IsOneOf(tasks.status[task], kOnTheWay)) continue;
    const VolumePlan& plan = *view_->PlanOf(task);
    const auto bound = [&](const Claim& claim) {
      auto it = view_->table().claims.find(KeyOf(*claim));
      return it == view_->table().claims.end() || VolumeView::IsBound(*it->second);
    };
    bool done = std::all_of(plan.provision.begin(), plan.provision.end(), bound);
    for (const auto& [claim, volume] : plan.bind) done = done && bound(claim);
    if (done) view_->Release(task);
  }
}

void VolumeBindingFilter::CollectDirty(model::TaskClassId reader, uint64_t since,
                                       framework::DirtySink& dirty) {
  if (context().tables().classes.pod[reader]->volumes.empty()) return;
  if (since < changed_at_) dirty.All();
}

void VolumeBindingFilter::AddWrites(TaskId task, ports::VolumeWrites& writes) const {
  const VolumePlan* plan = view_->PlanOf(task);
  if (plan == nullptr) return;
  for (const auto& [claim, volume] : plan->bind) {
    writes.bind_volumes.push_back({volume->name, claim->namespace_name, claim->name, claim->uid});
  }
  for (const auto& claim : plan->provision) {
    writes.select_nodes.push_back({claim->namespace_name, claim->name});
  }
  writes.timeout = options_.bind_timeout;
}

}  // namespace hekla::plugins
