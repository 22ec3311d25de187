#include "pkg/actions/registry.h"

#include "pkg/actions/allocate/allocate_action.h"
#include "pkg/actions/backfill/backfill_action.h"
#include "pkg/actions/enqueue/enqueue_action.h"

namespace hekla::actions {

framework::ActionRegistry AllActions() {
  return {
      {AllocateAction::kName, [] { return std::make_unique<AllocateAction>(); }},
      {BackfillAction::kName, [] { return std::make_unique<BackfillAction>(); }},
      {EnqueueAction::kName, [] { return std::make_unique<EnqueueAction>(); }},
  };
}

}  // namespace hekla::actions
