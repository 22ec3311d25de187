#pragma once

#include <optional>

#include "pkg/controller/client.h"
#include "pkg/ray/controllers/common/event_sink.h"
#include "pkg/ray/controllers/raycluster/observe.h"
#include "pkg/ray/controllers/raycluster/plan.h"
#include "pkg/ray/controllers/raycluster/status.h"
#include "pkg/ray/expectations/scale_expectations.h"
#include "pkg/util/clock.h"

namespace hekla::ray::controllers::raycluster {

struct ApplyDeps {
  controller::Client* client = nullptr;
  EventSink* events = nullptr;
  const util::Clock* clock = nullptr;
  expectations::ScaleExpectations* expectations = nullptr;
};

struct Outcome {
  std::optional<StepError> error = std::nullopt;
  // A pod was asked for, and whether it was made is not known: no answer, or a failure of the
  // server that says nothing about it.
  bool uncertain = false;
  // A head service was made: the cache does not show it yet.
  bool made_service = false;
};

// Does what the plan says, in its order, up to the first failure that is not fine: writes with
// their expectations, and at the end the events of all of them.
Outcome ApplyPlan(const ApplyDeps& deps, const Observed& observed, const Plan& plan);

}  // namespace hekla::ray::controllers::raycluster
