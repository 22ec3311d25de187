#include "pkg/plugins/predicates/volume_limits.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace hekla::plugins {

using framework::Cause;
using framework::Code;
using framework::PreFilterResult;
using framework::ReasonId;
using model::NodeId;
using model::Symbol;
using model::TaskId;

namespace {

constexpr absl::string_view kZoneKeys[] = {
    "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone", "topology.kubernetes.io/region"};

}  // namespace

void VolumeZoneFilter::Open(framework::ReasonTable& reasons) {
  no_zone_ = reasons.Intern(Code::kUnschedulableAndUnresolvable, Cause::kVolumeZoneMismatch,
                            "node(s) had no available volume zone");
  keys_.clear();
  for (absl::string_view key : kZoneKeys) {
    keys_.push_back(context().cluster().dictionary().symbols.Find(key));
  }
  if (seen_generation_ == view_->table().generation) return;
  seen_generation_ = view_->table().generation;
  changed_at_ = context().counts.Now() + 1;
}

// Why the zone of a claim without volume cannot be known; none where its class waits for a node.
VolumeZoneFilter::Problem VolumeZoneFilter::FindClassProblem(const model::ClaimSpec& claim) const {
  const std::string name = claim.storage_class.value_or("");
  if (name.empty()) {
    return {Cause::kStorageClassInvalid,
            "PersistentVolumeClaim had no pv name and storageClass name"};
  }
  const auto storage = view_->FindClass(name);
  if (storage == nullptr) {
    return {Cause::kStorageClassInvalid,
            absl::StrCat("storageclass.storage.k8s.io \"", name, "\" not found")};
  }
  if (!storage->has_binding_mode) {
    return {Cause::kStorageClassInvalid,
            absl::StrCat("VolumeBindingMode not set for StorageClass \"", name, "\"")};
  }
  if (!storage->wait_for_first_consumer) {
    return {Cause::kClaimNotBound, "PersistentVolume had no name"};
  }
  return {};
}

VolumeZoneFilter::Problem VolumeZoneFilter::Collect(TaskId task, std::vector<Zone>& zones) const {
  const model::SymbolTable& symbols = context().cluster().dictionary().symbols;
  for (const PodClaim& claim : view_->ClaimsOf(task)) {
    if (claim.ephemeral) continue;
    if (claim.name.empty()) {
      return {Cause::kPreFilterRefused, "PersistentVolumeClaim had no name"};
    }
    if (claim.spec == nullptr) {
      return {Cause::kClaimNotFound,
              absl::StrCat("persistentvolumeclaim \"", claim.name, "\" not found")};
    }
    if (claim.spec->volume_name.empty()) {
      Problem problem = FindClassProblem(*claim.spec);
      if (!problem.text.empty()) return problem;
      continue;
    }
    const auto volume = view_->FindVolume(claim.spec->volume_name);
    if (volume == nullptr) {
      return {Cause::kVolumeNotFound,
              absl::StrCat("persistentvolume \"", claim.spec->volume_name, "\" not found")};
    }
    for (size_t k = 0; k < keys_.size(); ++k) {
      const Symbol value = keys_[k].valid() ? model::FindLabel(volume->labels, keys_[k]) : Symbol();
      if (!value.valid()) continue;
      Zone zone{keys_[k], k < 2 ? keys_[k + 2] : Symbol(), {}};
      for (absl::string_view part : absl::StrSplit(symbols.Text(value), "__")) {
        if (const Symbol one = symbols.Find(part); one.valid()) zone.values.push_back(one);
      }
      zones.push_back(std::move(zone));
    }
  }
  return {};
}

PreFilterResult VolumeZoneFilter::PreFilter(TaskId task) {
  if (context().pod(task).volumes.empty()) return SkipFilter();
  std::vector<Zone> zones;
  const Problem problem = Collect(task, zones);
  if (!problem.text.empty() && !binding_runs_) {
    return context().RejectAll(name(), problem.cause, problem.text);
  }
  return zones.empty() ? SkipFilter() : PreFilterResult();
}

void VolumeZoneFilter::Filter(TaskId task, absl::Span<const NodeId> nodes,
                              absl::Span<ReasonId> out) {
  std::fill(out.begin(), out.end(), ReasonId());
  std::vector<Zone> zones;
  Collect(task, zones);
  const model::NodeTable& table = context().tables().nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (table.spec[nodes[i]] == nullptr) continue;
    const model::Labels& labels = table.spec[nodes[i]]->labels;
    const auto label = [&](Symbol key) {
      return key.valid() ? model::FindLabel(labels, key) : Symbol();
    };
    if (std::none_of(keys_.begin(), keys_.end(), [&](Symbol k) { return label(k).valid(); })) {
      continue;
    }
    for (const Zone& zone : zones) {
      Symbol value = label(zone.key);
      if (!value.valid()) value = label(zone.fallback);
      if (value.valid() &&
          std::find(zone.values.begin(), zone.values.end(), value) != zone.values.end()) {
        continue;
      }
      out[i] = no_zone_;
      break;
    }
  }
}

void VolumeZoneFilter::CollectDirty(model::TaskClassId reader, uint64_t since,
                                    framework::DirtySink& dirty) {
  if (context().tables().classes.pod[reader]->volumes.empty()) return;
  if (since < changed_at_) dirty.All();
}

void NodeVolumeLimitsFilter::Open(framework::ReasonTable& reasons) {
  exceeded_ = reasons.Intern(Code::kUnschedulable, Cause::kVolumeCountExceeded,
                             "node(s) exceed max volume count");
  if (seen_generation_ == view_->table().generation) return;
  seen_generation_ = view_->table().generation;
  changed_at_ = context().counts.Now() + 1;
  IndexAttachments();
}

void NodeVolumeLimitsFilter::IndexAttachments() {
  attached_.clear();
  for (const auto& [name, attachment] : view_->table().attachments) {
    const auto volume = view_->FindVolume(attachment->volume_name);
    if (volume == nullptr || volume->csi_driver.empty()) continue;
    if (volume->csi_driver != attachment->attacher) continue;
    attached_[attachment->node].emplace(absl::StrCat(volume->csi_driver, "/", volume->csi_handle),
                                        volume->csi_driver);
  }
}

std::string NodeVolumeLimitsFilter::VolumesOf(TaskId task, Volumes& out) const {
  for (const PodClaim& claim : view_->ClaimsOf(task)) {
    if (claim.spec == nullptr) {
      const std::string& where = context().tables().tasks.spec[task]->namespace_name;
      return absl::StrCat("looking up PVC ", where, "/", claim.name, ": persistentvolumeclaim \"",
                          claim.name, "\" not found");
    }
    const auto volume =
        claim.spec->volume_name.empty() ? nullptr : view_->FindVolume(claim.spec->volume_name);
    if (volume != nullptr) {
      if (volume->csi_driver.empty()) continue;
      out.emplace(absl::StrCat(volume->csi_driver, "/", volume->csi_handle), volume->csi_driver);
      continue;
    }
    // Not bound yet: one volume of the class's driver to come.
    const auto storage = view_->FindClass(claim.spec->storage_class.value_or(""));
    if (storage == nullptr || storage->provisioner.empty()) continue;
    out.emplace(absl::StrCat(storage->provisioner, "/unbound/", KeyOf(*claim.spec)),
                storage->provisioner);
  }
  return "";
}

PreFilterResult NodeVolumeLimitsFilter::PreFilter(TaskId task) {
  return context().pod(task).volumes.empty() ? SkipFilter() : PreFilterResult();
}

bool NodeVolumeLimitsFilter::Exceeds(const Volumes& wanted, NodeId node) const {
  const model::Tables& tables = context().tables();
  if (tables.nodes.spec[node] == nullptr) return false;
  const std::string& name = tables.nodes.spec[node]->name;
  const auto csi = tables.volumes.csi_nodes.find(name);
  if (csi == tables.volumes.csi_nodes.end()) return false;
  Volumes used;
  for (TaskId task : tables.nodes.tasks[node]) {
    if (!tables.tasks.pod[task]->volumes.empty()) VolumesOf(task, used);
  }
  const auto attached = attached_.find(name);
  for (const auto& [driver, limit] : csi->second->drivers) {
    if (!limit.has_value()) continue;
    int64_t added = 0;
    for (const auto& [volume, of] : wanted) added += of == driver && !used.contains(volume) ? 1 : 0;
    if (added == 0) continue;
    int64_t count = added;
    for (const auto& [volume, of] : used) count += of == driver ? 1 : 0;
    if (attached != attached_.end()) {
      for (const auto& [volume, of] : attached->second) {
        count += of == driver && !used.contains(volume) ? 1 : 0;
      }
    }
    if (count > *limit) return true;
  }
  return false;
}

void NodeVolumeLimitsFilter::Filter(TaskId task, absl::Span<const NodeId> nodes,
                                    absl::Span<ReasonId> out) {
  std::fill(out.begin(), out.end(), ReasonId());
  Volumes wanted;
  if (const std::string error = VolumesOf(task, wanted); !error.empty()) {
    std::fill(out.begin(), out.end(),
              context().reasons->Intern(Code::kUnschedulableAndUnresolvable, Cause::kClaimNotFound,
                                        error));
    return;
  }
  if (wanted.empty()) return;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (Exceeds(wanted, nodes[i])) out[i] = exceeded_;
  }
}

void NodeVolumeLimitsFilter::CollectDirty(model::TaskClassId reader, uint64_t since,
                                          framework::DirtySink& dirty) {
  if (context().tables().classes.pod[reader]->volumes.empty()) return;
  const model::Cluster& cluster = context().cluster();
  if (since < changed_at_ || since < cluster.touches_trimmed()) return dirty.All();
  for (size_t i = since - cluster.touches_trimmed(); i < cluster.touches().size(); ++i) {
    dirty.Nodes(absl::MakeSpan(&cluster.touches()[i].node, 1));
  }
}

}  // namespace hekla::plugins
