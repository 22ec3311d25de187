#pragma once

#include <vector>

#include "pkg/plugins/common/spread_columns.h"
#include "pkg/plugins/predicates/filter_context.h"

// HOT PATH
namespace hekla::plugins {

// Topology spread constraints with DoNotSchedule: in the node's domain there may be at most maxSkew
// more matching pods than in the emptiest eligible domain. Source: spec 2.8.
class PodTopologySpreadFilter final : public PredicateFilter {
 public:
  using PredicateFilter::PredicateFilter;
  absl::string_view name() const override { return "PodTopologySpread"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kCoupled; }
  void Open(framework::ReasonTable& reasons) override;
  framework::PreFilterResult PreFilter(model::TaskId task) override;
  void Filter(model::TaskId task, absl::Span<const model::NodeId> nodes,
              absl::Span<framework::ReasonId> out) override;
  void OnTaskMoved(model::TaskId task, model::NodeId node, bool added) override;
  void CollectDirty(model::TaskClassId reader, uint64_t since,
                    framework::DirtySink& dirty) override;
  void ForwardMoves(bool forward) { forward_ = forward; }

 private:
  struct Constraint : SpreadColumn {
    // Smallest count over eligible domains, as of `version` of the column.
    uint64_t version = UINT64_MAX;
    int32_t smallest = 0;
  };
  using Profile = std::vector<Constraint>;

  Profile& ProfileOf(model::TaskId task);
  int32_t SmallestOf(Constraint& constraint) const;
  bool ReportTurned(Constraint& constraint, uint64_t since, framework::DirtySink& dirty);

  framework::ReasonId skewed_, no_label_;
  ClassCache<Profile> profiles_;
  bool forward_ = false;
  std::vector<CountColumn::Change> net_;
  std::vector<int32_t> before_;
};

}  // namespace hekla::plugins
