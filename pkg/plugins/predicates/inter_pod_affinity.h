#pragma once

#include <vector>

#include "pkg/plugins/predicates/filter_context.h"

// HOT PATH
namespace hekla::plugins {

// Required inter-pod affinity and anti-affinity, and the required anti-affinity of pods already
// placed. Counts come from PodCounts; a change dirties only the domains whose verdict it turned.
// Source: spec 2.7.
class InterPodAffinityFilter final : public PredicateFilter {
 public:
  using PredicateFilter::PredicateFilter;
  absl::string_view name() const override { return "InterPodAffinity"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kCoupled; }
  void Open(framework::ReasonTable& reasons) override;
  framework::PreFilterResult PreFilter(model::TaskId task) override;
  void Filter(model::TaskId task, absl::Span<const model::NodeId> nodes,
              absl::Span<framework::ReasonId> out) override;
  void OnTaskMoved(model::TaskId task, model::NodeId node, bool added) override;
  void CollectDirty(model::TaskClassId reader, uint64_t since,
                    framework::DirtySink& dirty) override;
  // The one coupled filter of the plugin that tells the counts of moves.
  void ForwardMoves(bool forward) { forward_ = forward; }

 private:
  struct Profile {
    std::vector<ColumnId> affinity, anti, held;
    size_t held_checked = 0;
    bool selects_itself = false;  // the pod matches all of its own affinity terms
  };
  Profile& ProfileOf(model::TaskId task);
  void AddHeld(Profile& profile, model::TaskId task);
  bool AffinityEmpty(const Profile& profile) const;
  void RejectWhere(ColumnId column, bool present, absl::Span<const model::NodeId> nodes,
                   framework::ReasonId reason, absl::Span<framework::ReasonId> out) const;
  bool ReportTurned(ColumnId column, uint64_t since, framework::DirtySink& dirty);

  framework::ReasonId affinity_, anti_affinity_, existing_;
  ClassCache<Profile> profiles_;
  bool forward_ = false;
  std::vector<CountColumn::Change> net_;
  std::vector<uint32_t> matching_;
};

}  // namespace hekla::plugins
