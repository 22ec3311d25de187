#pragma once

#include <vector>

#include "pkg/plugins/nodeorder/scorer_context.h"

// Scores from how full a node would be with the pod on it. Requests of the first two count 100
// milli-cores and 200 MiB for containers that name none. Source: spec 2.6.
// HOT PATH
namespace hekla::plugins {

// Mean of what is left of cpu and memory, in percent of the allocatable amounts.
class LeastAllocatedScorer final : public WeightedScorer {
 public:
  using WeightedScorer::WeightedScorer;
  absl::string_view name() const override { return "NodeResourcesLeastAllocated"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kNodeLocal; }
  framework::RowUse row_use() const override { return framework::RowUse::kAccounts; }
  void Score(model::TaskId task, absl::Span<const model::NodeId> nodes,
             absl::Span<double> raw) override;
  bool ScoreRows(model::TaskId task, const framework::NodeRows& rows, size_t begin,
                 absl::Span<double> raw) override;

 private:
  void ScoreColumns(model::TaskId task, const ResourceColumns& columns, size_t begin,
                    absl::Span<const model::NodeId> nodes, absl::Span<double> raw) const;
  double Exact(model::TaskId task, model::NodeId node) const;
};

// Mean of what is used of cpu and memory.
class MostAllocatedScorer final : public WeightedScorer {
 public:
  using WeightedScorer::WeightedScorer;
  absl::string_view name() const override { return "NodeResourcesMostAllocated"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kNodeLocal; }
  framework::RowUse row_use() const override { return framework::RowUse::kAccounts; }
  void Score(model::TaskId task, absl::Span<const model::NodeId> nodes,
             absl::Span<double> raw) override;
};

// How alike the used fractions of cpu, memory and (where the pod asks for it) nvidia.com/gpu are.
// Pods that request none of them are not scored.
class BalancedAllocationScorer final : public WeightedScorer {
 public:
  using WeightedScorer::WeightedScorer;
  absl::string_view name() const override { return "NodeResourcesBalancedAllocation"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kNodeLocal; }
  framework::RowUse row_use() const override { return framework::RowUse::kAccounts; }
  void Open() override;
  bool PreScore(model::TaskId task, absl::Span<const model::NodeId> candidates) override;
  void Score(model::TaskId task, absl::Span<const model::NodeId> nodes,
             absl::Span<double> raw) override;
  bool ScoreRows(model::TaskId task, const framework::NodeRows& rows, size_t begin,
                 absl::Span<double> raw) override;

 private:
  void ScoreColumns(model::TaskId task, const ResourceColumns& columns, size_t begin,
                    absl::Span<const model::NodeId> nodes, absl::Span<double> raw);
  int64_t GpuRequest(model::TaskId task) const;
  double Exact(model::TaskId task, model::NodeId node) const;
  void ScoreEach(model::TaskId task, absl::Span<const model::NodeId> nodes,
                 absl::Span<double> raw) const;
  int gpu_ = -1;  // dimension of nvidia.com/gpu; -1: nobody has named it
};

}  // namespace hekla::plugins
