#pragma once

#include "pkg/model/cluster.h"

// HOT PATH
namespace hekla::plugins {

// Whether the job takes part in sessions: its PodGroup has arrived (or it is a pod without one) and
// its queue exists.
inline bool InSession(const model::JobTable& jobs, model::JobId j) {
  return jobs.live[j] && jobs.queue[j].valid() && (jobs.spec[j] != nullptr || jobs.solo[j]);
}

// spec.minResources; nullptr where the PodGroup has none.
inline const model::ResourceLimit* MinResources(const model::JobTable& jobs, model::JobId j) {
  if (jobs.spec[j] == nullptr || !jobs.spec[j]->min_resources.has_value()) return nullptr;
  return &*jobs.spec[j]->min_resources;
}

// minResources as amounts; dimensions that are not named are zero.
model::Resource AmountsOf(const model::ResourceLimit& limit);

// Per dimension max(amount - what, 0).
void SubtractDownToZero(model::Resource& amounts, const model::Resource& what);

// Whether a running job's minimum still counts as promised: phase Running, minResources set, and at
// least minMember tasks in an allocated status.
bool RunningWithMinimumMet(const model::JobTable& jobs, model::JobId j);

// What queue plugins count per job. Source: spec scheduler-actions 3.5, 3.7.1.
// The part of minResources that the job was promised (phase Inqueue, or Running with its minimum
// met) and does not hold yet, without what gates hold back.
model::Resource PromisedAmounts(const model::JobTable& jobs, model::JobId job);
// max(allocated - minResources, 0); everything allocated where there is no minimum.
model::Resource ElasticAmounts(const model::JobTable& jobs, model::JobId job);

}  // namespace hekla::plugins
