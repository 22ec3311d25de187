#pragma once

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "pkg/plugins/predicates/volume_view.h"

// HOT PATH
namespace hekla::plugins {

// Zones and regions of bound volumes against labels of the node. Where VolumeBinding runs too, it
// is the one to speak of claims that are missing or not bound. Source: spec 2.10.
class VolumeZoneFilter final : public PredicateFilter {
 public:
  VolumeZoneFilter(FilterContext& context, VolumeView& view, bool binding_runs)
      : PredicateFilter(context), view_(&view), binding_runs_(binding_runs) {}
  absl::string_view name() const override { return "VolumeZone"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kCoupled; }
  void Open(framework::ReasonTable& reasons) override;
  framework::PreFilterResult PreFilter(model::TaskId task) override;
  void Filter(model::TaskId task, absl::Span<const model::NodeId> nodes,
              absl::Span<framework::ReasonId> out) override;
  void CollectDirty(model::TaskClassId reader, uint64_t since,
                    framework::DirtySink& dirty) override;

 private:
  struct Zone {
    model::Symbol key;
    model::Symbol fallback;  // the GA key of a beta key; invalid for GA keys
    std::vector<model::Symbol> values;
  };
  // A claim that the filter cannot work with.
  struct Problem {
    framework::Cause cause = framework::Cause::kPreFilterRefused;
    std::string text;  // "": there is none
  };
  Problem FindClassProblem(const model::ClaimSpec& claim) const;
  Problem Collect(model::TaskId task, std::vector<Zone>& zones) const;

  VolumeView* view_;
  bool binding_runs_;
  framework::ReasonId no_zone_;
  std::vector<model::Symbol> keys_;  // beta zone, beta region, zone, region
  uint64_t seen_generation_ = UINT64_MAX;
  uint64_t changed_at_ = 0;
};

// Volumes per CSI driver against the limits of the node's CSINode. Source: spec 2.11.
//
// Quirk: an attached volume that no pod of the node uses counts again when the pod brings it.
class NodeVolumeLimitsFilter final : public PredicateFilter {
 public:
  NodeVolumeLimitsFilter(FilterContext& context, VolumeView& view)
      : PredicateFilter(context), view_(&view) {}
  absl::string_view name() const override { return "NodeVolumeLimits"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kCoupled; }
  void Open(framework::ReasonTable& reasons) override;
  framework::PreFilterResult PreFilter(model::TaskId task) override;
  void Filter(model::TaskId task, absl::Span<const model::NodeId> nodes,
              absl::Span<framework::ReasonId> out) override;
  void CollectDirty(model::TaskClassId reader, uint64_t since,
                    framework::DirtySink& dirty) override;

 private:
  using Volumes = absl::flat_hash_map<std::string, std::string>;  // driver/handle → driver
  // Volumes of a task's claims. "" or the error of a claim that is missing.
  std::string VolumesOf(model::TaskId task, Volumes& out) const;
  bool Exceeds(const Volumes& wanted, model::NodeId node) const;
  void IndexAttachments();

  VolumeView* view_;
  framework::ReasonId exceeded_;
  absl::flat_hash_map<std::string, Volumes> attached_;  // by node name
  uint64_t seen_generation_ = UINT64_MAX;
  uint64_t changed_at_ = 0;
};

}  // namespace hekla::plugins
