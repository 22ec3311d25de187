#pragma once

#include <vector>

#include "pkg/plugins/common/spread_columns.h"
#include "pkg/plugins/nodeorder/default_spread.h"

// HOT PATH
namespace hekla::plugins {

// Topology spread constraints with ScheduleAnyway, or the system's defaults (hostname with skew 3,
// zone with skew 5) for pods without constraints that a Service or a controller selects. The weight
// of a constraint follows from the number of domains among the candidates. Source: spec 2.8.
class SpreadScorer final : public WeightedScorer {
 public:
  SpreadScorer(ScorerContext& context, int64_t weight)
      : WeightedScorer(context, weight), defaults_(context) {}

  absl::string_view name() const override { return "PodTopologySpread"; }
  framework::AnswerKind kind() const override { return framework::AnswerKind::kCoupled; }
  bool depends_on_candidates() const override { return true; }
  void Open() override;
  bool PreScore(model::TaskId task, absl::Span<const model::NodeId> candidates) override;
  void Score(model::TaskId task, absl::Span<const model::NodeId> nodes,
             absl::Span<double> raw) override;
  bool normalizes() const override { return true; }
  double Normalized(double raw, double min, double max) const override;
  void OnTaskMoved(model::TaskId task, model::NodeId node, bool added) override;
  void CollectDirty(model::TaskClassId reader, uint64_t since,
                    framework::DirtySink& dirty) override;
  void ForwardMoves(bool forward) { forward_ = forward; }

 private:
  struct Constraint : SpreadColumn {
    bool per_node = false;  // hostname: counts the node's own pods
    double domain_weight = 0;
  };
  struct Profile {
    std::vector<Constraint> constraints;
    bool needs_all_keys = false;  // nodes without one of the keys are left out
  };
  Profile& ProfileOf(model::TaskId task);
  void AddOwn(model::TaskId task, Profile& profile);
  void AddDefaults(model::TaskId task, Profile& profile);
  bool Ignored(const Profile& profile, model::NodeId node) const;

  DefaultSpread defaults_;
  ClassCache<Profile> profiles_;
  uint64_t owners_epoch_ = 0;
  model::Symbol hostname_, zone_;
  bool forward_ = false;
  std::vector<uint32_t> stamps_;  // by domain; + 1 for "no label"
  uint32_t stamp_ = 0;
};

}  // namespace hekla::plugins
