#pragma once

#include "absl/types/span.h"
#include "pkg/framework/session.h"

namespace hekla::framework {

// Sorts victims so that the first is evicted first for a preemptor. Victims without a job or queue
// go first; between queues VictimQueueOrder decides, else the queue that sorts later goes first;
// inside a queue the job that sorts later; inside jobs of one rank the task that sorts later
// (SortTasks). Source: spec scheduler-actions 1.7, scheduler-core 7.1.
void SortVictims(Session& session, model::TaskId preemptor, absl::Span<model::TaskId> victims);

}  // namespace hekla::framework
