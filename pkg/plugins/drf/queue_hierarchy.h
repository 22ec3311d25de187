#pragma once

#include <vector>

#include "pkg/framework/session.h"
#include "pkg/plugins/common/amounts.h"
#include "pkg/plugins/drf/hierarchy.h"
#include "pkg/util/id_vector.h"

// HOT PATH
namespace hekla::plugins {

// The tree of a cluster's queues and jobs, kept in step with the session.
// Order: jobs are added by creation time, then name; the weight of a node is that of the queue of
//        the first such job.
// Cost:  Open rebuilds the tree when a job or queue has changed; a task event marks one leaf, which
//        is brought up to date with the next question.
class QueueHierarchy {
 public:
  void Open(framework::Session& session, const UnitScale& scale, const Amounts& total);

  int QueueOrder(model::QueueId a, model::QueueId b);
  // Each candidate is judged alone, with the reclaimer's task already counted: it is a victim if
  // without it the reclaimer's queue comes before the candidate's.
  framework::VictimAnswer Reclaimable(model::TaskId reclaimer, framework::TaskSpan candidates);
  void OnTaskChanged(model::TaskId task);

 private:
  void Build();
  void Refresh();
  void SetLeaf(model::JobId job, const model::Resource* plus, const model::Resource* minus);

  const model::Tables* view_ = nullptr;
  const UnitScale* scale_ = nullptr;
  Amounts total_;
  Hierarchy tree_;
  util::IdVector<model::JobId, Hierarchy::Index> leaf_;  // kNone: not in the session
  util::IdVector<model::QueueId, std::vector<Hierarchy::Index>> path_;
  std::vector<model::JobId> stale_;
  Amounts scratch_;
  bool built_ = false;
};

}  // namespace hekla::plugins
