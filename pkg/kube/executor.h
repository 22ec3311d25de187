#pragma once

#include "pkg/util/executor.h"

namespace hekla::kube {

// The one way to get work done later. Production gives every group of components that belong
// together a util::ThreadExecutor; tests and the simulation drive a util::ManualExecutor.
using Executor = util::Executor;

}  // namespace hekla::kube
