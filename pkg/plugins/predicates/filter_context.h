#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "pkg/framework/extension/node_points.h"
#include "pkg/framework/reasons.h"
#include "pkg/plugins/common/class_cache.h"
#include "pkg/plugins/common/node_columns.h"
#include "pkg/plugins/common/node_match.h"
#include "pkg/plugins/common/pod_counts.h"

// HOT PATH
namespace hekla::plugins {

// What the filters of `predicates` share.
struct FilterContext {
  NodeColumns nodes;
  PodCounts counts{nodes, {TermRole::kAntiAffinity}};
  framework::ReasonTable* reasons = nullptr;

  const model::Cluster& cluster() const { return nodes.cluster(); }
  const model::Tables& tables() const { return nodes.cluster().tables(); }
  const model::PodTemplate& pod(model::TaskId task) const { return *tables().tasks.pod[task]; }
  model::TaskClassId class_of(model::TaskId task) const { return tables().tasks.task_class[task]; }

  // "plugin <name> pre-predicates failed <message>" for every node.
  framework::PreFilterResult RejectAll(absl::string_view name, framework::Cause cause,
                                       absl::string_view message) const;
};

// A filter of the plugin. Open makes its reasons; called at every session open.
class PredicateFilter : public framework::NodeFilter {
 public:
  explicit PredicateFilter(FilterContext& context) : context_(&context) {}
  virtual void Open(framework::ReasonTable& reasons) = 0;

 protected:
  FilterContext& context() const { return *context_; }

 private:
  FilterContext* context_;
};

inline framework::PreFilterResult SkipFilter() {
  return {framework::PreFilterResult::Outcome::kSkip, {}};
}

}  // namespace hekla::plugins
