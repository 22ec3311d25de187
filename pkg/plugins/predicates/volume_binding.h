#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "pkg/plugins/predicates/volume_view.h"

// HOT PATH
namespace hekla::plugins {

struct VolumeBindingOptions {
  absl::Duration bind_timeout = absl::Seconds(600);
  bool check_capacity = true;  // CSIDriver and CSIStorageCapacity are known
};

// Claims of a pod: bound ones need a node their volume can be reached from; those that wait for
// their first consumer need, on the node, a free volume that fits or a class that can make one. A
// placed pod reserves what it will use (Reserve), gives it back when it leaves (Unreserve), and its
// binding carries what has to be written first (PreBind).
//
// Reservations follow from the tables: a new instance makes them anew for pods that are on their
// way to a node. Among volumes of equal size the first by name is taken.
// Source: spec 2.9.
class VolumeBindingFilter final : public PredicateFilter {
 public:
  VolumeBindingFilter(FilterContext& context, VolumeView& view, VolumeBindingOptions options)
      : PredicateFilter(context), view_(&view), options_(options) {}

  absl::string_view name() const override { return "VolumeBinding"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kCoupled; }
  void Open(framework::ReasonTable& reasons) override;
  framework::PreFilterResult PreFilter(model::TaskId task) override;
  void Filter(model::TaskId task, absl::Span<const model::NodeId> nodes,
              absl::Span<framework::ReasonId> out) override;
  void OnTaskMoved(model::TaskId task, model::NodeId node, bool added) override;
  void CollectDirty(model::TaskClassId reader, uint64_t since,
                    framework::DirtySink& dirty) override;

  // Adds the writes a placed task needs before its binding.
  void AddWrites(model::TaskId task, ports::VolumeWrites& writes) const;

 private:
  // Why a node is refused; several may hold at a time.
  enum Conflict : uint8_t {
    kNodeAffinity = 1,
    kNoVolume = 2,
    kNoSpace = 4,
    kNoPersistentVolume = 8
  };
  struct Verdict {
    uint8_t conflicts = 0;
    std::string error;  // not "": a storage class is missing, code Error
    VolumePlan plan;
  };
  using Claim = std::shared_ptr<const model::ClaimSpec>;

  Verdict Find(const std::vector<Claim>& bound, const std::vector<Claim>& delayed,
               model::NodeId node);
  std::shared_ptr<const model::VolumeSpec> Match(const Claim& claim, model::NodeId node,
                                                 const VolumePlan& taken);
  void Provision(const std::vector<Claim>& claims, model::NodeId node, Verdict& verdict) const;
  bool HasSpace(const model::ClaimSpec& claim, const model::StorageClassSpec& storage,
                model::NodeId node) const;
  bool Reaches(const std::vector<model::NodeTerm>& terms, model::NodeId node) const;
  void Split(model::TaskId task, std::vector<Claim>& bound, std::vector<Claim>& delayed) const;
  void ReserveFor(model::TaskId task, model::NodeId node);
  void ReserveAnew();
  void DropFulfilled();
  framework::ReasonId ReasonFor(const Verdict& verdict);

  VolumeView* view_;
  VolumeBindingOptions options_;
  std::array<framework::ReasonId, 16> reasons_;
  const framework::ReasonTable* reasons_of_ = nullptr;  // the table they are in
  bool started_ = false;
  uint64_t seen_generation_ = UINT64_MAX;
  uint64_t changed_at_ = 0;  // position of the touch log up to which kept answers are stale
};

}  // namespace hekla::plugins
