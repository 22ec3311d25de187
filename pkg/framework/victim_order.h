#pragma once

#include "pkg/framework/session.h"

namespace hekla::framework {

// Whether victim `l` is evicted before `r` for a preemptor: inside a job the task that sorts later;
// inside a queue a task of the job that sorts later; between queues what VictimQueueOrder says,
// else the queue that sorts later. Victims without a job go first.
// Source: spec scheduler-actions 1.7, scheduler-core 7.1.
bool VictimBefore(Session& session, model::TaskId preemptor, model::TaskId l, model::TaskId r);

}  // namespace hekla::framework
