#pragma once

#include "pkg/framework/session.h"
#include "test/conformance/outcome.h"
#include "test/harness/world.h"

namespace hekla::conformance {

// Asks the open session what the recorded probe asked: orders, verdicts, scores.
Probe TakeProbe(harness::World& world, framework::Session& session,
                const apis::json::Value& recorded);

}  // namespace hekla::conformance
