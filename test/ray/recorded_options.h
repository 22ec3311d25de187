#pragma once

#include <memory>

#include "pkg/ray/batchscheduler/batch_scheduler.h"
#include "pkg/ray/builders/build_options.h"
#include "pkg/ray/testing/recordings.h"

namespace hekla::ray {

// What the operator of a recording was started with.
builders::BuildOptions OptionsOf(const testing::Recording& recording);
std::unique_ptr<batchscheduler::BatchScheduler> SchedulerOf(const testing::Recording& recording);

}  // namespace hekla::ray
