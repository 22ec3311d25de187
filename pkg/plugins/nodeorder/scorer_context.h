#pragma once

#include "absl/strings/string_view.h"
#include "pkg/framework/extension/node_points.h"
#include "pkg/plugins/common/class_cache.h"
#include "pkg/plugins/common/node_columns.h"
#include "pkg/plugins/common/node_match.h"
#include "pkg/plugins/common/pod_counts.h"
#include "pkg/plugins/nodeorder/resource_columns.h"

// HOT PATH
namespace hekla::plugins {

inline constexpr int64_t kMaxNodeScore = 100;

// What the scorers of `nodeorder` share.
struct ScorerContext {
  NodeColumns nodes;
  PodCounts counts{nodes, {TermRole::kPreferredAffinity, TermRole::kPreferredAntiAffinity}};
  ResourceColumns resources;      // in leaf order
  ResourceColumns row_resources;  // by row

  const model::Cluster& cluster() const { return nodes.cluster(); }
  const model::Tables& tables() const { return nodes.cluster().tables(); }
  const model::PodTemplate& pod(model::TaskId task) const { return *tables().tasks.pod[task]; }
  model::TaskClassId class_of(model::TaskId task) const { return tables().tasks.task_class[task]; }
};

// A scorer of the plugin with its configured weight. Open is called at every session open.
class WeightedScorer : public framework::NodeScorer {
 public:
  WeightedScorer(ScorerContext& context, int64_t weight) : context_(&context), weight_(weight) {}
  double weight() const override { return static_cast<double>(weight_); }
  virtual void Open() {}

 protected:
  ScorerContext& context() const { return *context_; }

 private:
  ScorerContext* context_;
  int64_t weight_;
};

}  // namespace hekla::plugins
