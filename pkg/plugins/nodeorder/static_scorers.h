#pragma once

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "pkg/plugins/nodeorder/scorer_context.h"

// HOT PATH
namespace hekla::plugins {

// trunc(100 * raw / max), or 100 less that; all alike where max is 0.
double NormalizedToMax(double raw, double max, bool reverse);

// Sum of the weights of preferred node affinity terms that match. Source: spec 2.3.
class NodeAffinityScorer final : public WeightedScorer {
 public:
  using WeightedScorer::WeightedScorer;
  absl::string_view name() const override { return "NodeAffinity"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kStatic; }
  bool PreScore(model::TaskId task, absl::Span<const model::NodeId> candidates) override;
  void Score(model::TaskId task, absl::Span<const model::NodeId> nodes,
             absl::Span<double> raw) override;
  bool normalizes() const override { return true; }
  double Normalized(double raw, double min, double max) const override;

 private:
  using Terms = std::vector<std::pair<NodeTermMatcher, int32_t>>;
  ClassCache<Terms> terms_;
  std::vector<uint8_t> ok_;
};

// Number of PreferNoSchedule taints the pod does not tolerate; fewer are better. Source: spec 2.4.
class TaintTolerationScorer final : public WeightedScorer {
 public:
  using WeightedScorer::WeightedScorer;
  absl::string_view name() const override { return "TaintToleration"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kStatic; }
  void Score(model::TaskId task, absl::Span<const model::NodeId> nodes,
             absl::Span<double> raw) override;
  bool normalizes() const override { return true; }
  double Normalized(double raw, double min, double max) const override;

 private:
  ClassCache<std::vector<double>> counts_;  // by taint list
};

// Images of the pod that a node has already, by size and by how many nodes have them. An image that
// nodes report with several sizes counts with the largest. Source: spec 2.13.
class ImageLocalityScorer final : public WeightedScorer {
 public:
  using WeightedScorer::WeightedScorer;
  absl::string_view name() const override { return "ImageLocality"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kCoupled; }
  // Other nodes' images count too, but they change only with a static change of some node.
  framework::RowUse row_use() const override { return framework::RowUse::kStatic; }
  void Open() override;
  void Score(model::TaskId task, absl::Span<const model::NodeId> nodes,
             absl::Span<double> raw) override;
  void CollectDirty(model::TaskClassId reader, uint64_t since,
                    framework::DirtySink& dirty) override;

 private:
  struct Image {
    absl::flat_hash_set<model::NodeId> nodes;
    std::vector<std::pair<int64_t, int32_t>> sizes;  // size and number of nodes that report it
    int64_t LargestSize() const;
  };
  void Update(model::NodeId node, std::vector<model::ImageState> now);
  void AddTo(const model::ImageState& state, model::NodeId node, int32_t delta);

  absl::flat_hash_map<model::Symbol, Image> images_;
  util::IdVector<model::NodeId, std::vector<model::ImageState>> known_;  // as counted
  util::IdVector<model::NodeId, uint64_t> seen_;
  uint64_t position_ = 0;
  bool started_ = false;
  size_t live_nodes_ = 0;
  uint64_t changed_at_ = 0;
  uint64_t version_ = 0;
  // Sums of the class scored last.
  model::TaskClassId sums_of_;
  uint32_t sums_generation_ = 0;
  uint64_t sums_version_ = UINT64_MAX;
  bool any_image_ = false;
  util::IdVector<model::NodeId, int64_t> sums_;
};

}  // namespace hekla::plugins
