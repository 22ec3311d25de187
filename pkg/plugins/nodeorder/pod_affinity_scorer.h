#pragma once

#include <utility>
#include <vector>

#include "pkg/plugins/nodeorder/scorer_context.h"

// HOT PATH
namespace hekla::plugins {

// Preferred inter-pod affinity and anti-affinity of the pod, and those of placed pods that select
// it. Required affinity of placed pods has weight 0. Source: spec 2.7.
class PodAffinityScorer final : public WeightedScorer {
 public:
  using WeightedScorer::WeightedScorer;
  absl::string_view name() const override { return "InterPodAffinity"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kCoupled; }
  bool PreScore(model::TaskId task, absl::Span<const model::NodeId> candidates) override;
  void Score(model::TaskId task, absl::Span<const model::NodeId> nodes,
             absl::Span<double> raw) override;
  bool normalizes() const override { return true; }
  double Normalized(double raw, double min, double max) const override;
  void OnTaskMoved(model::TaskId task, model::NodeId node, bool added) override;
  void CollectDirty(model::TaskClassId reader, uint64_t since,
                    framework::DirtySink& dirty) override;
  // The one coupled scorer of the plugin that tells the counts of moves.
  void ForwardMoves(bool forward) { forward_ = forward; }

 private:
  struct Profile {
    std::vector<std::pair<ColumnId, int32_t>> columns;  // with the weight of one pod
    size_t held_checked = 0;
  };
  Profile& ProfileOf(model::TaskId task);

  ClassCache<Profile> profiles_;
  bool forward_ = false;
  std::vector<uint32_t> matching_;
  std::vector<CountColumn::Change> net_;
};

}  // namespace hekla::plugins
